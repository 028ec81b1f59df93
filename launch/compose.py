"""From Hydra's groups and overrides to a typed config. No DictConfig leaves this file.

    compose(["env=tic_tac_toe", "league=pfsp", "algo.lr=0.001", "~league.players.league_exploiter"])

A package adds groups of its own with a `hydra_plugins` namespace package that appends `pkg://package.conf` to
Hydra's search path. Nobody but this file and launch.sweeping imports hydra.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import field, make_dataclass
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_module
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import ConfigKeyError, OmegaConfBaseException, ValidationError

from launch.config import Config, ConfigError, algo_class, from_plain, own_algos, with_algo
from launch.schema import UNKNOWN, complaint, nearest, type_at, type_name
from league.plugins import PluginError, names
from learners.algorithms.ppo_config import PPOConfig

ALGO = "algo"
SCHEMA = "ludus_schema"  # as conf/config.yaml calls it
FREE = ("env.kwargs.", f"{ALGO}.")  # keys below are not the schema's: nobody has to write + to add one
PLAYERS = "league.players."
ID = re.compile(r"(\+*env\.id)=([^'\"]*)")  # of an environment, not quoted
GAME = re.compile(
    r"\b(?!(?:choice|range|interval|glob|sort|shuffle|tag|int|str|bool|float)\()"  # Hydra's own functions
    r"\w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"  # a game may have games in its brackets
)
NOTHING = {"experiment": (None,)}  # groups of which nothing may be chosen
Open = make_dataclass("Open", [("algo", dict[str, Any], field(default_factory=dict))], bases=(Config,), kw_only=True)


def compose(overrides: Sequence[str], allow: Collection[str] = ()) -> Config:
    """Return the config that the overrides ask for; raise ConfigError, in one line, if there is none.

    `allow` names packages of which an algorithm may come.
    """
    parsed = [_parse(text) for text in overrides]
    with initialize_config_module("conf", version_base="1.3", job_name="ludus"):
        loader = GlobalHydra.instance().config_loader()
        groups = [group for group in _listed("", ObjectType.GROUP, loader) if group != "hydra"]
        parsed = [_named(override, loader) for override in parsed]
        for override in parsed:
            _check(override, groups, loader)
        config = _with_algorithm(parsed, _fitting_experiment(parsed, loader), allow)
    try:
        own_algos(config, allow)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return config


def _with_algorithm(parsed: Sequence[Override], experiment: list[str], allow: Collection[str]) -> Config:
    """Return the config; which keys `algo` has is known only when its name is.

    The settings of an experiment are tuned for the algorithm that it chooses. To another one they mean nothing.
    """
    others = [override for override in parsed if not _about(override, ALGO)]
    chosen = [override for override in parsed if _about(override, ALGO)]
    named = any(override.key_or_group in (ALGO, f"{ALGO}.name") for override in chosen)
    source = (parsed, experiment)
    plain = _composed(Open, *source)
    name = plain[ALGO]["name"]
    if named and _composed(Open, others, experiment)[ALGO]["name"] != name:
        source = (chosen, ["~experiment"])
        plain[ALGO] = _composed(Open, *source)[ALGO]
    kind = _kind(str(name), allow)
    for override in chosen:
        _refuse_unknown(kind, override)
    try:
        return from_plain(plain, allow)
    except ConfigError:
        _composed(kind, *source)  # if Hydra refuses it, too, it knows which file or override is to blame
        raise


def _kind(name: str, allow: Collection[str]) -> type[Config]:
    try:
        return with_algo(algo_class(name, allow))
    except PluginError as error:
        raise ConfigError(str(error)) from error


def _composed(kind: type[Config], overrides: Sequence[Override], experiment: list[str]) -> dict[str, Any]:
    """Return what Hydra makes of overrides, if this is the class of the config."""
    if _schema() is not kind:
        ConfigStore.instance().store(name=SCHEMA, node=kind)
    try:
        node = hydra_compose("config", [_line(override) for override in overrides] + experiment)
        plain = OmegaConf.to_container(node, resolve=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(_explain(kind, error, overrides)) from error
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def _schema() -> type | None:
    """Return the class of the config that Hydra knows now."""
    known = ConfigStore.instance().repo.get(f"{SCHEMA}.yaml")
    return None if known is None else OmegaConf.get_type(known.node)


def quoted(text: str) -> str:
    """Return the override with quotes round a game in env.id: Hydra takes what has brackets for a function.

    >>> quoted("env.id=go(board_size=9)"), quoted("env.id=chess,go(board_size=9)"), quoted("env.id=classic/chess_v6")
    ('env.id="go(board_size=9)"', 'env.id=chess,"go(board_size=9)"', 'env.id=classic/chess_v6')
    """
    found = ID.fullmatch(text)
    return text if found is None else found[1] + "=" + GAME.sub(r'"\g<0>"', found[2])


def _parse(text: str) -> Override:
    """Return the override; Hydra's parser draws multi-line pictures, a user needs one line."""
    try:
        override = OverridesParser.create().parse_override(quoted(text))
    except HydraException as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"cannot read {text!r}: write key=value, e.g. algo.lr=0.001 ({reason})") from error
    if override.is_sweep_override():
        raise ConfigError(f"{text!r} is a sweep, but this starts one league: add -m to start one for each value")
    return override


