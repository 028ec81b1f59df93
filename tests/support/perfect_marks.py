"""A perfect player of tic-tac-toe: a known answer for whatever tries to exploit it."""

from functools import cache

import numpy as np

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def has_line(cells):
    return any(all(cell in cells for cell in line) for line in LINES)


@cache
def value(own, other):
    """Return what the player to move gets with perfect play: 1, 0 or -1."""
    if has_line(other):
        return -1
    free = [cell for cell in range(9) if cell not in own | other]
    return max((-value(other, own | {cell}) for cell in free), default=0)


@cache
def best(own, other):
    """Return all moves that keep the value."""
    free = [cell for cell in range(9) if cell not in own | other]
    return [cell for cell in free if -value(other, own | {cell}) == value(own, other)]


class PerfectMarks:
    def __init__(self, spec):
        assert spec.name == "tic_tac_toe"

    def act(self, observation, mask, rng):
        planes = observation.reshape(len(observation), 9, 2)
        boards = [[frozenset(np.flatnonzero(plane).tolist()) for plane in row.T] for row in planes]
        actions = [int(rng.choice(best(own, other))) for own, other in boards]
        return np.array(actions, np.int32), np.zeros(len(actions), np.float32)
