"""The two-step game of the QMIX paper (Rashid et al. 2018): a team of two earns more if each can rely on the other.

In the first step only the first agent's choice counts: 0 leads to a room in which any two choices pay 7, and 1 leads to
one that pays 8 if both choose 1, 1 if one of them does, and 0 else. The value of a choice there depends on the
partner's choice, which a sum of two values cannot express: a learner that adds values, or trains each agent alone,
prefers the first room.
"""

import numpy as np
import numpy.typing as npt

from collectors.envs.native.skeleton import Reward, SimultaneousGame
from collectors.envs.rows import FloatArray
from collectors.envs.slots import Index
from league.spec import Array, EnvSpec, Seat

PAYOFF = np.array([[[7, 7], [7, 7]], [[0, 1], [1, 8]]], np.float32)  # of each room, for both choices
FIRST = 0  # where an episode begins; the rooms are 1 and 2
SPEC = EnvSpec(
    name="two_step",
    agents=("player_0", "player_1"),
    seats=(Seat(agents=(0, 1)),),
    observation=Array(shape=(3,), dtype="float32"),
    actions=2,
)


class TwoStep(SimultaneousGame):
    """The two-step game as an `Environment`: both agents act in every tick, see their room, and get the same reward.

    >>> env = TwoStep(slots=1)
    >>> env.start(np.arange(1, dtype=np.int32), np.arange(1))
    >>> _ = env.step(np.array([1, 0], np.int32))
    >>> env.step(np.array([1, 1], np.int32)).reward.tolist()
    [8.0, 8.0]
    """

    def __init__(self, slots: int = 256) -> None:
        super().__init__(SPEC, slots, length=2, truncates=False)
        self._room = np.zeros(slots, np.intp)

    def _reset(self, slots: Index, seeds: npt.NDArray[np.int64]) -> None:
        """Put the team at the start; all episodes begin alike, whatever the seed."""
        self._room[slots] = FIRST

    def _observe(self, slots: Index) -> FloatArray:
        return np.eye(3, dtype=np.float32)[self._room[slots]].repeat(2, axis=0)

    def _advance(self, slots: Index, actions: Index) -> Reward:
        """Go into a room, or pay for the two choices made in it."""
        room = self._room[slots]
        starts = room == FIRST
        self._room[slots[starts]] = 1 + actions[starts, 0]
        paid = np.where(starts, np.float32(0), PAYOFF[room - 1, actions[:, 0], actions[:, 1]])
        return paid[:, None].repeat(2, axis=1)

    def render(self, slot: int) -> str:
        """Return where the team is."""
        return ("at the start", "in the room that pays 7", "in the room that pays up to 8")[int(self._room[slot])]
