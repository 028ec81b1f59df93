"""The differences between two configs, and whether a league can go on with them.

for change in differences(stored, wanted):
    print(change, change.harmless)               # league.episodes: 8 -> 16 False
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from launch.config.schema import leaves

ABSENT = "(nothing)"
HARMLESS = (
    "name",  # where the run lies, which is how it was found
    "runs",
    "launch",  # how it is started
    "track",  # where its curves go
    "dashboard",  # who looks on
    "league.budget",  # when it ends
    "league.probe",  # what follows its end
    "league.archive",  # where its old events are
    "league.exploit_every",  # how often it is measured
    "collector.slots",  # how fast it plays
)


@dataclass(frozen=True, slots=True)
class Change:
    """One key with another value."""

    key: str
    old: Any
    new: Any

    @property
    def harmless(self) -> bool:
        """Whether results before and after the change are of the same league."""
        return any(f"{self.key}.".startswith(f"{prefix}.") for prefix in HARMLESS)

    def __str__(self) -> str:
        return f"{self.key}: {_text(self.old)} -> {_text(self.new)}"


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return every key whose value differs, in the order of the new config.

    >>> [str(change) for change in differences({"a": {"b": 8}}, {"a": {"b": 16}, "c": True})]
    ['a.b: 8 -> 16', 'c: (nothing) -> true']
    """
    before, after = dict(leaves(old)), dict(leaves(new))
    changes = [Change(key, before.get(key, ABSENT), after.get(key, ABSENT)) for key in {**after, **before}]
    # Python holds 1 == True == 1.0, a config does not.
    return [c for c in changes if c.old != c.new or type(c.old) is not type(c.new)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
