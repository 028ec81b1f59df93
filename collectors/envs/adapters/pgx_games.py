"""The games of Pgx that a config may name, and their specs: a table, because a spec must not need JAX.

spec = make_spec("go_9x9", find_game("go_9x9"))
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from collectors.envs.adapters.seats import agent_roles, guess_layout, make_seats
from league.plugins import PluginError
from league.spec import Array, EnvSpec

MOST_THREADS = 1024


@dataclass(frozen=True, slots=True)
class PgxGame:
    """The shape of a game."""

    observation: tuple[int, ...]
    actions: int
    players: int = 2
    dtype: str = "bool"
    returns: tuple[float, float] | None = None
    chance: bool = True  # the start or a move may depend on the seed; without it no key is needed, which is faster
    stones: bool = False  # on a board: the first plane of an observation has the own ones, the second the other's
    max_steps: int | None = None  # for games that need not end by themselves
    at_once: int | None = None  # how many worlds a CPU steps together, at most: of dear games what its cache can hold
    may_be_over: bool = False  # let XLA not know that a world that moves is not over: it compiles Go a quarter faster


def _stones(observation: tuple[int, ...], actions: int, **tuning: Any) -> PgxGame:
    return PgxGame(observation, actions, returns=(-1.0, 1.0), chance=False, stones=True, **tuning)


def _minatar(channels: int, actions: int) -> PgxGame:
    return PgxGame((10, 10, channels), actions, players=1, max_steps=5000)


GAMES = {
    "2048": PgxGame((4, 4, 31), 4, players=1),
    "animal_shogi": PgxGame((4, 3, 194), 132, dtype="float32", returns=(-1.0, 1.0), chance=False),
    "backgammon": PgxGame((34,), 156, dtype="float32", returns=(-3.0, 3.0)),
    "chess": PgxGame((8, 8, 119), 4672, dtype="float32", returns=(-1.0, 1.0), chance=False, at_once=128),
    "connect_four": _stones((6, 7, 2), 7),
    "gardner_chess": PgxGame((5, 5, 115), 1225, dtype="float32", returns=(-1.0, 1.0), chance=False, at_once=128),
    "go_9x9": _stones((9, 9, 17), 82, may_be_over=True, at_once=128),
    "go_19x19": _stones((19, 19, 17), 362, may_be_over=True),
    "hex": _stones((11, 11, 4), 122),
    "kuhn_poker": PgxGame((7,), 2, returns=(-2.0, 2.0)),
    "leduc_holdem": PgxGame((34,), 3),
    "minatar-asterix": _minatar(4, 5),
    "minatar-breakout": _minatar(4, 3),
    "minatar-freeway": _minatar(7, 3),
    "minatar-seaquest": _minatar(10, 6),
    "minatar-space_invaders": _minatar(6, 4),
    "othello": _stones((8, 8, 2), 65),
    "shogi": PgxGame((9, 9, 119), 2187, returns=(-1.0, 1.0), chance=False, at_once=32),
    "sparrow_mahjong": PgxGame((11, 15), 11, players=3),
    "tic_tac_toe": _stones((3, 3, 2), 9),
}
"""Every game that `env.id` may name."""


def find_game(id: str) -> PgxGame:
    """Return the game of an id; raise PluginError, with all ids, if there is none."""
    if id not in GAMES:
        raise PluginError(f"unknown Pgx game {id!r}. Known: {', '.join(GAMES)}.")
    return GAMES[id]


def find_limit(game: PgxGame, kwargs: Mapping[str, Any]) -> int | None:
    """Return after how many moves an episode is truncated, if at all; refuse options that no game has."""
    unknown = sorted(kwargs.keys() - {"max_steps", "device", "threads"})
    if unknown:
        there = "env.max_steps, env.kwargs.device and env.kwargs.threads"
        raise ValueError(f"a game of Pgx has no option {unknown[0]!r}; there are {there}")
    limit = kwargs.get("max_steps", game.max_steps)
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise ValueError(f"env.max_steps must be a whole number from 1 on, got {limit!r}")
    return limit


def find_device(kwargs: Mapping[str, Any]) -> str:
    """Return where JAX computes, such as `cpu` or `gpu:1`; "" leaves it to JAX."""
    device = kwargs.get("device", "")
    if not isinstance(device, str) or not re.fullmatch(r"((cpu|gpu|tpu)(:\d{1,3})?)?", device):
        raise ValueError(f"env.kwargs.device must be cpu, gpu or tpu, or one of several such as gpu:1, got {device!r}")
    return device


def find_threads(kwargs: Mapping[str, Any]) -> int:
    """Return in how many threads JAX computes on a CPU: one, as everything in a league, unless a config says more."""
    threads = kwargs.get("threads", 1)
    if not isinstance(threads, int) or isinstance(threads, bool) or not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"env.kwargs.threads must be a whole number from 1 to {MOST_THREADS}, got {threads!r}")
    return threads


def make_spec(id: str, game: PgxGame, *, state: bool = False, fresh: bool | None = None, **seating: Any) -> EnvSpec:
    """Return the spec of a game; `seating` is env.seats, env.roles and env.sides. Each episode is fresh anyway."""
    if state:
        raise ValueError(f"{id}: games of Pgx have no state for critics; leave out env.state")
    agents = tuple(f"player_{number}" for number in range(game.players))
    kinds = agent_roles(dict.fromkeys(agents), turn_based=True)
    return EnvSpec(
        name=id,
        agents=agents,
        seats=make_seats(id, kinds, guess_layout(id, agents, turn_based=True), **seating),
        observation=Array(game.observation, game.dtype),
        actions=game.actions,
        returns=game.returns,
    )
