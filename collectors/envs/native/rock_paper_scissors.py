"""Repeated rock-paper-scissors, many games at once: what PettingZoo's rps_v2 plays, both agents in one tick.

An agent sees the other's last action as a one-hot vector (the last place means: none yet). Nothing ends the
game but its length, so the end is a truncation.
"""

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, FloatArray, IntArray, Rows
from collectors.envs.slots import Index, check_actions, check_start
from league.spec import Array, EnvSpec, Seat

NAMES = ("ROCK", "PAPER", "SCISSORS", "SPOCK", "LIZARD")


def _spec(actions: int) -> EnvSpec:
    return EnvSpec(
        name="rock_paper_scissors",
        agents=("player_0", "player_1"),
        seats=(Seat(agents=(0,)), Seat(agents=(1,))),
        observation=Array(shape=(actions + 1,), dtype="float32"),
        actions=actions,
    )


def payoffs(actions: int) -> FloatArray:
    """Return the first agent's reward for each pair of actions.

    Of two actions of the same parity the lower wins, else the higher.

    >>> payoffs(3).tolist()
    [[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]
    """
    own, other = np.indices((actions, actions))
    higher_wins = np.where((own + other) % 2 == 0, -1, 1)
    return np.asarray(np.sign(own - other) * higher_wins, dtype=np.float32)


class RockPaperScissors:
    """Rock-paper-scissors as an `Environment`: two rows for each slot in every tick.

    >>> env = RockPaperScissors(slots=4, max_cycles=15)
    >>> env.start(np.arange(4, dtype=np.int32), np.arange(4))
    >>> len(env.rows())
    8
    """

    def __init__(self, slots: int = 256, num_actions: int = 3, max_cycles: int = 15) -> None:
        if num_actions < 3 or num_actions % 2 == 0:
            raise ValueError(f"rock_paper_scissors: num_actions must be odd and at least 3, got {num_actions}")
        if max_cycles < 1:
            raise ValueError(f"rock_paper_scissors: max_cycles must be at least 1, got {max_cycles}")
        self.spec = _spec(num_actions)
        self.slots = slots
        self._max_cycles = max_cycles
        self._payoffs = payoffs(num_actions)
        self._one_hot = np.eye(num_actions + 1, dtype=np.float32)
        self._last = np.full((slots, 2), num_actions, dtype=np.intp)  # each agent's last action
        self._reward = np.zeros((slots, 2), dtype=np.float32)
        self._cycle = np.zeros(slots, dtype=np.intp)
        self._busy = np.zeros(slots, dtype=np.bool_)
        self._playing: Index = np.zeros(0, dtype=np.intp)

    @property
    def active(self) -> bool:
        """Whether any slot plays an episode."""
        return len(self._playing) > 0

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots; nothing here is random, so seeds change nothing."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        self._last[index] = self.spec.actions
        self._reward[index] = 0
        self._cycle[index] = 0
        self._busy[index] = True
        self._playing = np.flatnonzero(self._busy)

    def rows(self) -> Rows:
        """Return both agents of every slot that plays."""
        slots = self._playing
        return Rows(
            slot=np.repeat(slots, 2),
            agent=np.tile(np.array([0, 1], dtype=np.intp), len(slots)),
            observation=self._views(slots),
            mask=np.ones((2 * len(slots), self.spec.actions), dtype=np.bool_),
            reward=self._reward[slots].reshape(-1),
            first=np.repeat(self._cycle[slots] == 0, 2),
        )

    def _views(self, slots: Index) -> FloatArray:
        return self._one_hot[self._last[slots, ::-1].reshape(-1)]

    def step(self, actions: IntArray) -> Ends:
        """Play one round in every slot that plays."""
        slots = self._playing
        legal = np.ones((2 * len(slots), self.spec.actions), dtype=np.bool_)
        moves = check_actions(self.spec.name, actions, np.repeat(slots, 2), legal).reshape(-1, 2)
        self._last[slots] = moves
        won = self._payoffs[moves[:, 0], moves[:, 1]]
        self._reward[slots, 0] = won
        self._reward[slots, 1] = 0 - won  # not -won: a draw is 0, not -0
        self._cycle[slots] += 1
        return self._ends(slots[self._cycle[slots] >= self._max_cycles])

    def _ends(self, over: Index) -> Ends:
        if len(over):
            self._busy[over] = False
            self._playing = np.flatnonzero(self._busy)
        return Ends(
            slot=np.repeat(over, 2),
            agent=np.tile(np.array([0, 1], dtype=np.intp), len(over)),
            reward=self._reward[over].reshape(-1),
            truncated=np.ones(2 * len(over), dtype=np.bool_),
            observation=self._views(over),
            over=over,
        )

    def render(self, slot: int) -> str:
        """Return the last round as text."""
        names = [*NAMES, *(f"ACTION_{number}" for number in range(6, self.spec.actions + 1))]
        names[self.spec.actions :] = ["none"]
        first, second = (names[action] for action in self._last[slot])
        return f"round {self._cycle[slot]}: {first} v {second}"

    def close(self) -> None:
        """Nothing is held."""
