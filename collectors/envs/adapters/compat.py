"""Games that were written for an older PettingZoo: which error shows it, and what lets them play (`env.compat=true`).

PettingZoo renamed the class `agent_selector` to `AgentSelector`. So `from pettingzoo.utils import agent_selector` now
finds the module of that name, and a game that calls it fails with "'module' object is not callable".
"""

import sys
import traceback
from types import ModuleType
from typing import Any

from league.errors import message_of

RENAMED = {
    "agent_selector": "AgentSelector",
    "to_parallel": "aec_to_parallel",
    "from_parallel": "parallel_to_aec",
    "to_parallel_wrapper": "aec_to_parallel_wrapper",
    "from_parallel_wrapper": "parallel_to_aec_wrapper",
}
"""Names of older versions, and what they are called today."""

COMPAT = (
    "It was written for an older PettingZoo, in which {old} had another name ({new} today). env.compat=true lets it "
    "play, or fix it there"
)


def older_name(error: BaseException) -> str:
    """Return the name of an older PettingZoo on which this error shows that a game relies; "" if it shows none.

    >>> older_name(ImportError("cannot import name 'from_parallel' from 'pettingzoo.utils'"))
    'from_parallel'
    """
    frames = traceback.extract_tb(error.__traceback__)
    return _older_name(f"{type(error).__name__}: {message_of(error)}", (frames[-1].line or "") if frames else "")


def _older_name(text: str, line: str) -> str:
    """Return the name that an error shows by its text, and by the line of code that raised it."""
    if "ImportError: " in text:
        found = [name for name in RENAMED if f"cannot import name {name!r} from 'pettingzoo" in text]
        return found[0] if found else ""
    called = "TypeError: 'module' object is not callable" in text
    return "agent_selector" if called and "agent_selector" in line else ""


def compat_remedy(error: BaseException | None) -> str:
    """Return what to do about a game of an older PettingZoo, looking at what caused the error, too; else ""."""
    while error is not None:
        if old := older_name(error):
            return COMPAT.format(old=old, new=RENAMED[old])
        error = error.__cause__
    return ""


def older_remedy(text: str, line: str = "agent_selector") -> str:
    """Return the same for an error that came as text: from another Python.

    >>> older_remedy("reset raised TypeError: 'module' object is not callable (chess.py:9)")[:44]
    'It was written for an older PettingZoo, in w'
    """
    old = _older_name(text, line)
    return COMPAT.format(old=old, new=RENAMED[old]) if old else ""


class _CallableModule(ModuleType):
    """A module that is called as the class that once had its name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.AgentSelector(*arguments, **options)


def use_older_names() -> None:
    """Let PettingZoo have its older names, too, in this process. Nothing that it has today changes."""
    import pettingzoo.utils as utils
    from pettingzoo.utils import agent_selector as selector
    from pettingzoo.utils import conversions

    sys.modules[selector.__name__].__class__ = _CallableModule
    for old, new in RENAMED.items():
        for module in (utils, conversions):
            if not hasattr(module, old) and hasattr(conversions, new):
                setattr(module, old, getattr(conversions, new))
