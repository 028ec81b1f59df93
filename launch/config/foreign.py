"""Which packages a config needs to be allowed (`--allow`): those of other projects whose code it names.

with_foreign(config, allow=[])          # ['my_games'], for the commands that Ludus prints
refuse_foreign(to_plain(config), [])    # ConfigError: names all of them at once
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from collectors.envs.known import WRAPPERS, is_known
from launch.config.config import Config, ConfigError, to_plain
from launch.config.schema import leaves
from launch.terminal.wording import allowing
from league.plugins import foreign_package

NAMING = frozenset({"name", "id", "bot", "outcome", "rule", "expert"})  # last parts of keys that may name code


def foreign_packages(plain: Mapping[str, Any]) -> list[str]:
    """Return the packages of other projects of which a config names code, in its order.

    >>> foreign_packages({"env": {"name": "my_games:Words"}, "algo": {"name": "ppo"}})
    ['my_games']
    """
    found = (foreign_package(text) for text in _targets(plain))
    return list(dict.fromkeys(package for package in found if package))


def _targets(plain: Mapping[str, Any]) -> Iterator[str]:
    """Yield what may name code, without what configs may name of known packages."""
    for key, value in leaves(plain):
        above, _, last = key.rpartition(".")
        if above and last in NAMING and isinstance(value, str) and not (is_known(value) or is_known(value, gym=True)):
            yield value
        if key == "env.wrappers" and isinstance(value, list):
            names = (str(item[0] if isinstance(item, list) and item else item) for item in value)
            yield from (name for name in names if name.split(":")[-1] not in WRAPPERS.get(name.split(":")[0], ()))


def with_foreign(config: Config, allow: Collection[str] = ()) -> list[str]:
    """Return the packages that a command on this league has to allow: those allowed now, and those of its config."""
    return list(dict.fromkeys([*allow, *foreign_packages(to_plain(config))]))


def refuse_foreign(plain: Mapping[str, Any], allow: Collection[str]) -> None:
    """Raise ConfigError if several packages are not allowed; of a single one, whoever resolves it says more."""
    missing = [package for package in foreign_packages(plain) if package not in allow]
    if len(missing) > 1:
        raise ConfigError(
            f"the config names code of packages that are not allowed: {', '.join(missing)}. If you trust them, add"
            f"{allowing(missing)} to the command"
        )
