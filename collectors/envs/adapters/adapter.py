"""A batch of slots, each with an environment of its own. A failure in one slot does not touch the others."""

import logging
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.adapters.action_spaces import Play
from collectors.envs.adapters.compat import compat_remedy
from collectors.envs.adapters.observation_spaces import BrokenError, Read
from collectors.envs.adapters.row_buffer import RowBuffer
from collectors.envs.adapters.slot_writer import Game, SlotWriter
from collectors.envs.build_pace import BuildPace
from collectors.envs.output import EnvOutput
from collectors.envs.rows import BuildTold, Ends, IntArray, Rows
from collectors.envs.slots import Index, check_actions, check_parts, check_start
from league.agent_spaces import AgentSpaces, plain_spaces
from league.errors import message_of
from league.spec import EnvSpec

log = logging.getLogger("ludus.collector")


@dataclass(frozen=True, slots=True)
class Blueprint:
    """What all slots share: the spec, the kind of game, and how to read observations and pass on actions."""

    spec: EnvSpec
    game: Callable[[Any, SlotWriter], Game]
    readers: Mapping[str, Read]
    plays: Mapping[str, Play]
    fresh: bool = False  # rebuild the environment for each episode: its reset is incomplete
    output: EnvOutput = field(default_factory=EnvOutput)  # catches what the environment prints
    max_steps: int = 0  # steps after which an episode is truncated; 0: the environment itself ends it
    spaces: Mapping[str, AgentSpaces] | None = None  # as data; None: observations are the rows themselves
    guesses: tuple[str, ...] = ()  # what was guessed about seats and sides, why, and what changes it


class Adapter:
    """An `Environment` made of single environments, each built when its slot is first started."""

    def __init__(self, blueprint: Blueprint, build: Callable[[], Any], slots: int, first: Any = None) -> None:
        self.spec = blueprint.spec
        self.slots = slots
        self._blueprint = blueprint
        self._build = build
        self._spare = first  # the environment whose spaces were read serves the first slot
        self._buffer = RowBuffer(blueprint.spec, slots)
        self._games: dict[int, Game] = {}
        self._busy = np.zeros(slots, dtype=np.bool_)
        self._steps = np.zeros(slots, dtype=np.intp)  # of each slot's episode; only counted if there is a limit
        self._index: Index | None = None  # of the rows that `rows` returned last

    @property
    def active(self) -> bool:
        """Whether any slot plays an episode, or broke and has not reported it yet."""
        return bool(self._busy.any())

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots; the next `step` reports slots that failed."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        with self._blueprint.output:
            self._begin(index, seeds)
        if len(index):
            self._steps[index] = 0
            self._drop_faulty()
            self._index = None

    def _begin(self, index: Index, seeds: npt.NDArray[np.int64]) -> None:
        for slot, seed in zip(index.tolist(), np.asarray(seeds).tolist(), strict=True):
            self._busy[slot] = True
            try:
                game = self._game(slot)
                game.begin(seed)
                game.look()
            except Exception as error:
                self._buffer.pending.faults[slot] = _reason(self.spec.name, "reset", error)

    def rows(self) -> Rows:
        """Return the rows of all agents that must act now."""
        self._index = self._buffer.index()
        return self._buffer.rows(self._index)

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take one action for each row, slot by slot."""
        buffer = self._buffer
        index = buffer.index() if self._index is None else self._index
        slot = index // len(self.spec.agents)
        moves = self._check(actions, slot, buffer.masks(index))
        buffer.act(index)
        with self._blueprint.output:
            self._move(slot, moves)
        self._drop_faulty()
        self._index = None
        if news := self._blueprint.output.news():
            log.info("the environment %s: %s", self.spec.name, news)
        return self._take_ends()

    def _move(self, slot: Index, moves: Sequence[Any]) -> None:
        """Act in each of these slots, then look at each."""
        buffer, moved = self._buffer, []
        for one, parts in _by_slot(slot, moves):
            try:
                game = self._games[one]
                game.act(parts)
                moved.append((one, game))
            except Exception as error:
                buffer.pending.faults[one] = _reason(self.spec.name, "step", error)
        for one, game in moved:
            try:
                game.look()
            except Exception as error:
                buffer.pending.faults[one] = _reason(self.spec.name, "step", error)
        if self._blueprint.max_steps:
            self._cut(moved)

    def _check(self, actions: npt.NDArray[Any], slot: Index, legal: npt.NDArray[np.bool_]) -> Sequence[Any]:
        if self.spec.single:
            moves: list[int] = check_actions(self.spec.name, actions, slot, legal).tolist()
            return moves
        return list(check_parts(self.spec, actions, slot, legal))

    def _cut(self, moved: Iterable[tuple[int, Game]]) -> None:
        """Truncate the episodes that have reached the limit; the next observation of each agent is its final one."""
        pending = self._buffer.pending
        for slot, game in moved:
            self._steps[slot] += 1
            if self._steps[slot] < self._blueprint.max_steps or slot in pending.faults or slot in pending.over:
                continue
            try:
                game.cut()
            except Exception as error:
                pending.faults[slot] = _reason(self.spec.name, "observe", error)
            self._buffer.ready[slot] = False

    def _take_ends(self) -> Ends:
        ends = self._buffer.take_ends()
        self._busy[ends.over] = False
        for fault in ends.faults:
            self._busy[fault.slot] = False
        return ends

    def _drop_faulty(self) -> None:
        """Find the slots that broke; they have no rows, and their environments are rebuilt for the next episode."""
        self._buffer.find_faults()
        for slot in self._buffer.pending.faults:
            self._buffer.ready[slot] = False
            self._drop(slot)

    def _drop(self, slot: int) -> None:
        """Drop the environment of a slot; errors of its close() do not matter."""
        game = self._games.pop(slot, None)
        if game is not None:
            with suppress(Exception):
                game.env.close()

    def build_slots(self, tell: BuildTold) -> float:
        """Build an environment for every slot; one that fails is a fault of its slot when that is started."""
        if self._blueprint.fresh:
            return 0.0
        pace = BuildPace(self.slots, tell)
        for slot in range(self.slots):
            with self._blueprint.output, suppress(Exception):
                self._game(slot)
            pace.built()
        return pace.seconds

    def _game(self, slot: int) -> Game:
        if self._blueprint.fresh:
            self._drop(slot)
        game = self._games.get(slot)
        if game is None:
            env, self._spare = self._build() if self._spare is None else self._spare, None
            plan = self._blueprint
            game = plan.game(env, SlotWriter(self._buffer, slot, plan.readers, plan.plays))
            self._games[slot] = game
        return game

    def render(self, slot: int) -> str:
        """Return the environment's own text if it has one, else the observation of each agent that must act."""
        game = self._games.get(slot)
        if game is not None and (text := game.render()):
            return text
        agents = np.flatnonzero(self._buffer.ready[slot]).tolist()
        seen = [(self.spec.agents[agent], self._buffer.observation[slot, agent]) for agent in agents]
        return "\n".join(f"{agent} sees\n{board(array) or array}" for agent, array in seen)

    @property
    def spaces(self) -> Mapping[str, AgentSpaces]:
        """The spaces of each agent."""
        return plain_spaces(self.spec) if self._blueprint.spaces is None else self._blueprint.spaces

    @property
    def guesses(self) -> tuple[str, ...]:
        """What was guessed about seats and sides."""
        return self._blueprint.guesses

    @property
    def render_modes(self) -> tuple[str, ...]:
        """The render modes that the environment lists."""
        env = next((game.env for game in self._games.values()), self._spare)
        return tuple(getattr(env, "metadata", {}).get("render_modes") or ())

    def infos(self, slot: int) -> dict[str, Mapping[str, Any]]:
        """Return the last info of each agent of the episode that ended in a slot."""
        return self._games[slot].writer.infos

    def picture(self, slot: int) -> npt.NDArray[Any] | None:
        """Return the environment's own picture, [height, width, 3]; None if it renders none."""
        game = self._games.get(slot)
        if game is None or getattr(game.env, "render_mode", None) != "rgb_array":
            return None
        # A wrapper may not know that the environment inside was reset.
        picture = np.asarray(game.env.unwrapped.render())
        return picture if picture.ndim == 3 and picture.dtype.kind in "iu" else None

    def close(self) -> None:
        """Close every environment."""
        with self._blueprint.output:
            for env in [self._spare, *(game.env for game in self._games.values())]:
                if env is not None:
                    env.close()
        self._spare = None
        self._games = {}


