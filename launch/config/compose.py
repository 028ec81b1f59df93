"""From Hydra's groups and overrides to a typed config. No DictConfig leaves this file.

    compose(["env=tic_tac_toe", "league=pfsp", "algo.lr=0.001", "~league.players.league_exploiter"])

`config_dir` is a folder with groups of the user's own. A package adds groups with a `hydra_plugins` namespace package
that appends `pkg://package.conf` to Hydra's search path. Only this file, `groups` and `launch.sweeps` import Hydra.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field, make_dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from hydra import compose as hydra_compose
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException, MissingConfigException
from hydra.types import RunMode
from omegaconf import OmegaConf
from omegaconf.errors import ConfigKeyError, OmegaConfBaseException, ValidationError
from yaml import YAMLError

from launch.config.config import Config, ConfigError, algo_class, from_plain, settings_of, with_algo, wrong_name
from launch.config.foreign import refuse_foreign
from launch.config.groups import SHORTHANDS, content_of, file_of, find, groups_of, listed, opened, options, place
from launch.config.origins import COMMAND_LINE, Layer, below, origin
from launch.config.player_files import zoo_anchors
from launch.config.schema import UNKNOWN, complaint, nearest, type_at, type_name
from launch.config.strings import wrong_resolver
from launch.config.variant_files import with_variants_of_file
from league.errors import InputError
from league.plugins import PluginError, names
from league.recipe_check import check_recipe
from learners.algorithms.ppo_config import PPOConfig

ALGO = "algo"
SCHEMA = "ludus_schema"  # as conf/config.yaml calls it
FREE = (
    "env.kwargs.",
    "policy.kwargs.",
    f"{ALGO}.",
)  # keys below these need no + to be added
PLUGGED = {ALGO: "ludus.algorithms", "policy": "ludus.policies"}  # groups whose options may be code of other packages
SWITCH = "league.probe"  # a group that is switched on by its name
FREE_IN_ROW = re.compile(
    r"league\.(players|kinds)\.[^.]+\.(matchmaking|promotion|policy|algo)\..+"
)  # neither are these
VARIANTS = "env.variants."
ROWS = {"league.players.": "player", "league.kinds.": "kind", VARIANTS: "variant"}  # groups of rows, and what a row is
ID = re.compile(r"(\+*env\.id)=([^'\"]*)")  # of an environment, not quoted
HOME = re.compile(r"(\+*env\.(?:python|variants_from))=(~[^'\",]*)")  # a path that the shell left as it is
GAME = re.compile(
    r"\b(?!(?:choice|range|interval|glob|sort|shuffle|tag|int|str|bool|float)\()"  # Hydra's own functions
    r"\w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"  # a game may have games in its brackets
)
FROM = re.compile(r"^(\+*league\.players\.[^.=]+)\.from=")  # no field can have the name `from`
ROW, FROM_KEY = re.compile(r"\+*league\.players(?:\.[^.=]+)?="), re.compile(r"(?<=[{,\s])from\s*:")
ANCHORS = "anchors=zoo"  # adds the players of the zoo that play this game
NOTHING = {"experiment": (None,)}  # groups of which nothing may be chosen
ELSEWHERE = {  # what one may look for in a group, and where it is instead
    "league=psro_exact": "Exact best responses come from the tree of the game, without learners: ludus solve --by psro"
}
Layers = Callable[[], list[Layer]]  # computed only if they are needed
Open = make_dataclass("Open", [("algo", dict[str, Any], field(default_factory=dict))], bases=(Config,), kw_only=True)


def compose(overrides: Sequence[str], allow: Collection[str] = (), config_dir: Path | None = None) -> Config:
    """Return the config that the overrides ask for; raise ConfigError, in one line, if there is none.

    `allow` names packages of which an algorithm may come; `config_dir` has groups of the user's own.
    """
    return _compose(overrides, allow, config_dir)[0]


def read_value(text: str) -> Any:
    """Return the value of a text as an override of `run` gives it; a text that is no such value is itself.

    >>> read_value("[[wolf_*],[sheep_0]]"), read_value("[a,1,{b: 2}]"), read_value("go(")
    ([['wolf_*'], ['sheep_0']], ['a', 1, {'b': 2}], 'go(')
    """
    try:
        value = OverridesParser.create().parse_override(f"value={text}").value()
    except HydraException:
        return text
    return OmegaConf.to_container(OmegaConf.create({"value": value}))["value"]  # type: ignore[call-overload, index]


def compose_layers(
    overrides: Sequence[str], allow: Collection[str] = (), config_dir: Path | None = None
) -> tuple[Config, list[Layer]]:
    """Return the config, and the layers that it was composed from: files and overrides, each with the keys it sets."""
    config, layers = _compose(overrides, allow, config_dir)
    return config, layers()


def _compose(overrides: Sequence[str], allow: Collection[str], config_dir: Path | None) -> tuple[Config, Layers]:
    parsed = [_parse(in_full(text)) for text in overrides if text.lstrip("+") != ANCHORS]
    with opened(config_dir) as loader:
        groups = groups_of(loader)
        parsed = [_named(override, loader) for override in parsed]
        for override in parsed:
            _check(override, groups, loader)
        config, layers = _with_algorithm(parsed, _fitting_experiment(parsed, loader), allow, loader)
    if any(text.lstrip("+") == ANCHORS for text in overrides):
        config.league.players = zoo_anchors(config.env) | config.league.players
    try:
        config.env = with_variants_of_file(config.env)
        settings_of(config, allow)
        check_recipe(config.league)
    except (InputError, ValueError) as error:  # rules and players refuse settings by ValueError
        raise ConfigError(_with_file(str(error), layers())) from error
    return config, layers


def _with_algorithm(
    parsed: Sequence[Override], experiment: list[str], allow: Collection[str], loader: ConfigLoader
) -> tuple[Config, Layers]:
    """Return the config and its layers; which keys `algo` has is known only when its name is.

    The settings of an experiment are tuned for the algorithm that it chooses. To another one they mean nothing.
    """
    others = [override for override in parsed if not _about(override, ALGO)]
    chosen = [override for override in parsed if _about(override, ALGO)]
    named = any(override.key_or_group in (ALGO, f"{ALGO}.name") for override in chosen)
    source = (parsed, experiment)
    plain = _composed(Open, *source)
    layers: Layers = partial(_layers, *source, loader)
    name = plain[ALGO]["name"]
    if named and _composed(Open, others, experiment)[ALGO]["name"] != name:
        source = (chosen, ["~experiment"])
        plain[ALGO] = _composed(Open, *source)[ALGO]
        layers = partial(_joined, layers, partial(_layers, *source, loader))
    try:
        kind = _kind(str(name), allow)
    except ConfigError:
        refuse_foreign(plain, allow)  # the algorithm may not be all that needs permission
        raise
    for override in chosen:
        _refuse_unknown(kind, override)
    try:
        return from_plain(plain, allow), layers
    except ConfigError as error:
        _composed(kind, *source)  # if Hydra refuses it, too, it knows which file or override is to blame
        raise ConfigError(_with_file(str(error), layers())) from error


def _joined(others: Layers, algo: Layers) -> list[Layer]:
    return [*(layer.without(ALGO) for layer in others()), *(layer.only(ALGO) for layer in algo())]


def _layers(overrides: Sequence[Override], experiment: list[str], loader: ConfigLoader) -> list[Layer]:
    """Return which file, and which override, sets which keys; later ones win."""
    lines = [_line(override) for override in overrides] + experiment
    found = loader.compute_defaults_list("config", lines, RunMode.RUN)
    layers = []
    for default in found.defaults:
        path, package = str(default.config_path), default.package or ""
        source = find(path, loader)
        if source is None or path == SCHEMA or package.split(".")[0] == "hydra":
            continue
        content = content_of(path, source)
        content.pop("defaults", None)
        layers.append(Layer(file_of(source, path), below(package, content)))
    groups = groups_of(loader)
    mine = [override for override in overrides if override.key_or_group not in groups and not override.is_delete()]
    return [*layers, *(Layer(COMMAND_LINE, below(override.key_or_group, override.value())) for override in mine)]


def _with_file(message: str, layers: Sequence[Layer]) -> str:
    """Return a message that begins with a key, and the file that sets this key, unless the command line does."""
    key = message.partition(" ")[0].partition("=")[0].rstrip(":")
    found = origin(key, layers)
    return f"{message} (in {found})" if found and found != COMMAND_LINE else message


def _kind(name: str, allow: Collection[str]) -> type[Config]:
    try:
        return with_algo(algo_class(name, allow))
    except PluginError as error:
        raise ConfigError(str(error)) from error


def _composed(kind: type[Config], overrides: Sequence[Override], experiment: list[str]) -> dict[str, Any]:
    """Return the config that Hydra composes from overrides, with this class as its schema."""
    if _schema() is not kind:
        ConfigStore.instance().store(name=SCHEMA, node=kind)
    try:
        node = hydra_compose("config", [_line(override) for override in overrides] + experiment)
        if wrong := wrong_resolver(cast(dict[str, Any], OmegaConf.to_container(node))):
            raise ConfigError(wrong)
        plain = OmegaConf.to_container(node, resolve=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(_explain(kind, error, overrides)) from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(_unreadable(error, overrides)) from error
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
    >>> quoted("env.python=~/old/bin/python")          # Hydra does not know the sign
    'env.python="~/old/bin/python"'
    """
    if home := HOME.fullmatch(text):
        return f'{home[1]}="{home[2]}"'
    found = ID.fullmatch(text)
    return text if found is None else found[1] + "=" + GAME.sub(r'"\g<0>"', found[2])


