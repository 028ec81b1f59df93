"""The settings of an environment, and how to make a batch of slots from them.

env = make_environment(EnvConfig(name="connect_four"), slots=256)
env = make_environment(EnvConfig(name="pettingzoo", id="mpe2/simple_tag_v3", kwargs={"max_cycles": 50}), slots=16)
"""

import re
import sysconfig
import traceback
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from collectors.envs.adapters.compat import compat_remedy
from collectors.envs.names import BACKENDS, check_id, is_ours
from collectors.envs.other_python.far_game import FarProcesses
from collectors.envs.other_python.far_order import PYTHON_SECONDS, absolute
from collectors.envs.plan import Plan, plan_exactly, with_variants
from collectors.envs.referee import Referee
from collectors.envs.rows import Environment, HasInfos
from collectors.envs.variant_slots import VariantSlots
from league.errors import InputError, message_of
from league.plugins import OURS, PluginError, resolve
from league.variants import MOST_VARIANTS, Variant, spin


class EnvError(InputError):
    """An environment that cannot be made from its config."""


BACKEND_KEYS = (
    "args",
    "kwargs",
    "wrappers",
    "seats",
    "roles",
    "sides",
    "state",
    "fresh",
    "max_steps",
    "cast",
    "reward_weights",
    "compat",
)
"""The settings that only environments of other projects have."""


@dataclass(kw_only=True, slots=True)
class VariantConfig:
    """A map, a size or an opening of the environment."""

    weight: float = 1.0  # its share of the episodes, relative to the other variants
    kwargs: dict[str, Any] = field(default_factory=dict)  # for the constructor, beside env.kwargs

    def __post_init__(self) -> None:
        """Refuse weights that are no shares."""
        if not 0 < self.weight < float("inf"):
            raise ValueError(f"the weight of a variant must be a number above 0, got {self.weight}; or leave it out")