def _by_slot(slot: Index, moves: Sequence[Any]) -> Iterable[tuple[int, Sequence[Any]]]:
    """Return each slot with the moves of its agents; rows are in the order of slots.

    >>> list(_by_slot(np.array([0, 0, 2]), [4, 5, 6]))
    [(0, [4, 5]), (2, [6])]
    """
    slots = slot.tolist()
    begins = (slot[1:] != slot[:-1]).nonzero()[0]
    if len(begins) >= len(slots) - 1:  # one agent acts at a time
        return zip(slots, zip(moves, strict=True), strict=True)
    cuts = [0, *(begins + 1).tolist(), len(slots)]
    return [(slots[begin], moves[begin:end]) for begin, end in pairwise(cuts)]


def board(seen: npt.NDArray[Any]) -> str:
    """Return an observation of two planes of zeros and ones as a board, x for the first plane, and "" for any other.

    >>> print(board(np.array([[[0, 0], [1, 0]], [[0, 1], [0, 0]]])))
    . x
    o .
    """
    if seen.ndim != 3 or seen.shape[2] != 2 or not np.isin(seen, (0, 1)).all() or (seen.sum(axis=2) > 1).any():
        return ""
    cells = np.array([".", "x", "o"])[(seen != 0) @ np.array([1, 2])]
    return "\n".join(" ".join(line) for line in cells.tolist())


def _reason(name: str, doing: str, error: Exception) -> str:
    """Return what broke, and where in the environment's code."""
    said = message_of(error)
    if isinstance(error, BrokenError):
        return f"{name}: {said}"
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    remedy = compat_remedy(error)
    return f"{name}: {doing} raised {type(error).__name__}{said and f': {said}'} ({where}){remedy and f'. {remedy}'}"
