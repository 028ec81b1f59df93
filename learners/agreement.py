"""What the ranks of a learner decide together in every step: whether to stop, and whom to train."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import msgspec
import numpy as np

from league.ids import PlayerId
from league.wire.messages import Roster
from learners.distributed import Group
from learners.notice_board import Board
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
    if group.board is not None:
        return _passed_on(group.board) if group.rank else received
    return msgspec.msgpack.decode(group.broadcast(msgspec.msgpack.encode(received)), type=list[Roster])


def pass_on(group: Group, rosters: Sequence[Roster]) -> None:
    """Let ranks that do not wait know the newest roster, after rank 0 has followed it."""
    if group.board is not None and group.rank == 0 and rosters:
        group.board.write("roster", msgspec.msgpack.encode(rosters[-1]))


def _passed_on(board: Board) -> list[Roster]:
    note = board.newer("roster", 0)
    return [] if note is None else [msgspec.msgpack.decode(note, type=Roster)]


def _agree_alone(board: Board, trainees: Sequence[Trainee], stop: bool) -> Agreement:
    """Decide for this rank, which waits for no other; if one is asked to stop, all do."""
    if stop:
        board.raise_flag("stop")
    ready = [(trainee.full_since or 0, trainee.player) for trainee in trainees if trainee.ready]
    versions = tuple(trainee.version for trainee in trainees)
    return Agreement(stop or board.flag("stop"), False, versions, min(ready)[1] if ready else None)


def agree(group: Group, trainees: Sequence[Trainee], stop: bool, buffer_moved: bool) -> Agreement:
    """Combine what all ranks know, in one exchange; `trainees` have the same order on all ranks.

    Of the players with a full batch and the same version on every rank, the one whose batch became full first is
    chosen: the batch of a rank that must first advance may expire.
    """
    if group.board is not None:
        return _agree_alone(group.board, trainees, stop)
    mine = [(t.version, -t.version, not t.ready, t.full_since or 0) for t in trainees]
    numbers = np.array([stop, buffer_moved, *chain(*mine)], np.int64)
    stopped, moved, *found = group.maximum(numbers).tolist()
    versions, lowest, lacking, since = found[::4], [-low for low in found[1::4]], found[2::4], found[3::4]
    same = [low == high for low, high in zip(lowest, versions, strict=True)]
    full = [(since[i], trainee.player) for i, trainee in enumerate(trainees) if same[i] and not lacking[i]]
    return Agreement(bool(stopped), bool(moved), tuple(versions), min(full)[1] if full else None)
