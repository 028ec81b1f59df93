"""Repeated rock-paper-scissors, many games at once: what PettingZoo's rps_v2 plays, both agents in one tick.

An agent sees the other's last action as a one-hot vector (the last place means: none yet). Nothing ends the
game but its length, so the end is a truncation.
"""

import numpy as np
import numpy.typing as npt

from collectors.envs.native.skeleton import Reward, SimultaneousGame
from collectors.envs.rows import FloatArray
from collectors.envs.slots import Index
from league.spec import Array, EnvSpec, Seat

NAMES = ("ROCK", "PAPER", "SCISSORS", "SPOCK", "LIZARD")


def _spec(actions: int, rounds: int) -> EnvSpec:
    return EnvSpec(
        name="rock_paper_scissors",
        agents=("player_0", "player_1"),
        seats=(Seat(agents=(0,)), Seat(agents=(1,))),
        observation=Array(shape=(actions + 1,), dtype="float32"),
        actions=actions,
        returns=(-float(rounds), float(rounds)),
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


class RockPaperScissors(SimultaneousGame):
    """Rock-paper-scissors as an `Environment`: two rows for each slot in every tick.

    >>> env = RockPaperScissors(slots=4, max_cycles=15)
    >>> env.start(np.arange(4, dtype=np.int32), np.arange(4))
    >>> len(env.rows())
    8
    """

    shows_positions = True

    def __init__(self, slots: int = 256, num_actions: int = 3, max_cycles: int = 15) -> None:
        if num_actions < 3 or num_actions % 2 == 0:
            raise ValueError(f"rock_paper_scissors: num_actions must be odd and at least 3, got {num_actions}")
        if max_cycles < 1:
            raise ValueError(f"rock_paper_scissors: max_cycles must be at least 1, got {max_cycles}")
        super().__init__(_spec(num_actions, max_cycles), slots, length=max_cycles, truncates=True)
        self._payoffs = payoffs(num_actions)
        self._one_hot = np.eye(num_actions + 1, dtype=np.float32)
        self._last = np.full((slots, 2), num_actions, dtype=np.intp)  # each agent's last action

    def _reset(self, slots: Index, seeds: npt.NDArray[np.int64]) -> None:
        """Forget the last actions; nothing here is random, so seeds change nothing."""
        self._last[slots] = self.spec.actions

    def _observe(self, slots: Index) -> FloatArray:
        return self._one_hot[self._last[slots, ::-1].reshape(-1)]

    def _advance(self, slots: Index, actions: Index) -> Reward:
        """Play one round."""
        self._last[slots] = actions
        won = self._payoffs[actions[:, 0], actions[:, 1]]
        return np.stack([won, 0 - won], axis=1)  # not -won: a draw is 0, not -0

    def render(self, slot: int) -> str:
        """Return the last round as text."""
        names = [*NAMES, *(f"ACTION_{number}" for number in range(6, self.spec.actions + 1))]
        names[self.spec.actions :] = ["none"]
        first, second = (names[action] for action in self._last[slot])
        return f"round {self._age[slot]}: {first} v {second}"