def in_full(text: str) -> str:
    """Return an override of a group as one of the key that a plain value stands for; `from` is the file of a player.

    >>> in_full("league.players.main.from=a.safetensors"), in_full("+league.players.a={kind: frozen, from: b}")
    ('league.players.main.weights=a.safetensors', '+league.players.a={kind: frozen, weights: b}')
    >>> in_full("league.payoff=return"), in_full("league.payoff={decay: 1}"), in_full("league.payoff.decay=1")
    ('league.payoff.by=return', 'league.payoff={decay: 1}', 'league.payoff.decay=1')
    """
    text = FROM.sub(r"\1.weights=", text)
    if ROW.match(text):
        text = FROM_KEY.sub("weights:", text)
    key, equals, value = text.partition("=")
    short = SHORTHANDS.get(key.lstrip("+"))
    return f"{key}.{short}={value}" if short and equals and not value.lstrip().startswith("{") else text


def _parse(text: str) -> Override:
    """Return the override; an error of Hydra's parser has several lines, the user gets one."""
    try:
        override = OverridesParser.create().parse_override(quoted(text))
    except HydraException as error:
        key, _, value = text.partition("=")
        if key == "name" and (wrong := wrong_name(value)):  # Hydra refuses such letters with a misleading error
            raise ConfigError(wrong) from error
        reason = str(error).splitlines()[0]
        raise ConfigError(f"cannot read {text!r}: write key=value, e.g. algo.lr=0.001 ({reason})") from error
    if override.is_sweep_override():
        raise ConfigError(f"{text!r} is a sweep, but this starts one league: add -m to start one for each value")
    return override


