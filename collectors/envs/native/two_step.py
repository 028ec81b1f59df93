"""The two-step game of the QMIX paper (Rashid et al. 2018): a team of two that has to trust a mate to earn more.

In the first step only the first agent's choice counts: 0 leads to a room in which any two choices pay 7, and 1 leads to
one that pays 8 if both choose 1, 1 if one of them does, and 0 else. What a choice is worth there depends on the mate's,
which a sum of two values cannot say: whoever adds values up, or learns alone, finds the first room better.
"""

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, FloatArray, IntArray, Rows
from collectors.envs.slots import Index, check_actions, check_start
from league.spec import Array, EnvSpec, Seat

PAYOFF = np.array([[[7, 7], [7, 7]], [[0, 1], [1, 8]]], np.float32)  # of each room, for both choices
FIRST = 0  # where an episode begins; the rooms are 1 and 2


class TwoStep:
    """The two-step game as an `Environment`: both agents act in every tick, see where they are, and are paid alike.

    >>> env = TwoStep(slots=1)
    >>> env.start(np.arange(1, dtype=np.int32), np.arange(1))
    >>> _ = env.step(np.array([1, 0], np.int32))
    >>> env.step(np.array([1, 1], np.int32)).reward.tolist()
    [8.0, 8.0]
    """

    spec = EnvSpec(
        name="two_step",
        agents=("player_0", "player_1"),
        seats=(Seat(agents=(0, 1)),),
        observation=Array(shape=(3,), dtype="float32"),
        actions=2,
    )

    def __init__(self, slots: int = 256) -> None:
        self.slots = slots
        self._room = np.zeros(slots, np.intp)
        self._busy = np.zeros(slots, np.bool_)

    @property
    def active(self) -> bool:
        """Whether any slot plays an episode."""
        return bool(self._busy.any())

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots; all begin alike, whatever the seed."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        self._room[index] = FIRST
        self._busy[index] = True

    def rows(self) -> Rows:
        """Return both agents of every slot that plays."""
        slots = np.flatnonzero(self._busy)
        count = 2 * len(slots)
        return Rows(
            slot=slots.repeat(2),
            agent=np.tile(np.array([0, 1], np.intp), len(slots)),
            observation=self._views(slots).repeat(2, axis=0),
            mask=np.ones((count, 2), np.bool_),
            reward=np.zeros(count, np.float32),
            first=(self._room[slots] == FIRST).repeat(2),
        )

    def _views(self, slots: Index) -> FloatArray:
        return np.eye(3, dtype=np.float32)[self._room[slots]]

    def step(self, actions: IntArray) -> Ends:
        """Go into a room, or be paid for what both chose in it."""
        slots = np.flatnonzero(self._busy)
        legal = np.ones((2 * len(slots), 2), np.bool_)
        chosen = check_actions(self.spec.name, actions, slots.repeat(2), legal).reshape(-1, 2)
        done = self._room[slots] != FIRST
        over, moved = slots[done], slots[~done]
        paid = PAYOFF[self._room[over] - 1, chosen[done, 0], chosen[done, 1]]
        self._busy[over] = False
        self._room[moved] = 1 + chosen[~done, 0]
        return Ends(
            slot=over.repeat(2),
            agent=np.tile(np.array([0, 1], np.intp), len(over)),
            reward=paid.repeat(2),
            truncated=np.zeros(2 * len(over), np.bool_),
            observation=self._views(over).repeat(2, axis=0),
            over=over,
        )

    def render(self, slot: int) -> str:
        """Return where the team is."""
        return ("at the start", "in the room that pays 7", "in the room that pays up to 8")[int(self._room[slot])]

    def close(self) -> None:
        """Nothing is held."""
