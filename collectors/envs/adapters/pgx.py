"""Games of Pgx, a batched simulator: JAX steps the worlds of all slots at once, without a loop over them.

env = make(slots=256, id="go_9x9")
env = make(slots=256, id="chess", kwargs={"max_steps": 200})

Each process compiles a game for its number of slots before it plays, which takes seconds; `prepare` does it now, else
the first `start` does. Only processes that play import JAX.

Agent 0 moves first. Episodes end as Pgx ends them (Go, chess and shogi after a fixed number of moves);
`env.kwargs.max_steps` truncates them earlier.
"""

import importlib.util
import logging
import os
import time
from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from collectors.envs.adapters.pgx_games import GAMES, PgxGame, find_game, find_limit, make_spec
from collectors.envs.native.skeleton import NativeGame
from collectors.envs.rows import BoolArray, Ends, Idle, IntArray, Rows
from collectors.envs.slots import Index, check_shape, illegal, in_range
from league.spec import EnvSpec

if TYPE_CHECKING:
    from collectors.envs.adapters.pgx_program import Program, Worlds

log = logging.getLogger("ludus.collector")

ONE_THREAD = {"NPROC": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}


def make(slots: int, id: str = "", kwargs: Mapping[str, Any] | None = None, **options: Any) -> "PgxRows":
    """Return a batch of slots of the game that `id` names; see the module's docstring."""
    game = find_game(id)
    for package in ("pgx", "jax"):
        if importlib.util.find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}")
    limit = find_limit(id, game, kwargs or {})
    return PgxRows(make_spec(id, game, **options), game, slots, limit)


def bound_threads(environment: MutableMapping[str, str]) -> None:
    """Let JAX compute in one thread, as everything does in a process of a league; what the user has set stays."""
    for name, value in ONE_THREAD.items():
        environment.setdefault(name, value)