@dataclass(kw_only=True, slots=True)
class EnvConfig:
    """Which game is played, and who sits where."""

    name: str = "connect_four"  # a name of the group ludus.environments, or package.module:Class
    id: str = ""  # only for backends such as pettingzoo or pgx: the environment's id, or package.module:function
    args: list[Any] = field(default_factory=list)  # positional arguments of package.module:function
    kwargs: dict[str, Any] = field(default_factory=dict)  # for the environment's constructor
    variants: dict[str, VariantConfig] = field(default_factory=dict)  # maps, sizes, openings; each episode has one
    variants_from: str | None = None  # a JSON file with variants, {name: {weight: 1, kwargs: {...}}}
    wrappers: list[Any] = field(default_factory=list)  # package.module:function, or [that, {argument: value}]
    seats: list[list[str]] | None = None  # the agents of each seat, or patterns like wolf_*; null: a good guess
    roles: list[str] | None = None  # the role of each seat; null: from the agents' names and spaces
    sides: list[str] | None = None  # the side of each seat: equal names win together; null: a good guess
    outcome: str | None = None  # package.module:function that scores agents; null: the named winner, or highest return
    draw_margin: float = 0.0  # a side has to be ahead by more than this, or it is a draw
    python: str = ""  # only for pettingzoo: another Python that plays it, such as OTHER_VENV/bin/python
    python_seconds: float = PYTHON_SECONDS  # for a tick of that Python; then it hangs, and is started again
    state: bool = False  # offer the environment's state() to centralised critics
    fresh: bool | None = None  # rebuild it for each episode, if its reset is incomplete; null: where known
    max_steps: int = 0  # env steps after which an episode is truncated; 0: the environment ends it
    cast: bool = False  # bring observations into the dtype and shape of their spaces: lists, scalars, float64
    reward_weights: list[float] = field(default_factory=list)  # of rewards that are vectors: a weight for each number
    compat: bool = False  # give PettingZoo its older names back, for games that were written for them

    def __post_init__(self) -> None:
        """Refuse invalid settings, and those that only backends have."""
        check_id(self.name, self.id)
        self._check_python()
        if self.seats is not None and not (isinstance(self.seats, list) and all(map(_are_names, self.seats))):
            raise ValueError(
                f'env.seats must be a list with a list of agents for each seat, e.g. [["wolf_*"],["sheep_0"]]; got '
                f"{self.seats!r}"
            )
        for key in ("roles", "sides"):
            given = getattr(self, key)
            if given is not None and not _are_names(given):
                raise ValueError(
                    f'env.{key} must be a list with a name for each seat, e.g. ["red","blue"]; got {given!r}'
                )
        wrong = [name for name in self.variants if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name)]
        if wrong:
            raise ValueError(f"env.variants: {wrong[0]!r} is no name; use letters, digits, dots, - and _")
        if len(self.variants) > MOST_VARIANTS:
            raise ValueError(
                f"env.variants has {len(self.variants)} variants, but at most {MOST_VARIANTS} are possible"
            )
        if not 0 <= self.draw_margin < float("inf"):
            raise ValueError(f"env.draw_margin must be a number from 0 on, got {self.draw_margin}")
        if self.max_steps < 0:
            raise ValueError(f"env.max_steps must be 0 (no limit) or more, got {self.max_steps}")
        theirs = ("kwargs",) if is_ours(self.name) else ("kwargs", "max_steps")  # what a batch of slots may take
        given = [name for name in ("id", *BACKEND_KEYS) if name not in theirs and getattr(self, name)]
        if self.name not in BACKENDS and given:
            raise ValueError(
                f"env.{given[0]} is only for env.name={', '.join(BACKENDS)}; the seats of {self.name!r} are fixed"
            )

    def _check_python(self) -> None:
        """Refuse another Python for games that have none, and name it from everywhere in the same way."""
        if self.python and self.name != "pettingzoo":
            raise ValueError(f"env.python is only for env=pettingzoo: {self.name!r} plays in this Python")
        if not 0 < self.python_seconds < float("inf"):
            raise ValueError(f"env.python_seconds must be a positive number, got {self.python_seconds}")
        if self.python:
            self.python = absolute(self.python)

    def options(self) -> dict[str, Any]:
        """Return the arguments of the environment's constructor, or of its backend, without the number of slots."""
        if self.name not in BACKENDS:
            return dict(self.kwargs) | ({"max_steps": self.max_steps} if self.max_steps else {})
        elsewhere = ("python", "python_seconds") if self.python else ()
        return {key: getattr(self, key) for key in ("id", *BACKEND_KEYS, *elsewhere)}


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def make_environment(config: EnvConfig, slots: int, allow: Collection[str] = ()) -> Environment:
    """Return a batch of slots; raise PluginError or EnvError, in one line, if the config is wrong."""
    if config.variants:
        return _with_referee(_make_variants(config, slots, allow), config, allow)
    return _with_referee(_make(config, slots, allow, processes_of(config)), config, allow)


def _make_variants(config: EnvConfig, slots: int, allow: Collection[str]) -> Environment:
    """Return all variants as one batch; if one cannot be made, the others are closed."""
    processes, envs = processes_of(config), list[Environment]()
    try:
        for name, one in zip(config.variants, variant_configs(config), strict=True):
            try:
                envs.append(_make(one, slots, allow, processes))
            except EnvError as error:
                raise EnvError(f"env.variants.{name}: {error}") from error
        return VariantSlots(variants_of(config), envs)
    except BaseException:
        for env in envs:
            env.close()
        raise


def processes_of(config: EnvConfig) -> FarProcesses | None:
    """Return the process of the Python that plays an environment and all its variants; None if this one does."""
    return FarProcesses(config.python, config.python_seconds) if config.python else None


def variants_of(config: EnvConfig) -> tuple[Variant, ...]:
    """Return the variants of an environment, with their shares."""
    return spin({name: variant.weight for name, variant in config.variants.items()})


def variant_configs(config: EnvConfig) -> list[EnvConfig]:
    """Return the config of each variant alone."""
    return [
        replace(config, kwargs=dict(config.kwargs) | dict(variant.kwargs), variants={})
        for variant in config.variants.values()
    ]