def _named(override: Override, loader: ConfigLoader) -> Override:
    """Return algo.name=X instead of algo=X where X is no option of the group, but the name of an algorithm.

    Likewise policy.name=X where X is a network of another package, and league.probe.enabled=true for league.probe=true.
    """
    choice = str(override.value())
    if override.key_or_group == SWITCH and isinstance(override.value(), bool):
        return _parse(f"{SWITCH}.enabled={choice.lower()}")
    group = override.key_or_group
    if group not in PLUGGED or override.is_delete() or choice in options(group, loader):
        return override
    plugged = isinstance(override.value(), str) and (":" in choice or choice in names(PLUGGED[group]))
    return _parse(f"{group}.name={override.get_value_element_as_str()}") if plugged else override


def _line(override: Override) -> str:
    """Return the override in the form that Hydra takes."""
    key, line = override.key_or_group, str(override.input_line)
    if key == "experiment" and override.value() is None:
        return "~experiment"
    free = f"{key}.".startswith(FREE) or FREE_IN_ROW.fullmatch(key)
    if override.type == OverrideType.CHANGE and key != ALGO and free:
        return f"++{line}"
    rows = next((prefix for prefix in ROWS if f"{key}.".startswith(prefix)), "")
    if rows and (override.is_add() or (rows == VARIANTS and override.type == OverrideType.CHANGE)):
        # OmegaConf refuses to assign a new item of typed groups, but merges one into them.
        value = override.get_value_element_as_str()
        for part in reversed(key.removeprefix(rows[:-1]).split(".")[1:]):
            value = f"{{{part}: {value}}}"
        return f"++{rows[:-1]}={value}"
    return line


def _check(override: Override, groups: Sequence[str], loader: ConfigLoader) -> None:
    """Refuse unknown keys and group options, and name the nearest known one; keys of algorithms are checked later."""
    key = override.key_or_group
    if key not in groups:
        if not _about(override, ALGO):
            _refuse_unknown(with_algo(PPOConfig), override, groups)
        return
    choice, known = override.value(), options(key, loader)
    if not override.is_delete() and choice not in [*known, *NOTHING.get(key, ())]:
        raise ConfigError(_unknown_option(key, str(choice), known))


def _refuse_unknown(kind: type[Config], override: Override, groups: Sequence[str] = ()) -> None:
    key = override.key_or_group
    wrong = complaint(kind, key)
    guess = nearest(key, groups) if "." not in key else None
    if wrong:
        raise ConfigError(f"unknown key {key!r}; did you mean {guess!r}?" if guess else wrong)