def keys_of(seeds: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """Return the key of each seed for JAX: all of its 64 bits count.

    >>> keys_of(np.array([1, 2**32 + 5])).tolist()
    [[0, 1], [1, 5]]
    """
    return np.asarray(seeds, "<i8").view("<u4").reshape(-1, 2)[:, ::-1]


def _told(id: str, slots: int, seconds: float) -> str:
    return f"compiling {id} for {slots} {'slot' if slots == 1 else 'slots'}: {seconds:.0f} s"


class PgxRows(NativeGame):
    """An `Environment` of Pgx games: a slot is a world. Free slots are stepped as well, and nobody looks at them."""

    def __init__(self, spec: EnvSpec, game: PgxGame, slots: int, max_steps: int | None = None) -> None:
        super().__init__(spec, slots)
        self._game, self._max_steps = game, max_steps
        self._program: Program | None = None  # until it is compiled
        self._worlds: Worlds | None = None
        self._opening: Worlds | None = None  # the worlds that `_starting` begins with
        self._starting = np.zeros(slots, np.bool_)  # the next step begins these, and then moves in them
        self._unseen = False  # whether some of these are not in `_seen` yet
        self._keys = np.zeros((slots, 2), np.uint32)
        self._age = np.zeros(slots, np.intp)  # moves since the episode began
        self._acted = np.zeros((slots, game.players), np.bool_)
        self._earned = np.zeros((slots, game.players), np.float32)  # by each agent since its last decision
        self._mover: Index = np.zeros(slots, np.intp)
        self._seen: npt.NDArray[Any] = np.zeros((slots, *spec.observation.shape), spec.observation.dtype)  # by movers
        self._legal = np.zeros((slots, spec.actions), np.bool_)

    def prepare(self) -> str:
        """Compile the game, unless this process has done it; return a line that says how long that took, or ""."""
        if self._program is not None:
            return ""
        began = time.perf_counter()
        bound_threads(os.environ)
        from collectors.envs.adapters.pgx_program import compile_program

        self._program = compile_program(self.spec.name, self.slots, self._game.deals)
        self._worlds = self._opening = self._program.fresh(self._keys.copy())
        seconds = time.perf_counter() - began
        return _told(self.spec.name, self.slots, seconds) if seconds >= 0.5 else ""

    def _reset(self, slots: Index, seeds: npt.NDArray[np.int64]) -> None:
        """Note which worlds begin. However often this is called in a tick, JAX is called once."""
        if not len(slots):
            return
        if told := self.prepare():
            log.info(told)
        self._starting[slots] = True
        self._unseen = True
        self._keys[slots] = keys_of(seeds)
        self._age[slots] = 0
        self._acted[slots] = False
        self._earned[slots] = 0

    def _look_at_openings(self) -> None:
        """Put what the first movers see in place of what was there."""
        assert self._program is not None
        assert self._opening is not None
        if self._game.deals:
            self._opening = self._program.fresh(self._keys.copy())  # a copy: JAX may go on reading what it got
        which = self._starting.nonzero()[0]
        self._seen, self._legal = self._seen.copy(), self._legal.copy()  # those of JAX cannot be written to
        self._seen[which] = np.asarray(self._opening.state[self._program.observation])[which]
        self._legal[which] = np.asarray(self._opening.state[self._program.legal])[which]
        self._mover[which] = 0
        self._unseen = False

    def rows(self) -> Rows:
        """Return the agent that moves in each slot."""
        if self._unseen:
            self._look_at_openings()
        slots = self._playing
        mover = self._mover[slots]
        return Rows(
            slot=slots.copy(),
            agent=mover,
            observation=self._seen.take(slots, axis=0).astype(self.spec.observation.dtype, copy=False),
            mask=self._legal.take(slots, axis=0),
            reward=self._earned[slots, mover],
            first=~self._acted[slots, mover],
        )

    def step(self, actions: IntArray) -> Ends:
        """Move in every slot that plays."""
        if self._unseen:
            self._look_at_openings()
        slots = self._playing
        moves = check_shape(self.spec.name, actions, len(slots))
        if not len(slots):
            return self._no_ends
        place = slots * self.spec.actions + moves
        if not in_range(moves, self.spec.actions) or np.count_nonzero(self._legal.take(place)) < len(slots):
            raise illegal(self.spec.name, moves, slots, self._legal[slots])
        mover = self._mover[slots]
        self._acted[slots, mover] = True
        self._earned[slots, mover] = 0
        ended = self._advance(slots, moves)
        self._age += 1
        if self._max_steps is not None:
            ended = ended | (self._age[slots] >= self._max_steps)
        return self._ends(slots[ended]) if np.count_nonzero(ended) else self._no_ends

    def _advance(self, slots: Index, moves: Index) -> BoolArray:
        """Step all worlds; return which of these slots ended."""
        assert self._program is not None
        assert self._worlds is not None
        assert self._opening is not None
        everywhere = np.zeros(self.slots, np.int32)
        everywhere[slots] = moves
        opening = self._opening if self._game.deals else self._keys.copy()
        self._worlds, after = self._program.step(self._worlds, opening, self._starting, everywhere)
        self._starting = np.zeros(self.slots, np.bool_)
        self._seen = np.asarray(self._worlds.state[self._program.observation])
        self._legal = np.asarray(self._worlds.state[self._program.legal])
        self._mover = np.asarray(after.mover).astype(np.intp)
        self._earned += np.asarray(after.reward)  # also in free slots: their next episode clears it
        return np.asarray(after.over)[slots]

    def _ends(self, over: Index) -> Ends:
        assert self._program is not None
        assert self._worlds is not None
        self._free(over)
        acted = self._acted[over]
        place, agent = acted.nonzero()
        slot = over[place]
        truncated = ~np.asarray(self._worlds.state[self._program.terminated])[slot]
        return Ends(
            slot=slot,
            agent=agent,
            reward=self._earned[slot, agent],
            truncated=truncated,
            observation=self._final(slot, agent, truncated),
            over=over,
            idle=() if acted.all() else self._idle(over, acted),
        )

    def _final(self, slot: Index, agent: Index, truncated: BoolArray) -> npt.NDArray[Any]:
        """Return what agents see at the end, where it is read: if their episode was truncated."""
        assert self._program is not None
        assert self._worlds is not None
        shape, dtype = self.spec.observation.shape, self.spec.observation.dtype
        if not truncated.any():
            return np.zeros((len(slot), *shape), dtype)
        views: npt.NDArray[Any] = np.asarray(self._program.views(self._worlds))[slot, agent]
        return views.astype(dtype, copy=False)

    def _idle(self, over: Index, acted: BoolArray) -> tuple[Idle, ...]:
        """Return the agents that were paid but never acted, e.g. because the first one folded at once."""
        place, agents = (~acted & (self._earned[over] != 0)).nonzero()
        return tuple(
            Idle(int(slot), int(agent), float(self._earned[slot, agent]))
            for slot, agent in zip(over[place], agents, strict=True)
        )

    def render(self, slot: int) -> str:
        """Return the stones of a board, `X` those of the first agent; of other games, what the mover sees."""
        if self._unseen:
            self._look_at_openings()
        seen, mover = self._seen[slot], int(self._mover[slot])
        if not self._game.stones:
            return f"{self.spec.agents[mover]} sees\n{np.array2string(seen.astype(np.float32), threshold=4096)}"
        stones = seen[..., 0] + 2 * seen[..., 1]
        signs = ".XO" if mover == 0 else ".OX"
        return "\n".join(" ".join(signs[stone] for stone in line) for line in stones.tolist())


def returns(id: str, seed: int, ticks: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Play these actions with Pgx alone, in one world without a batch; return the return of each agent."""
    bound_threads(os.environ)
    from collectors.envs.adapters.pgx_program import alone

    begin, step = alone(id)
    world, paid = begin(keys_of(np.array([seed]))[0]), np.zeros(GAMES[id].players)
    for tick in ticks:
        (action,) = tick.values()
        world, after = step(world, np.int32(action))
        paid += np.asarray(after.reward)
    return {f"player_{number}": float(one) for number, one in enumerate(paid)}
