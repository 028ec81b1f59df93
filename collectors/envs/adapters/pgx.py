"""Games of Pgx, a batched simulator: JAX steps the worlds of all slots at once, without a loop over them.

env = make(slots=256, id="go_9x9")
env = make(slots=256, id="chess", kwargs={"max_steps": 200, "device": "gpu:1"})
env = make(slots=256, id="go_19x19", kwargs={"threads": 2})

Each process compiles a game for its number of slots before it plays, which takes seconds; `prepare` does it now, else
the first `start` does. Only processes that play import JAX.

Agent 0 moves first. Episodes end as Pgx ends them (Go, chess and shogi after a fixed number of moves);
`env.max_steps` truncates them earlier. `env.kwargs.device` chooses where JAX computes; otherwise JAX does.
"""

import importlib.util
import logging
import os
import time
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from collectors.envs.adapters.pgx_arrays import ACTED, EARNED, FIRST, LATE, MOVER, OVER, REWARD
from collectors.envs.adapters.pgx_batch import PgxBatch, parts_of
from collectors.envs.adapters.pgx_games import (
    GAMES,
    PgxGame,
    find_device,
    find_game,
    find_limit,
    find_threads,
    make_spec,
)
from collectors.envs.native.skeleton import NativeGame
from collectors.envs.rows import BoolArray, Ends, Idle, IntArray, Rows
from collectors.envs.slots import Index, check_shape, illegal, in_range
from league.spec import EnvSpec

log = logging.getLogger("ludus.collector")

SHARING = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # else JAX takes three quarters of a GPU, and the next process fails
}
"""Settings of JAX for a process that is not alone on a machine."""


FEWEST = 8  # worlds that a game is compiled for: trials and checks, which have one to eight slots, compile it once


def make(slots: int, id: str = "", kwargs: Mapping[str, Any] | None = None, **options: Any) -> "PgxRows":
    """Return a batch of slots of the game that `id` names; see the module's docstring."""
    game = find_game(id)
    for package in ("pgx", "jax"):
        if importlib.util.find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}")
    given = kwargs or {}
    computing = Computing(find_limit(game, given), find_device(given), find_threads(given))
    return PgxRows(make_spec(id, game, **options), game, slots, computing)


def share_machine(environment: MutableMapping[str, str], threads: int = 1) -> None:
    """Bound the threads of JAX, which reads this once in a process; what the user has set stays."""
    for name, value in (SHARING | {"NPROC": str(threads)}).items():
        environment.setdefault(name, value)