def _unknown_option(group: str, choice: str, options: Sequence[str]) -> str:
    close = nearest(choice, options)
    hint = f" Did you mean {close!r}?" if close else ""
    if group == "env" and ("/" in choice or ":" in choice):
        hint = f" For a PettingZoo environment: env=pettingzoo env.id={choice}"
    if elsewhere := ELSEWHERE.get(f"{group}={choice}"):
        return f"{group}={choice} is no {group}. {elsewhere}"
    return f"unknown {group} {choice!r}.{hint} Known: {', '.join(options)}."


def _fitting_experiment(parsed: Sequence[Override], loader: ConfigLoader) -> list[str]:
    """Return the experiment that goes with another env.

    The default experiment is tuned for one game. Whoever names another env, by its group or by env.name, and no
    experiment, gets the experiment of that name, or none.
    """
    chosen = {override.key_or_group: override.value() for override in parsed}
    env = chosen.get("env", chosen.get("env.name"))
    if env is None or "experiment" in chosen:
        return []
    fits = env in listed("experiment", ObjectType.CONFIG, loader)
    return [f"experiment={env}" if fits else "~experiment"]


def _explain(config: type[Config], error: Exception, parsed: Sequence[Override]) -> str:
    """Return one line on what Hydra refused: which key, which value, what was expected, in which file."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        return _missing(error.missing_cfg_file, error.options, parsed)
    cause = _blamed(error)
    key = str("" if cause is None else cause.full_key).split("[")[0]
    if key.isdecimal():  # a place in a list, and not of which
        key = next((o.key_or_group for o in parsed if str(o.input_line) in str(error)), key)
    source = max((o for o in parsed if _about(o, key)), key=lambda o: len(o.key_or_group), default=None)
    rows = next((prefix for prefix in ROWS if key.startswith(prefix)), "")
    if source is not None and rows and isinstance(cause, ConfigKeyError):
        return f"this league has no {ROWS[rows]} {key.removeprefix(rows)!r}; to add one write +{source.input_line}"
    for prefix, row in ROWS.items():  # a row that is not there, of which one key was to be set
        if key and any(o.key_or_group.startswith(f"{prefix}{key}.") for o in parsed):
            return f"this league has no {row} {key!r}; to add one write +{prefix}{key}={{...}}"
    kind = type_at(config, key) if key else Any
    if key == "experiment":
        return f"an experiment must begin with the line `# @package _global_`{place(error)}"
    if kind is UNKNOWN:
        return f"{complaint(config, key)}{place(error)}"
    if kind is not Any and isinstance(cause, ValidationError):
        given = source.input_line if source else f"{key}={getattr(cause, 'value', None)}"
        example = ", e.g. [[a,b],[c]]" if "list of lists" in type_name(kind) else ""
        return f"{given}: expected {type_name(kind)}{example}{place(error)}"
    if found := place(error):
        return f"{' '.join(str(error).split()).partition(': ')[2].partition(' full_key:')[0]}{found}"
    return " ".join(str(cause or error).split())


def _missing(path: str, known: Sequence[str], parsed: Sequence[Override]) -> str:
    """Return the message on a file that asks for an option that does not exist."""
    group, _, choice = path.rpartition("/")
    asked = [name for name, defaults in _chosen(parsed) if f"'{choice}'" in str(defaults)]
    return _unknown_option(group, choice, known) + (f" (in {asked[0]})" if asked else "")


def _chosen(parsed: Sequence[Override]) -> Iterator[tuple[str, Any]]:
    """Yield each file that an override chooses, and its defaults list; None if it cannot be read."""
    loader = GlobalHydra.instance().config_loader()
    for override in parsed:
        path = f"{override.key_or_group}/{override.value()}"
        if source := find(path, loader):
            try:
                content = OmegaConf.to_container(source.load_config(path).config, resolve=False)
            except (YAMLError, UnicodeDecodeError):
                content = None
            yield file_of(source, path), content.get("defaults", []) if isinstance(content, dict) else None


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


def _unreadable(error: Exception, parsed: Sequence[Override]) -> str:
    """Return what is wrong with a file that is no YAML: its name, the line, and what was expected there."""
    mark = getattr(error, "problem_mark", None)
    line = f", line {mark.line + 1}" if mark else ""
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    names = [name for name, defaults in _chosen(parsed) if defaults is None]
    return f"{names[0] if names else 'a config'}{line}: this is not YAML: {problem}"
