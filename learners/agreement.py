"""What the ranks of a learner decide together in every step: whether to stop, and whom to train."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import msgspec
import numpy as np

from league.ids import PlayerId
from league.wire.messages import Roster
from learners.distributed import Group
from learners.trainee import Trainee


@dataclass(frozen=True, slots=True)
class Agreement:
    """The same on every rank."""

    stop: bool  # a rank was asked to stop
    buffer_moved: bool  # a rank has a new address of its buffer process
    versions: tuple[int, ...]  # of each trainee; one rank may have had to skip some
    chosen: PlayerId | None  # whom to train now


def share_rosters(group: Group, received: list[Roster]) -> list[Roster]:
    """Return the rosters that rank 0 received."""
    if group.size == 1:
        return received
    return msgspec.msgpack.decode(group.broadcast(msgspec.msgpack.encode(received)), type=list[Roster])


def agree(group: Group, trainees: Sequence[Trainee], stop: bool, buffer_moved: bool) -> Agreement:
    """Combine what all ranks know, in one exchange; `trainees` have the same order on all ranks.

    Of the players with a full batch on every rank, the one whose batch became full first is chosen.
    """
    mine = [(trainee.version, not trainee.ready, trainee.full_since or 0) for trainee in trainees]
    numbers = np.array([stop, buffer_moved, *chain(*mine)], np.int64)
    stopped, moved, *found = group.maximum(numbers).tolist()
    versions, lacking, since = found[::3], found[1::3], found[2::3]
    full = [(since[i], trainee.player) for i, trainee in enumerate(trainees) if not lacking[i]]
    return Agreement(bool(stopped), bool(moved), tuple(versions), min(full)[1] if full else None)