def _make(config: EnvConfig, slots: int, allow: Collection[str], processes: FarProcesses | None) -> Environment:
    what = config.id or config.name
    try:
        return plan_exactly(config.name, config.options(), tuple(allow), processes).build(slots)
    except PluginError:
        raise
    except Exception as error:  # whatever a foreign constructor raises is the fault of the config or of the package
        detail = message_of(error) or f"it raised {type(error).__name__} without a message"
        remedy = constructor_remedy(error, config.kwargs)
        raise EnvError(
            f"cannot make the environment {what!r} with env.kwargs={config.kwargs}: {detail}{place_of(error)}"
            f"{remedy and f'. {remedy}'}"
        ) from error


MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
BY_PLACE = re.compile(r"positional-only arguments passed as keyword arguments: (.+)")
UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


def constructor_remedy(error: Exception, kwargs: Mapping[str, Any]) -> str:
    """Return what to change in env.kwargs if a constructor refused its arguments; else nothing.

    >>> constructor_remedy(TypeError("Go() missing 2 required positional arguments: 'size' and 'komi'"), {})
    'Add env.kwargs.size=VALUE env.kwargs.komi=VALUE (for ludus check-env: size=VALUE komi=VALUE)'
    >>> constructor_remedy(TypeError("Go() got an unexpected keyword argument 'sice'"), {"sice": 9})
    "Take 'sice' out of env.kwargs, or spell it as the constructor does"
    >>> constructor_remedy(TypeError("Board() got an unexpected keyword argument 'colour'"), {"size": 9})
    "env.kwargs has no 'colour': the environment's own code passes it on. Fix it there"
    """
    if remedy := compat_remedy(error):
        return remedy
    if not isinstance(error, TypeError):
        return ""
    said = message_of(error)
    if found := MISSING.search(said):
        names = re.findall(r"'(\w+)'", found[1])
        short = " ".join(f"{name}=VALUE" for name in names)
        return f"Add {' '.join(f'env.kwargs.{name}=VALUE' for name in names)} (for ludus check-env: {short})"
    if found := BY_PLACE.search(said):
        return (
            f"Give by its place what the constructor does not take by name: env.args=[{found[1].replace(chr(39), '')}]"
        )
    if found := UNEXPECTED.search(said):
        if found[1] in kwargs:
            return f"Take {found[1]!r} out of env.kwargs, or spell it as the constructor does"
        return f"env.kwargs has no {found[1]!r}: the environment's own code passes it on. Fix it there"
    return ""


def place_of(error: BaseException) -> str:
    """Return where in an environment's own code an error was raised, as the end of a clause; "" if it was not there."""
    frames = traceback.extract_tb(error.__traceback__)
    own = Path(__file__).parents[2]
    ours = [own / package for package in OURS]
    foreign = [frame for frame in frames if not any(Path(frame.filename).is_relative_to(one) for one in ours)]
    if not foreign or foreign[-1].filename.startswith("<") or frames[-1] not in foreign:
        return ""
    libraries = sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")
    game = [frame for frame in foreign if not frame.filename.startswith(libraries)] or foreign
    return f" ({game[-1].filename}:{game[-1].lineno})"


def planned(config: EnvConfig, allow: Collection[str] = ()) -> Plan:
    """Return how to build the environment of a config, with the outcomes that a league counts."""
    processes = processes_of(config)
    configs = variant_configs(config) or [config]
    plans = [plan_exactly(one.name, one.options(), tuple(allow), processes) for one in configs]
    made = with_variants(variants_of(config), plans) if config.variants else plans[0]
    return replace(made, build=lambda slots: _with_referee(made.build(slots), config, allow))


def _with_referee(env: Environment, config: EnvConfig, allow: Collection[str]) -> Environment:
    """Return the environment with a referee, unless returns alone decide who did best."""
    judge = None if config.outcome is None else resolve("ludus.outcomes", config.outcome, allow)
    if judge is not None and not callable(judge):
        env.close()
        raise EnvError(f"env.outcome={config.outcome} is no function, but a {type(judge).__name__}")
    if judge is None and not config.draw_margin and not isinstance(env, HasInfos):
        return env
    return Referee(env, judge, config.draw_margin, config.outcome or "")
