"""How long it takes to build an environment in every slot: N of M are built, and the rest takes about S seconds.

pace = BuildPace(slots=64, tell=print)
for slot in range(64):
    build(slot)
    pace.built()                    # 1 64 189.0
pace.seconds                        # for one
"""

import time
from collections.abc import Callable

from collectors.envs.rows import BuildTold


class BuildPace:
    """Counts environments that are built, and estimates the time for those that are not."""

    def __init__(self, slots: int, tell: BuildTold, clock: Callable[[], float] = time.monotonic) -> None:
        self._slots, self._tell, self._clock = slots, tell, clock
        self._began, self._built = clock(), 0

    @property
    def seconds(self) -> float:
        """The mean time for one; the first may have been built before, so it counts as none if there are more."""
        timed = max(self._built - 1, min(self._built, 1))
        return (self._clock() - self._began) / timed if timed else 0.0

    def built(self) -> None:
        """Count one more, and tell."""
        self._built += 1
        self._tell(self._built, self._slots, (self._slots - self._built) * self.seconds)
