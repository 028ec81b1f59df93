"""The worlds of all slots of a Pgx game: JAX moves in them, numpy reads what they show.

batch = PgxBatch(program, parts=2)      # a program of 128 worlds: 256 of them, which two calls of JAX step
batch.step(actions)                     # int32 [256], -1: nobody plays there
batch.observation, batch.legal, batch.marks, batch.numbers      # Seen, in numpy

The state of a dear game does not fit in a CPU's cache for all worlds at once, so parts of them are stepped one after
the other.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from collectors.envs.adapters.pgx_arrays import LINES, Seen, Worlds
from collectors.envs.rows import BoolArray

if TYPE_CHECKING:
    from collectors.envs.adapters.pgx_program import Program


class PgxBatch:
    """Equal parts of worlds, which one program steps."""

    def __init__(self, program: "Program", parts: int) -> None:
        self._program = program
        self.parts: list[tuple[Worlds, Seen]] = [program.first] * parts
        self._ended: list[Worlds | None] = []  # the worlds as the last step left them, if some of them began again
        self._look()

    def begin(self, which: BoolArray, keys: npt.NDArray[np.uint32]) -> None:
        """Begin an episode in the worlds that are marked. JAX may go on reading these arrays: pass them on for good."""
        split = zip(self.parts, self._split(which), self._split(keys), strict=True)
        self.parts = [self._program.begin(*part, marked, key) for part, marked, key in split]
        self._ended = []
        self._look()

    def step(self, actions: npt.NDArray[np.int32]) -> None:
        """Move in all worlds; -1: nobody plays there. JAX may go on reading the actions: pass them on for good."""
        split = zip(self.parts, self._split(actions), strict=True)
        moved = [self._program.step(*part, action) for part, action in split]
        self.parts, self._ended = [(worlds, seen) for worlds, seen, _ in moved], [ended for _, _, ended in moved]
        self._look()

    def views(self) -> npt.NDArray[Any]:
        """Return what each agent sees, at the end where an episode is over: [worlds, agents, *observation]."""
        now = [worlds for worlds, _ in self.parts]
        last = [ended or worlds for ended, worlds in zip(self._ended or [None] * len(now), now, strict=True)]
        return _joined([np.asarray(self._program.views(worlds)) for worlds in last], 0)

    def _split(self, array: npt.NDArray[Any]) -> Sequence[npt.NDArray[Any]]:
        return np.split(array, len(self.parts))

    def _look(self) -> None:
        """Read what the worlds show. On a CPU numpy reads the arrays of JAX in place; nobody writes to them."""
        shown = [seen for _, seen in self.parts]
        if self._program.elsewhere:
            for array in (array for seen in shown for array in seen):  # all begin to travel before one is waited for
                array.copy_to_host_async()
        arrays = Seen(*zip(*shown, strict=True))
        self.observation, self.legal, self.marks, self.numbers = (
            _joined([np.asarray(array) for array in parts], axis) for parts, axis in zip(arrays, LINES, strict=True)
        )


def _joined(arrays: Sequence[npt.NDArray[Any]], axis: int) -> npt.NDArray[Any]:
    return np.concatenate(arrays, axis) if len(arrays) > 1 else arrays[0]


def parts_of(worlds: int, most: int | None) -> int:
    """Return into how many equal parts to split worlds so that none has more than `most`; 1 if they would be tiny.

    >>> parts_of(256, 128), parts_of(200, 128), parts_of(64, 128), parts_of(257, 128)
    (2, 2, 1, 1)
    """
    if most is None:
        return 1
    return next((parts for parts in range(-(-worlds // most), 4 * worlds // most + 1) if worlds % parts == 0), 1)
