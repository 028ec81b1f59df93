"""Seating: which episode of which ticket each slot plays, who acts for each agent, and what came of it."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, IntArray, Rows
from league.ids import TicketNumber
from league.spec import EnvSpec
from league.ticket import Episode, Purpose, Result, Ticket, seating

ACTION_BYTES = 1 << 17  # of one result: a report must fit on the wire; episodes beyond keep no actions


@dataclass(slots=True)
class Playing:
    """A ticket that this collector holds."""

    ticket: Ticket
    record: int  # keep the actions of this many of its first episodes
    started: int = 0
    finished: dict[int, Episode] = field(default_factory=dict)
    revoked: bool = False

    @property
    def key(self) -> tuple[TicketNumber, int]:
        """The ticket and its attempt."""
        return self.ticket.number, self.ticket.attempt

    @property
    def unstarted(self) -> int:
        """Episodes that no slot has taken yet."""
        return 0 if self.revoked else self.ticket.episodes - self.started

    def result(self) -> Result | None:
        """Return the result when every episode is finished."""
        if self.revoked or len(self.finished) < self.ticket.episodes:
            return None
        episodes, room = [], ACTION_BYTES
        for _, episode in sorted(self.finished.items()):
            room -= len(episode.actions)
            episodes.append(episode if room >= 0 else msgspec.structs.replace(episode, actions=b""))
        return Result(ticket=self.ticket.number, attempt=self.ticket.attempt, episodes=tuple(episodes))


class Seating:
    """The slots of a collector."""

    def __init__(self, spec: EnvSpec, slots: int) -> None:
        agents = len(spec.agents)
        self.spec = spec
        self._seat_of = np.zeros(agents, np.int32)
        for i, seat in enumerate(spec.seats):
            self._seat_of[list(seat.agents)] = i
        self._seat_agents = [np.array(seat.agents) for seat in spec.seats]
        # Which entry plays for each agent, for every turn of the rotation that `seating` makes.
        turns = math.lcm(*(spec.roles.count(role) for role in spec.roles))
        self._orders = np.array([seating(spec.roles, turn) for turn in range(turns)], np.int32)[:, self._seat_of]
        self.free: deque[int] = deque(range(slots))
        self.playing: list[Playing | None] = [None] * slots
        self._episode = np.zeros(slots, np.int32)
        self.actor = np.zeros((slots, agents), np.int32)  # who acts for each agent
        self.entry = np.zeros((slots, agents), np.int32)  # entry of the ticket that each agent plays for
        self._returns = np.zeros((slots, agents))
        self._length = np.zeros(slots, np.int64)
        self._recording = np.zeros(slots, np.bool_)
        self._history = np.zeros((slots, 64), np.int32)
        self._written = np.zeros(slots, np.int64)

    def begin(self, slots: IntArray, playing: Playing, actors: Sequence[int]) -> range:
        """Seat the next episodes of a ticket in free slots; `actors` has one for each entry. Return their indices."""
        episodes = range(playing.started, playing.started + len(slots))
        playing.started += len(slots)
        index = np.arange(episodes.start, episodes.stop)
        entry = self._orders[index % len(self._orders)]
        for slot in slots.tolist():
            self.playing[slot] = playing
        self._episode[slots] = index
        self.entry[slots] = entry
        self.actor[slots] = np.asarray(actors, np.int32)[entry]
        self._returns[slots] = 0.0
        self._length[slots] = 0
        self._written[slots] = 0
        self._recording[slots] = index < playing.record
        return episodes

    def note(self, rows: Rows, actions: IntArray) -> int:
        """Add up rewards, count moves and keep actions; return the number of env steps."""
        if rows.reward.any():  # most games pay only at the end
            self._returns[rows.slot, rows.agent] += rows.reward
        moved = rows.slot if _rising(rows.slot) else np.unique(rows.slot)
        self._length[moved] += 1
        kept = np.flatnonzero(self._recording[rows.slot])
        if len(kept):
            self._keep(rows.slot[kept], actions[kept])
        return len(moved)

    def _keep(self, slot: IntArray, actions: IntArray) -> None:
        order = np.argsort(slot, kind="stable")
        slot, actions = slot[order], actions[order]
        first = np.searchsorted(slot, slot, side="left")
        position = self._written[slot] + np.arange(len(slot)) - first
        while position.max() >= self._history.shape[1]:
            self._history = np.concatenate([self._history, np.zeros_like(self._history)], axis=1)
        self._history[slot, position] = actions
        np.add.at(self._written, slot, 1)

    def finish(self, ends: Ends) -> list[Playing]:
        """Close the episodes that are over; return the tickets they belong to."""
        self._returns[ends.slot, ends.agent] += ends.reward
        touched = []
        for slot, episode in zip(ends.over.tolist(), self._outcomes(ends.over), strict=True):
            playing = self.playing[slot]
            self.playing[slot] = None
            self.free.append(slot)
            if playing is not None:
                playing.finished[int(self._episode[slot])] = episode
                touched.append(playing)
        return touched

    def abandon(self, slot: int) -> Playing | None:
        """Free a slot whose episode broke; return the ticket it belonged to."""
        playing = self.playing[slot]
        self.playing[slot] = None
        self.free.append(slot)
        return playing

    def _outcomes(self, slots: IntArray) -> list[Episode]:
        """Return how the episodes in these slots ended, told for each entry."""
        earned = np.zeros((len(slots), len(self.spec.seats)))
        row = np.arange(len(slots))
        for agents in self._seat_agents:
            earned[row, self.entry[slots, agents[0]]] = self._returns[slots[:, None], agents].sum(axis=1)
        told = zip(
            slots.tolist(), ranks_of(earned).tolist(), earned.tolist(), self._length[slots].tolist(), strict=True
        )
        return [
            Episode(tuple(ranks), tuple(returns), length, self._actions(slot)) for slot, ranks, returns, length in told
        ]

    def _actions(self, slot: int) -> bytes:
        if not self._recording[slot]:
            return b""
        return pack_actions(self._history[slot, : self._written[slot]], self.spec.actions)


def ranks_of(returns: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return each entry's rank by return, 0 for the best; equal returns share a rank.

    >>> ranks_of(np.array([[0.0, 1.0, 0.0]])).tolist()
    [[1, 0, 1]]
    """
    better: npt.NDArray[np.int64] = (returns[..., None, :] > returns[..., :, None]).sum(axis=-1)
    return better


def pack_actions(actions: IntArray, choices: int) -> bytes:
    """Return an action sequence as bytes, as few as the number of choices allows."""
    return actions.astype(_packed_dtype(choices)).tobytes()


def unpack_actions(packed: bytes, choices: int) -> IntArray:
    """Return the action sequence that `pack_actions` packed."""
    return np.frombuffer(packed, _packed_dtype(choices)).astype(np.int32)


def _packed_dtype(choices: int) -> str:
    return "<u1" if choices <= 256 else "<u2" if choices <= 65536 else "<u4"


def _rising(slots: IntArray) -> bool:
    """Return whether each slot is there once, in order, as it is where one agent acts at a time."""
    return bool((slots[1:] > slots[:-1]).all())


def episodes_to_record(ticket: Ticket, share: float) -> int:
    """Return how many episodes of a ticket keep their actions: all in evaluation, a share in training."""
    if ticket.purpose == Purpose.EVALUATE:
        return ticket.episodes
    whole = int(share * ticket.number)
    return min(ticket.episodes, int(whole > int(share * (ticket.number - 1))))
