"""What passes between Pgx in JAX and rows in numpy: the worlds of all slots, and what a move in them shows."""

from typing import Any, NamedTuple

MOVER, FIRST, OVER, LATE, ACTED = range(5)  # the lines of `Seen.marks`; ACTED is the first of those of agents
REWARD, EARNED = range(2)  # the lines of `Seen.numbers`; EARNED is the first of those of agents


class Worlds(NamedTuple):
    """The worlds of a batch, or a single one, as arrays of JAX."""

    state: tuple[Any, ...]  # the leaves of Pgx's state: JAX takes these apart much faster than Pgx's own classes
    key: Any = None  # uint32 [worlds, 2]; None in a game without chance
    first: Any = None  # int32 [worlds] the player of Pgx that moved first: agent 0; None in a game without chance


class Seen(NamedTuple):
    """What a move shows, as arrays of JAX. Each array costs microseconds on its way to numpy, so these are few."""

    observation: Any  # [worlds, *observation] of who moves next
    legal: Any  # bool [worlds, actions]
    marks: Any  # int8 [4 + agents, worlds] who moves next, whether for the first time; what ended, out of time; acted
    numbers: Any  # float32 [1 + agents, worlds] what who moves next earned since its last move; what each agent did


LINES = Seen(0, 0, 1, 1)
"""Which axis of each array has the worlds."""
