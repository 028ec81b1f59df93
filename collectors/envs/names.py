"""What the name of an environment means: the one answer for configs, the command line and checks.

A name is a game of Ludus or of an installed package, a *backend* (another project, whose environments have ids), or
`package.module:attribute`. Nothing is imported here that `league.plugins` does not allow; what ids of known packages
lead to is decided in `collectors.envs.known`.
"""

import inspect
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from collectors.envs.known import NoEnvironmentError, is_known
from collectors.envs.rows import Environment
from league.plugins import BUILTIN, names, resolve

GROUP = "ludus.environments"
BACKENDS = {
    "pettingzoo": "classic/connect_four_v3",
    "openspiel": "go(board_size=9)",
    "gymnasium": "CartPole-v1",
    "gymnasium_multi": "Foraging-8x8-2p-1f-v3",
    "atari": "ALE/Pong-v5",
    "pgx": "go_9x9",
}
"""The projects whose environments are adapted, each with the id of one of them."""


class EnvName(NamedTuple):
    """An environment as a config names it."""

    name: str  # env.name: a backend, or what makes a batch of slots
    id: str = ""  # env.id: which environment of the backend


def read_name(text: str, allow: Collection[str] = ()) -> EnvName:
    """Return which environment a text means; `allow` comes from the command line, never from a file.

    `package.module:attribute` is a batch of slots if it takes `slots`, and else a PettingZoo environment.

    >>> read_name("connect_four"), read_name("classic/go_v5")
    (EnvName(name='connect_four', id=''), EnvName(name='pettingzoo', id='classic/go_v5'))
    >>> read_name("openspiel/go(board_size=9)"), read_name("ALE/Pong-v5")
    (EnvName(name='openspiel', id='go(board_size=9)'), EnvName(name='atari', id='ALE/Pong-v5'))
    """
    prefix, slash, id = text.partition("/")
    if slash and prefix in BACKENDS and prefix != "atari":  # PettingZoo has an atari of its own
        return EnvName(prefix, id)
    if prefix == "ALE":
        return EnvName("atari", text)
    if text in names(GROUP):
        return EnvName(text)
    if slash or is_known(text) or not takes(resolve(GROUP, text, allow), "slots"):
        return EnvName("pettingzoo", text)
    return EnvName(text)


def is_ours(name: str) -> bool:
    """Whether an environment is a game of Ludus itself, which needs no foreign code.

    >>> is_ours("connect_four"), is_ours("pettingzoo"), is_ours("my_games:Words")
    (True, False, False)
    """
    return name in BUILTIN[GROUP] and name not in BACKENDS


def check_id(name: str, id: str) -> None:
    """Refuse a backend without an id."""
    if name in BACKENDS and not id:
        raise ValueError(f"env.id is missing: name the environment, e.g. env={name} env.id='{BACKENDS[name]}'")


def batch_maker(name: str, allow: Collection[str] = ()) -> Callable[..., Environment]:
    """Return the class or function behind a name that is no backend; it makes a batch of slots."""
    maker: Callable[..., Environment] = resolve(GROUP, name, allow)
    if not takes(maker, "slots"):
        raise ValueError(f"it takes no 'slots'. A PettingZoo environment? Then: env=pettingzoo env.id={name}")
    return maker


def takes(maker: Any, argument: str, or_any: bool = False) -> bool:
    """Whether a class or function has an argument of this name; or takes any name, if that is enough."""
    if inspect.ismodule(maker):
        return False  # such as pong_v3 of PettingZoo: it has a function that makes the environment
    try:
        arguments = inspect.signature(maker).parameters
    except (TypeError, ValueError) as error:  # no class or function, or one that Python cannot look into
        raise NoEnvironmentError(f"{maker!r} is no class or function that makes an environment") from error
    any_name = any(one.kind == inspect.Parameter.VAR_KEYWORD for one in arguments.values())
    return argument in arguments or (or_any and any_name)
