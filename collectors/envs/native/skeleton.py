"""What all games in arrays share: which slots play, free slots, rows and END rows.

A game is a subclass that writes its own state into arrays with one place for each slot. `NativeGame` keeps the slots;
`SimultaneousGame` adds the rows of games in which every agent acts in every tick, for a fixed number of ticks.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, FloatArray, IntArray, Rows
from collectors.envs.slots import Index, check_shape, check_start, illegal, in_range
from league.spec import EnvSpec

Reward = npt.NDArray[np.float32 | np.float64]


class NativeGame(ABC):
    """The slots of a game: which of them play, how episodes begin, and how slots become free again."""

    def __init__(self, spec: EnvSpec, slots: int) -> None:
        self.spec, self.slots = spec, slots
        self._busy = np.zeros(slots, np.bool_)
        self._playing: Index = np.zeros(0, np.intp)  # the slots with an episode, in order
        self._agents: Index = np.tile(np.arange(len(spec.agents), dtype=np.intp), slots)  # of all slots, in line
        self._no_ends = _no_ends(spec)

    @property
    def active(self) -> bool:
        """Whether any slot plays an episode."""
        return len(self._playing) > 0

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots, with its own seed."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        self._reset(index, seeds)
        self._busy[index] = True
        self._playing = self._busy.nonzero()[0]

    @abstractmethod
    def _reset(self, slots: Index, seeds: npt.NDArray[np.int64]) -> None:
        """Put these slots at the start of an episode."""

    def _free(self, over: Index) -> None:
        """Free the slots whose episodes are over."""
        self._busy[over] = False
        self._playing = self._busy.nonzero()[0]

    def close(self) -> None:  # noqa: B027  (games have nothing to release)
        """Release nothing: a game holds only its arrays."""


class SimultaneousGame(NativeGame):
    """A game in which every agent acts in every tick, any action is legal, and an episode lasts `length` ticks.

    The end is a truncation if `truncates`: the game would go on, and only its length ends it.
    """

    def __init__(self, spec: EnvSpec, slots: int, length: int, truncates: bool) -> None:
        super().__init__(spec, slots)
        self._length, self._truncates = length, truncates
        self._agent_count = len(spec.agents)
        self._age = np.zeros(slots, np.intp)  # ticks since the episode began
        self._reward = np.zeros((slots, self._agent_count), np.float32)  # of each agent for its last action

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots, with its own seed."""
        super().start(slots, seeds)
        self._age[slots] = 0
        self._reward[slots] = 0

    def rows(self) -> Rows:
        """Return all agents of every slot that plays."""
        slots = self._playing
        observation = self._observe(slots)
        return Rows(
            slot=slots.repeat(self._agent_count),
            agent=self._agents[: len(observation)].copy(),
            observation=observation,
            mask=np.ones((len(observation), self.spec.actions), np.bool_),
            reward=self._reward[slots].reshape(-1),
            first=(self._age[slots] == 0).repeat(self._agent_count),
            state=self._state(observation),
        )

    def step(self, actions: IntArray) -> Ends:
        """Take the actions of all agents in every slot that plays."""
        slots = self._playing
        chosen = check_shape(self.spec.name, actions, len(slots) * self._agent_count)
        if not in_range(chosen, self.spec.actions):
            legal = np.ones((len(chosen), self.spec.actions), np.bool_)
            raise illegal(self.spec.name, chosen, slots.repeat(self._agent_count), legal)
        self._reward[slots] = self._advance(slots, chosen.reshape(len(slots), self._agent_count))
        age = self._age[slots] + 1
        self._age[slots] = age
        over = slots[age >= self._length]
        return self._ends(over) if len(over) else self._no_ends

    def _ends(self, over: Index) -> Ends:
        self._free(over)
        observation = self._observe(over)
        return Ends(
            slot=over.repeat(self._agent_count),
            agent=self._agents[: len(observation)].copy(),
            reward=self._reward[over].reshape(-1),
            truncated=np.full(len(observation), self._truncates),
            observation=observation,
            over=over,
            state=self._state(observation),
        )

    @abstractmethod
    def _observe(self, slots: Index) -> FloatArray:
        """Return what the agents of these slots see, slot by slot: [slots * agents, *observation]."""

    @abstractmethod
    def _advance(self, slots: Index, actions: Index) -> Reward:
        """Take the actions [slots, agents]; return the reward of each agent."""

    def _state(self, observation: FloatArray) -> FloatArray | None:
        """Return the observations of all agents of a slot as its state, for each of its rows."""
        if self.spec.state is None:
            return None
        return observation.reshape(-1, self.spec.state.size).repeat(self._agent_count, axis=0)


def _no_ends(spec: EnvSpec) -> Ends:
    """Return the END rows of a tick in which no episode ends."""
    none: npt.NDArray[Any] = np.zeros((0, *spec.observation.shape), spec.observation.dtype)
    return Ends(
        slot=np.zeros(0, np.intp),
        agent=np.zeros(0, np.intp),
        reward=np.zeros(0, np.float32),
        truncated=np.zeros(0, np.bool_),
        observation=none,
        over=np.zeros(0, np.intp),
        state=None if spec.state is None else np.zeros((0, *spec.state.shape), spec.state.dtype),
    )
