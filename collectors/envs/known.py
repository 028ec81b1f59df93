"""What a config may name of known environment packages without `--allow`: only their environments and wrappers.

    maker("pettingzoo.classic.chess.chess:env", {}, (AECEnv,))      # the function that makes PettingZoo's chess
    maker("pettingzoo.classic.chess.chess:os", {}, (AECEnv,))       # PluginError
    wrapper("supersuit:frame_stack_v1", {"stack_size": 4})

A config may come from a stranger, so there is a list of what is allowed, not of what is forbidden. The module and the
name are decided before anything is imported, and the object found there is checked before it is called.
`--allow PACKAGE` lifts all of this for one package.
"""

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from league.errors import InputError
from league.plugins import PluginError, load, package_of, resolve

MAKERS = frozenset({"env", "raw_env", "parallel_env"})  # what modules of PettingZoo call their environments
FAMILIES = re.compile(r"(?:pettingzoo\.(?:atari|butterfly|classic|magent|mpe|sisl)|mpe2)(?:\.\w+)+", re.ASCII)
GYMS = re.compile(r"gymnasium\.envs(?:\.\w+)+|ale_py\.env|lbforaging\.foraging|rware\.warehouse", re.ASCII)
CONVERSIONS = "pettingzoo.utils.conversions"  # its functions make most of the parallel environments


class NoEnvironmentError(InputError):
    """A name that leads to something that is no environment, and makes none."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PETTINGZOO = _names(
    "AssertOutOfBoundsWrapper CaptureStdoutWrapper ClipOutOfBoundsWrapper MultiEpisodeEnv MultiEpisodeParallelEnv "
    "OrderEnforcingWrapper TerminateIllegalWrapper aec_to_parallel parallel_to_aec "
    "turn_based_aec_to_parallel"
)
WRAPPERS: dict[str, frozenset[str]] = {
    "pettingzoo.utils": _PETTINGZOO,
    "pettingzoo.utils.wrappers": _PETTINGZOO,
    CONVERSIONS: _PETTINGZOO,
    "gymnasium.wrappers": _names(
        "AtariPreprocessing ClipAction ClipReward DelayObservation DiscretizeAction DiscretizeObservation "
        "DtypeObservation FilterObservation FlattenObservation FrameStackObservation GrayscaleObservation "
        "MaxAndSkipObservation NormalizeObservation NormalizeReward OrderEnforcing RepeatAction RescaleAction "
        "RescaleObservation ReshapeObservation ResizeObservation StickyAction TimeAwareObservation TimeLimit"
    ),
    "supersuit": _names(
        "agent_indicator_v0 black_death_v3 clip_actions_v0 clip_reward_v0 color_reduction_v0 delay_observations_v0 "
        "dtype_v0 flatten_v0 frame_skip_v0 frame_stack_v1 frame_stack_v2 max_observation_v0 nan_noop_v0 nan_random_v0 "
        "nan_zeros_v0 normalize_obs_v0 pad_action_space_v0 pad_observations_v0 reshape_v0 resize_v1 scale_actions_v0 "
        "sticky_actions_v0"
    ),
}
"""Wrappers that only transform observations, rewards and actions. None of them writes files or takes functions."""

FILES = re.compile(r"(?:^|_)(?:files?|filename|paths?|dir|directory|folder|root)(?:_|$)", re.IGNORECASE)
PLACES = re.compile(r"[/\\~]|^\.|\b\w*(?:filename|_file|_path|_root)\s*=")  # in a text: it names a file, or may

Kinds = tuple[type, ...]
Kwargs = Mapping[str, Any]
Build = Callable[[], Any]


def is_known(id: str, gym: bool = False) -> bool:
    """Whether `package.module:name` is where a known package keeps its environments.

    >>> is_known("pettingzoo.classic.chess.chess:env"), is_known("pettingzoo.utils.env:AECEnv")
    (True, False)
    """
    module, _, name = id.partition(":")
    return bool(GYMS.fullmatch(module) if gym else FAMILIES.fullmatch(module) and name in MAKERS)


def maker(id: str, kwargs: Kwargs, kinds: Kinds, allow: Collection[str] = (), gym: bool = False) -> Build:
    """Return the function that makes the environment that `package.module:name` names, one of `kinds`.

    It is an environment of a known package, one that an installed package registered, or one of an allowed package.
    """
    package = package_of(id)
    if package in allow or not is_known(id, gym):
        return partial(_called(id, resolve("ludus.environments", id, allow)), **kwargs)
    plain(package, "env.kwargs", kwargs)
    found = load(id)
    if not _makes(found, package, kinds, gym):
        raise PluginError(
            f"{id!r} is no environment that {package} defines, and a config may name nothing else of that package. "
            f"If you trust it, add --allow {package} to the command."
        )
    return partial(found, **kwargs)


def _called(id: str, found: Any) -> Any:
    """Return what makes the environment; of a module, as PettingZoo's `pong_v3` is one, the maker that it has."""
    if not isinstance(found, ModuleType):
        return found
    makers = [getattr(found, name) for name in ("parallel_env", "env", "raw_env") if hasattr(found, name)]
    if not makers:
        raise NoEnvironmentError(f"{id!r} is a module without a function parallel_env, env or raw_env")
    return makers[0]