def _named(override: Override, loader: ConfigLoader) -> Override:
    """Return algo.name=X instead of algo=X where X is no option of the group, but the name of an algorithm."""
    choice = str(override.value())
    if override.key_or_group != ALGO or override.is_delete() or choice in _options(ALGO, loader):
        return override
    plugged = isinstance(override.value(), str) and (":" in choice or choice in names("ludus.algorithms"))
    return _parse(f"{ALGO}.name={override.get_value_element_as_str()}") if plugged else override


def _line(override: Override) -> str:
    """Return the override as Hydra has to hear it."""
    key, line = override.key_or_group, str(override.input_line)
    if key == "experiment" and override.value() is None:
        return "~experiment"
    if override.type == OverrideType.CHANGE and key != ALGO and f"{key}.".startswith(FREE):
        return f"++{line}"
    if override.is_add() and f"{key}.".startswith(PLAYERS):
        # OmegaConf refuses to assign a new item of typed groups, but merges one into them.
        value = override.get_value_element_as_str()
        for part in reversed(key.removeprefix(PLAYERS[:-1]).split(".")[1:]):
            value = f"{{{part}: {value}}}"
        return f"++{PLAYERS[:-1]}={value}"
    return line


def _check(override: Override, groups: Sequence[str], loader: ConfigLoader) -> None:
    """Refuse unknown keys and group options, with the nearest right one; keys of algorithms have their turn later."""
    key = override.key_or_group
    if key not in groups:
        if not _about(override, ALGO):
            _refuse_unknown(with_algo(PPOConfig), override, groups)
        return
    choice, options = override.value(), _options(key, loader)
    if not override.is_delete() and choice not in [*options, *NOTHING.get(key, ())]:
        raise ConfigError(_unknown_option(key, str(choice), options))


def _refuse_unknown(kind: type[Config], override: Override, groups: Sequence[str] = ()) -> None:
    key = override.key_or_group
    wrong = complaint(kind, key)
    guess = nearest(key, groups) if "." not in key else None
    if wrong:
        raise ConfigError(f"unknown key {key!r}; did you mean {guess!r}?" if guess else wrong)


def _options(group: str, loader: ConfigLoader) -> list[str]:
    """Return what may be chosen of a group; those in folders inside it are written folder/option."""
    inside = [
        f"{folder}/{option}"
        for folder in _listed(group, ObjectType.GROUP, loader)
        for option in _listed(f"{group}/{folder}", ObjectType.CONFIG, loader)
    ]
    return [*_listed(group, ObjectType.CONFIG, loader), *inside]


def _listed(group: str, kind: ObjectType, loader: ConfigLoader) -> list[str]:
    """Return what is in a group. The loader would list the same, but copies the schema of everything for it."""
    return sorted(
        {name for source in loader.get_sources() if source.is_group(group) for name in source.list(group, kind)}
    )


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
    fits = chosen["env"] in _listed("experiment", ObjectType.CONFIG, loader)
    return [f"experiment={chosen['env']}" if fits else "~experiment"]


def _explain(config: type[Config], error: Exception, parsed: Sequence[Override]) -> str:
    """Return one line on what Hydra refused: which key, which value, what was expected."""
    cause = _blamed(error)
    key = str("" if cause is None else cause.full_key).split("[")[0]
    if key.isdecimal():  # a place in a list, and not of which
        key = next((o.key_or_group for o in parsed if str(o.input_line) in str(error)), key)
    source = max((o for o in parsed if _about(o, key)), key=lambda o: len(o.key_or_group), default=None)
    if source is not None and key.startswith(PLAYERS) and isinstance(cause, ConfigKeyError):
        return f"this league has no player {key.removeprefix(PLAYERS)!r}; to add one write +{source.input_line}"
    kind = type_at(config, key) if key else Any
    if kind is UNKNOWN:
        return f"{complaint(config, key)}{_place(error)}"
    if kind is not Any and isinstance(cause, ValidationError):
        given = source.input_line if source else f"{key}={getattr(cause, 'value', None)}"
        example = ", e.g. [[a,b],[c]]" if "list of lists" in type_name(kind) else ""
        return f"{given}: expected {type_name(kind)}{example}{_place(error)}"
    return " ".join(str(cause or error).split())


def _about(override: Override, key: str) -> bool:
    """Whether the override sets this key, something inside it, or a group that holds it."""
    mine, blamed = f"{override.key_or_group}.", f"{key}."
    return bool(key) and (mine.startswith(blamed) or blamed.startswith(mine))


def _blamed(error: BaseException | None) -> OmegaConfBaseException | None:
    """Return the error behind this one that knows which key it is about."""
    while error is not None:
        if isinstance(error, OmegaConfBaseException) and error.full_key not in (None, ""):  # may be 0
            return error
        error = error.__cause__ or error.__context__
    return None


def _place(error: BaseException) -> str:
    """Return the file that is to blame, if Hydra's message begins with it (In 'experiment/mine': ...)."""
    text = str(error)
    return f" (in {text.split(chr(39))[1]}.yaml)" if text.startswith("In '") else ""
