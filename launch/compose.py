"""From Hydra's groups and overrides to a typed config. The only door to hydra; no DictConfig leaves this file.

    compose(["env=tic_tac_toe", "league=pfsp", "algo.lr=0.001", "~league.players.league_exploiter"])

A package adds groups of its own with a `hydra_plugins` namespace package that appends `pkg://package.conf` to
Hydra's search path.
"""

from collections.abc import Sequence
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_module
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import ConfigKeyError, OmegaConfBaseException, ValidationError

from launch.config import Config, ConfigError, from_plain
from launch.schema import UNKNOWN, complaint, nearest, type_at, type_name

FREE = "env.kwargs."  # keys below are the environment's own: nobody has to write + to add one
PLAYERS = "league.players."
NOTHING = {"experiment": (None,)}  # groups of which nothing may be chosen


def compose(overrides: Sequence[str]) -> Config:
    """Return the config that the overrides ask for; raise ConfigError, in one line, if there is none."""
    parsed = [_parse(text) for text in overrides]
    ConfigStore.instance().store(name="ludus_schema", node=Config)
    with initialize_config_module("conf", version_base="1.3", job_name="ludus"):
        loader = GlobalHydra.instance().config_loader()
        groups = [group for group in loader.list_groups("") if group != "hydra"]
        for override in parsed:
            _check(override, groups, loader)
        lines = [_line(override) for override in parsed] + _fitting_experiment(parsed, loader)
        try:
            node = hydra_compose("config", lines)
            plain = OmegaConf.to_container(node, resolve=True)
        except (HydraException, OmegaConfBaseException) as error:
            raise ConfigError(_explain(error, parsed)) from error
    assert isinstance(plain, dict)
    return from_plain({str(key): value for key, value in plain.items()})


def _parse(text: str) -> Override:
    """Return the override; Hydra's parser draws multi-line pictures, a user needs one line."""
    try:
        override = OverridesParser.create().parse_override(text)
    except HydraException as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"cannot read {text!r}: write key=value, e.g. algo.lr=0.001 ({reason})") from error
    if override.is_sweep_override():
        raise ConfigError(f"{text!r} is a sweep, but this starts one league: start one for each value")
    return override


def _line(override: Override) -> str:
    """Return the override as Hydra has to hear it."""
    key, line = override.key_or_group, str(override.input_line)
    if key == "experiment" and override.value() is None:
        return "~experiment"
    if override.type == OverrideType.CHANGE and f"{key}.".startswith(FREE):
        return f"++{line}"
    if override.is_add() and f"{key}.".startswith(PLAYERS):
        # OmegaConf refuses to assign a new item of typed groups, but merges one into them.
        value = override.get_value_element_as_str()
        for part in reversed(key.removeprefix(PLAYERS[:-1]).split(".")[1:]):
            value = f"{{{part}: {value}}}"
        return f"++{PLAYERS[:-1]}={value}"
    return line


def _check(override: Override, groups: Sequence[str], loader: ConfigLoader) -> None:
    """Refuse unknown keys and group options, with the nearest right one."""
    key = override.key_or_group
    if key not in groups:
        wrong = complaint(Config, key)
        guess = nearest(key, groups) if "." not in key else None
        if wrong:
            raise ConfigError(f"unknown key {key!r}; did you mean {guess!r}?" if guess else wrong)
        return
    choice, options = override.value(), _options(key, loader)
    if not override.is_delete() and choice not in [*options, *NOTHING.get(key, ())]:
        raise ConfigError(_unknown_option(key, str(choice), options))


def _options(group: str, loader: ConfigLoader) -> list[str]:
    """Return what may be chosen of a group; those in folders inside it are written folder/option."""
    inside = [
        f"{folder}/{option}"
        for folder in loader.list_groups(group)
        for option in loader.get_group_options(f"{group}/{folder}")
    ]
    return [*loader.get_group_options(group), *inside]


def _unknown_option(group: str, choice: str, options: Sequence[str]) -> str:
    close = nearest(choice, options)
    hint = f" Did you mean {close!r}?" if close else ""
    if group == "env" and ("/" in choice or ":" in choice):
        hint = f" For a PettingZoo environment: env=pettingzoo env.id={choice}"
    return f"unknown {group} {choice!r}.{hint} Known: {', '.join(options)}."


def _fitting_experiment(parsed: Sequence[Override], loader: ConfigLoader) -> list[str]:
    """Return the experiment that goes with another env.

    The default experiment is tuned for one game. Whoever names another env, and no experiment, gets the
    experiment of that name, or none.
    """
    chosen = {override.key_or_group: override.value() for override in parsed}
    if "env" not in chosen or "experiment" in chosen:
        return []
    fits = chosen["env"] in loader.get_group_options("experiment")
    return [f"experiment={chosen['env']}" if fits else "~experiment"]


def _explain(error: Exception, parsed: Sequence[Override]) -> str:
    """Return one line on what Hydra refused: which key, which value, what was expected."""
    cause = _blamed(error)
    key = str(getattr(cause, "full_key", None) or "").split("[")[0]
    source = next((o for o in parsed if _about(o, key)), None)
    if source is not None and key.startswith(PLAYERS) and isinstance(cause, ConfigKeyError):
        return f"this league has no player {key.removeprefix(PLAYERS)!r}; to add one write +{source.input_line}"
    kind = type_at(Config, key) if key else Any
    if kind is UNKNOWN:
        return f"{complaint(Config, key)}{_place(error)}"
    if kind is not Any and isinstance(cause, ValidationError):
        given = source.input_line if source else f"{key}={getattr(cause, 'value', None)}"
        return f"{given}: expected {type_name(kind)}{_place(error)}"
    return " ".join(str(cause or error).split())


def _about(override: Override, key: str) -> bool:
    """Whether the override sets this key, something inside it, or a group that holds it."""
    mine, blamed = f"{override.key_or_group}.", f"{key}."
    return bool(key) and (mine.startswith(blamed) or blamed.startswith(mine))


def _blamed(error: BaseException | None) -> OmegaConfBaseException | None:
    """Return the error behind this one that knows which key it is about."""
    while error is not None:
        if isinstance(error, OmegaConfBaseException) and error.full_key:
            return error
        error = error.__cause__ or error.__context__
    return None


def _place(error: BaseException) -> str:
    """Return the file that is to blame, if Hydra's message begins with it (In 'experiment/mine': ...)."""
    text = str(error)
    return f" (in {text.split(chr(39))[1]}.yaml)" if text.startswith("In '") else ""