def keys_of(seeds: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """Return the key of each seed for JAX: all of its 64 bits count.

    >>> keys_of(np.array([1, 2**32 + 5])).tolist()
    [[0, 1], [1, 5]]
    """
    return np.asarray(seeds, "<i8").view("<u4").reshape(-1, 2)[:, ::-1]


def _told(id: str, slots: int, seconds: float) -> str:
    return f"compiling {id} for {slots} {'slot' if slots == 1 else 'slots'}: {seconds:.0f} s"


class Computing(NamedTuple):
    """How JAX plays a game."""

    max_steps: int | None
    device: str  # "": as JAX chooses
    threads: int  # on a CPU


class PgxRows(NativeGame):
    """An `Environment` of Pgx games: a slot is a world. Rows are read in place from the arrays of JAX."""

    def __init__(self, spec: EnvSpec, game: PgxGame, slots: int, computing: Computing) -> None:
        super().__init__(spec, slots)
        self._game, self._computing = game, computing
        self._width = max(slots, FEWEST)  # how many worlds there are; nobody plays in those beyond the slots
        self._batch: PgxBatch | None = None  # until the game is compiled
        self._observation: npt.NDArray[Any] = np.zeros((0, *spec.observation.shape), spec.observation.dtype)
        self._legal = np.zeros((0, spec.actions), np.bool_)
        self._marks = np.zeros((ACTED, self._width), np.int8)  # also before the first start, where there are no rows
        self._numbers = np.zeros((EARNED, self._width), np.float32)
        self._starting = np.zeros(self._width, np.bool_)  # in games with chance: the next look begins these
        self._begun = True  # whether there are none of these
        self._keys = np.zeros((self._width, 2), np.uint32)

    def prepare(self) -> str:
        """Compile the game, unless this process has done it; return a line that says how long that took, or ""."""
        if self._batch is not None:
            return ""
        began = time.perf_counter()
        max_steps, device, threads = self._computing
        share_machine(os.environ, threads)
        from collectors.envs.adapters.pgx_program import PgxOrder, compile_program, on_cpu

        game, dtype = self._game, self.spec.observation.dtype
        parts = parts_of(self._width, game.at_once if on_cpu(device) else None)
        worlds = self._width // parts
        order = PgxOrder(self.spec.name, worlds, game.chance, dtype, max_steps, device, game.may_be_over)
        self._batch = PgxBatch(compile_program(order), parts)
        self._look(self._batch)
        seconds = time.perf_counter() - began
        return _told(self.spec.name, self.slots, seconds) if seconds >= 0.5 else ""

    def _look(self, batch: PgxBatch) -> None:
        self._observation, self._legal = batch.observation, batch.legal
        self._marks, self._numbers = batch.marks, batch.numbers

    def _reset(self, slots: Index, seeds: npt.NDArray[np.int64]) -> None:
        """Note which worlds begin; however often this is called in a tick, JAX is called once.

        Without chance there is nothing to do: free worlds stand at the start of an episode.
        """
        if not len(slots):
            return
        if self._batch is None and (told := self.prepare()):
            log.info(told)
        if self._game.chance:
            self._starting[slots] = True
            self._begun = False
            self._keys[slots] = keys_of(seeds)

    def _begin(self) -> None:
        """Begin the episodes that were noted."""
        assert self._batch is not None
        self._batch.begin(self._starting, self._keys.copy())
        self._look(self._batch)
        self._starting, self._begun = np.zeros(self._width, np.bool_), True

    def rows(self) -> Rows:
        """Return the agent that moves in each slot."""
        if not self._begun:
            self._begin()
        slots, marks = self._playing, self._marks
        if len(slots) == self._width:
            return Rows(
                slot=slots.copy(),
                agent=marks[MOVER].astype(np.intp),
                observation=self._observation,
                mask=self._legal,
                reward=self._numbers[REWARD],
                first=marks[FIRST].view(np.bool_),
            )
        return Rows(
            slot=slots.copy(),
            agent=marks[MOVER].take(slots).astype(np.intp),
            observation=self._observation.take(slots, axis=0),
            mask=self._legal.take(slots, axis=0),
            reward=self._numbers[REWARD].take(slots),
            first=marks[FIRST].view(np.bool_).take(slots),
        )

    def step(self, actions: IntArray) -> Ends:
        """Move in every slot that plays."""
        if not self._begun:
            self._begin()
        slots = self._playing
        moves = check_shape(self.spec.name, actions, len(slots))
        if not len(slots):
            return self._no_ends
        place = slots * self.spec.actions + moves
        if not in_range(moves, self.spec.actions) or np.count_nonzero(self._legal.take(place)) < len(slots):
            raise illegal(self.spec.name, moves, slots, self._legal[slots])
        assert self._batch is not None
        everywhere = np.full(self._width, -1, np.int32)
        everywhere[slots] = moves
        self._batch.step(everywhere)
        self._look(self._batch)
        over = slots[self._marks[OVER].view(np.bool_).take(slots)]
        return self._ends(over) if len(over) else self._no_ends

    def _ends(self, over: Index) -> Ends:
        self._free(over)
        acted, earned = self._marks[ACTED:, over].view(np.bool_).T, self._numbers[EARNED:, over].T
        all_acted = acted.all()
        if all_acted:
            slot, agent, reward = over.repeat(acted.shape[1]), self._agents[: acted.size].copy(), earned.reshape(-1)
        else:
            place, agent = acted.nonzero()
            slot, reward = over[place], earned[place, agent]
        late = self._marks[LATE].view(np.bool_).take(slot)
        return Ends(
            slot=slot,
            agent=agent,
            reward=reward,
            truncated=late,
            observation=self._final(slot, agent, late),
            over=over,
            idle=() if all_acted else _idle(over, acted, earned),
        )

    def _final(self, slot: Index, agent: Index, late: BoolArray) -> npt.NDArray[Any]:
        """Return what agents see at the end, where it is read: if their episode was truncated."""
        if not np.count_nonzero(late):
            return np.zeros((len(slot), *self.spec.observation.shape), self.spec.observation.dtype)
        assert self._batch is not None
        return self._batch.views()[slot, agent]

    def render(self, slot: int) -> str:
        """Return the stones of a board, `X` those of the first agent; of other games, what the mover sees."""
        if not self._begun:
            self._begin()
        seen, mover = self._observation[slot], int(self._marks[MOVER, slot])
        if not self._game.stones:
            return f"{self.spec.agents[mover]} sees\n{np.array2string(seen.astype(np.float32), threshold=4096)}"
        stones = seen[..., 0] + 2 * seen[..., 1]
        signs = ".XO" if mover == 0 else ".OX"
        return "\n".join(" ".join(signs[stone] for stone in line) for line in stones.tolist())


def _idle(over: Index, acted: BoolArray, earned: npt.NDArray[np.float32]) -> tuple[Idle, ...]:
    """Return the agents that were paid but never acted, e.g. because the first one folded at once."""
    place, agents = (~acted & (earned != 0)).nonzero()
    return tuple(
        Idle(int(over[one]), int(agent), float(earned[one, agent])) for one, agent in zip(place, agents, strict=True)
    )


def returns(id: str, seed: int, ticks: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Play these actions with Pgx alone, in one world without a batch; return the return of each agent."""
    share_machine(os.environ)
    from collectors.envs.adapters.pgx_program import alone

    begin, step = alone(id)
    key, paid = keys_of(np.array([seed]))[0], np.zeros(GAMES[id].players)
    world = begin(key)
    first = int(world.current_player)
    for number, tick in enumerate(ticks, start=1):
        (action,) = tick.values()
        world = step(world, np.int32(action), key, np.int32(number))
        paid += np.asarray(world.rewards)
    return {f"player_{number}": float(one) for number, one in enumerate(np.roll(paid, -first))}
