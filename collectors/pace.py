"""How many episodes a check can play in the time that it has.

    Pace(build=0.01, episode=0.5).afford(seconds=14.0, slots=8, episodes=16)        # (6, 6)

An episode is played in many slots, again, in one slot, by the environment's own project, and some of them once more to
look at every observation. Each slot needs an environment, and so does each episode that the project plays itself.
"""

import time
from dataclasses import dataclass

LOOKED_AT = 4  # episodes in which each observation is compared with its space
FASTEST = 1e-6


class TimeBudget:
    """Seconds that may be spent, from now on."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left; never less than 0."""
        return max(0.0, self._until - time.monotonic())


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that an environment needs to be built, and for an episode of random play."""

    build: float
    episode: float

    def cost(self, episodes: int, slots: int) -> float:
        """Return the seconds that a check of some episodes in some slots takes.

        >>> Pace(build=0.0, episode=1.0).cost(episodes=2, slots=2)
        10.0
        """
        looked = min(episodes, LOOKED_AT)
        builds = 2 * slots + 1 + episodes + looked
        return builds * self.build + (4 * episodes + looked) * self.episode

    def afford(self, seconds: float, slots: int, episodes: int) -> tuple[int, int]:
        """Return how many episodes, and in how many slots, can be checked within some seconds; at least one in one.

        >>> Pace(build=0.0, episode=1.0).afford(seconds=12.0, slots=8, episodes=16)
        (2, 2)
        """
        for count in range(episodes, 1, -1):
            for wide in (min(slots, count), 2):
                if self.cost(count, wide) <= seconds:
                    return count, wide
        return 1, 1
