"""The disc game, many games at once: one simultaneous move with a transitive and a cyclic part.

An action is a level and an angle. A higher level is always better, by a little; between angles there is a cycle, as in
rock-paper-scissors: each beats those behind it on the circle and loses to those ahead. The only equilibrium plays the
highest level and every angle equally often. A learner that follows the cycle climbs and then goes round for ever.
"""

import numpy as np
import numpy.typing as npt

from collectors.envs.native.skeleton import Reward, SimultaneousGame
from collectors.envs.rows import FloatArray
from collectors.envs.slots import Index
from league.spec import Array, EnvSpec, Seat


def _spec(actions: int, largest: float) -> EnvSpec:
    return EnvSpec(
        name="disc",
        agents=("player_0", "player_1"),
        seats=(Seat(agents=(0,)), Seat(agents=(1,))),
        observation=Array(shape=(1,), dtype="float32"),
        actions=actions,
        returns=(-largest, largest),
    )


def disc_payoffs(levels: int, angles: int, transitive: float) -> FloatArray:
    """Return the first agent's reward for each pair of actions; action a has level a // angles and angle a % angles.

    >>> disc_payoffs(levels=2, angles=3, transitive=1.0)[:, 0].tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    >>> disc_payoffs(levels=1, angles=3, transitive=0.0)[:, 0].round(3).tolist()
    [0.0, 0.8659999966621399, -0.8659999966621399]
    """
    level, angle = np.divmod(np.arange(levels * angles), angles)
    ahead = (level[:, None] - level[None, :]) / max(levels - 1, 1)
    turned = np.sin(2 * np.pi * (angle[:, None] - angle[None, :]) / angles)
    table = np.asarray(transitive * ahead + (1 - transitive) * turned, dtype=np.float32)
    return np.float32(0.5) * (table - table.T)  # rounding must not make it a game that is not zero-sum


class DiscGame(SimultaneousGame):
    """The disc game as an `Environment`: two rows for each slot, and one tick an episode.

    >>> env = DiscGame(slots=4)
    >>> env.start(np.arange(4, dtype=np.int32), np.arange(4))
    >>> len(env.rows()), env.spec.actions
    (8, 15)
    """

    shows_positions = True

    def __init__(self, slots: int = 256, levels: int = 3, angles: int = 5, transitive: float = 0.5) -> None:
        if levels < 1 or angles < 3 or angles % 2 == 0:
            raise ValueError(
                f"disc: levels must be at least 1, and angles odd and at least 3; got {levels} and {angles}"
            )
        if not 0 <= transitive <= 1:
            raise ValueError(f"disc: transitive must lie between 0 and 1, got {transitive}")
        self._payoffs = disc_payoffs(levels, angles, transitive)
        largest = float(np.abs(self._payoffs).max())
        super().__init__(_spec(levels * angles, largest), slots, length=1, truncates=False)
        self._angles = angles
        self._last = np.full((slots, 2), -1, dtype=np.intp)  # each agent's action; -1 before it

    def _reset(self, slots: Index, seeds: npt.NDArray[np.int64]) -> None:
        """Clear the last actions; nothing here is random, so seeds change nothing."""
        self._last[slots] = -1

    def _observe(self, slots: Index) -> FloatArray:
        return np.ones((2 * len(slots), 1), np.float32)

    def _advance(self, slots: Index, actions: Index) -> Reward:
        """Play the only round."""
        self._last[slots] = actions
        won = self._payoffs[actions[:, 0], actions[:, 1]]
        return np.stack([won, 0 - won], axis=1)  # not -won: a draw is 0, not -0

    def render(self, slot: int) -> str:
        """Return the actions as text."""
        chosen = [int(action) for action in self._last[slot]]
        if min(chosen) < 0:
            return "nobody has moved"
        first, second = (f"level {action // self._angles} angle {action % self._angles}" for action in chosen)
        return f"{first} v {second}"