def _makes(found: object, package: str, kinds: Kinds, gym: bool) -> bool:
    """Whether this is a class of environments, or a function that makes one, defined in this package."""
    home = str(getattr(found, "__module__", ""))
    if isinstance(found, type):
        return issubclass(found, kinds) and home.startswith(f"{package}.")
    return isinstance(found, FunctionType) and not gym and (home.startswith(f"{package}.") or home == CONVERSIONS)


def registered(id: str, entry_point: object, allow: Collection[str] = (), gym: bool = False) -> None:
    """Refuse an id that the registry of a project maps to code of a package that is not allowed.

    Any imported package may have registered anything there.
    """
    home = str(entry_point if isinstance(entry_point, str) else getattr(entry_point, "__module__", ""))
    package = re.split(r"[.:]", home)[0]
    if not is_known(home, gym) and package not in allow:
        raise PluginError(
            f"{id!r} was registered by the package {package!r}, which is not allowed. If you trust it, add "
            f"--allow {package} to the command."
        )


def wrapper(name: str, kwargs: Kwargs, allow: Collection[str] = ()) -> Callable[[Any], Any]:
    """Return the wrapper of this name: a known one, one that an installed package registered, or an allowed one."""
    module, _, attribute = name.partition(":")
    package = module.partition(".")[0]
    if package in allow or attribute not in WRAPPERS.get(module, ()):
        return partial(resolve("ludus.wrappers", name, allow), **kwargs)
    plain(package, f"env.wrappers: {name}", kwargs)
    found = load(name)
    home = str(getattr(found, "__module__", "") or type(found).__module__)
    if not home.startswith(f"{package}."):
        raise PluginError(f"{name!r} is not defined in {package}, but in {home}: a config cannot name it there.")
    return partial(found, **kwargs)


def plain(owner: str, key: str, kwargs: Kwargs, allow: Collection[str] = (), texts: bool = True) -> None:
    """Refuse arguments that may lead the code of a known package to a file.

    With `texts`, no text among them may look like a path, whatever its key.
    """
    if owner in allow:
        return
    for name, value in kwargs.items():
        where = f"{key}.{name}"
        if FILES.search(str(name)) or (texts and isinstance(value, str) and PLACES.search(value)):
            raise PluginError(
                f"{where}={value!r} may lead {owner} to a file. If you trust both, add --allow {owner} to the command."
            )
        if isinstance(value, Mapping):
            plain(owner, where, value, allow, texts)
        elif isinstance(value, list | tuple):
            plain(owner, where, {str(place): item for place, item in enumerate(value)}, allow, texts)
