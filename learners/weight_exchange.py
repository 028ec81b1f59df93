"""Sharing without waiting: how ranks combine what each learned alone of one player (`learner.share`).

    exchange = make_exchange("gossip", board, key, flat, fixed)
    flat = exchange.mix(before, after)      # after an update that led from `before` to `after`: weights to go on from

Notes are weights as bytes. A rank that is slow or gone holds up nobody: its notes are only older.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from league.policies.layout import FloatArray
from learners.notice_board import Board

Flags = npt.NDArray[np.bool_]


class WeightExchange(Protocol):
    """Shares the weights of one player in one incarnation."""

    mixed: int  # notes of other ranks that were mixed in so far

    def mix(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """Share an update of this rank; return the weights to go on from."""


def make_exchange(share: str, board: Board, key: str, start: FloatArray, fixed: Flags) -> WeightExchange:
    """Return the exchange of `learner.share`; `fixed` are weights that no gradient changes, such as statistics."""
    if share == "async":
        return AsyncExchange(board, key, start, fixed)
    return GossipExchange(board, key, share)


# --- asynchronous --------------------------------------------------------------------------------------------


def shared_weights(start_W: FloatArray, notes_RW: Sequence[FloatArray], fixed_W: Flags) -> FloatArray:
    """Return the shared weights: where all began, plus all that each rank has added; statistics are averaged.

    As in A3C (Mnih et al. 2016) every step of every rank is applied to the shared weights once, in any order.
    """
    added_W = np.sum(notes_RW, axis=0, dtype=np.float64)
    mean_W = np.mean(notes_RW, axis=0, dtype=np.float64)
    return np.where(fixed_W, mean_W, start_W + added_W).astype(np.float32)


class AsyncExchange:
    """Shared weights without a server: a rank's note is the sum of its own steps, and only it writes that note."""

    def __init__(self, board: Board, key: str, start: FloatArray, fixed: Flags) -> None:
        self._board, self._key, self._start, self._fixed = board, f"steps/{key}", np.array(start), fixed
        self._notes = {board.rank: np.where(fixed, start, np.float32(0))}
        self.mixed = 0

    def mix(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """Add the step of this rank to the shared weights, and return them with the steps of all others so far."""
        mine = np.where(self._fixed, after, self._notes[self._board.rank] + (after - before)).astype(np.float32)
        self._notes[self._board.rank] = mine
        self._board.write(self._key, mine.tobytes())
        for rank in range(self._board.size):
            note = None if rank == self._board.rank else self._board.newer(self._key, rank)
            if note is not None:
                self._notes[rank] = np.frombuffer(note, np.float32)
                self.mixed += 1
        return shared_weights(self._start, list(self._notes.values()), self._fixed)


# --- gossip --------------------------------------------------------------------------------------------------


def gossip_peers(rank: int, size: int, graph: str) -> list[int]:
    """Return from whom a rank hears, in turns.

    >>> gossip_peers(0, 8, "gossip_ring"), gossip_peers(0, 8, "gossip")
    ([7], [7, 6, 4])
    """
    hops = [1] if graph == "gossip_ring" else [2**power for power in range((size - 1).bit_length())]
    return [(rank - hop) % size for hop in hops]


class GossipExchange:
    """Each rank has weights of its own, and averages them with a peer's (GALA, Assran et al. 2019).

    A note is averaged in once: the old weights of a slow rank do not pull the others back again and again.
    """

    def __init__(self, board: Board, key: str, graph: str = "gossip") -> None:
        self._board, self._key = board, f"weights/{key}"
        self._peers, self._turn = gossip_peers(board.rank, board.size, graph), 0
        self.mixed = 0

    def mix(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """Tell the weights of this rank, and return their mean with those of the peer whose turn it is, if new."""
        self._board.write(self._key, after.tobytes())
        peer = self._peers[self._turn % len(self._peers)]
        self._turn += 1
        note = self._board.newer(self._key, peer)
        if note is None:
            return after
        self.mixed += 1
        return ((after + np.frombuffer(note, np.float32)) / 2).astype(np.float32)
