"""Seating: which episode of which ticket each slot plays, who acts for each agent, and the outcomes."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from collectors.envs.outcomes import rank_agents, rank_alone, rank_sides, seated_agents, team_spirit
from collectors.envs.return_sums import ReturnSums
from collectors.envs.rows import Ends, IntArray, Rows
from collectors.envs.slots import Index
from league.ids import PlayerId, TicketNumber
from league.policies.actions import Actions
from league.spec import EnvSpec
from league.ticket import Episode, Purpose, Result, Ticket, seating, turns

ActorNumbers = npt.NDArray[np.int16]
Trained = tuple[PlayerId, ...]  # as in a ticket
Cast = Callable[[Sequence[int]], ActorNumbers]
"""From episodes of a ticket to the actor of each of its entries: [episodes, entries]."""
RowsOrEnds = TypeVar("RowsOrEnds", Rows, Ends)
ACTION_BYTES = 1 << 17  # of one result: a report must fit on the wire; episodes beyond keep no actions


@dataclass(slots=True)
class HeldTicket:
    """A ticket that this collector holds."""

    ticket: Ticket
    record: int  # keep the actions of this many of its first episodes
    seeds: list[int] = field(default_factory=list)  # of all its episodes
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
        if len(self.finished) < self.ticket.episodes or self.revoked:
            return None
        episodes, room = [], ACTION_BYTES
        for _, episode in sorted(self.finished.items()):
            room -= len(episode.actions)
            episodes.append(episode if room >= 0 else msgspec.structs.replace(episode, actions=b""))
        return Result(ticket=self.ticket.number, attempt=self.ticket.attempt, episodes=tuple(episodes))


@dataclass(frozen=True, slots=True)
class Start:
    """Episodes of a ticket that begin now, each in a slot; `actors` has one for each episode and entry."""

    held: HeldTicket
    actors: npt.NDArray[np.int16]  # [episodes, entries]
    episodes: range
    slots: list[int]


class Seating:
    """The slots of a collector.

    Arrays are indexed by `Index` everywhere: a shorter kind of integer is converted at each use, which takes ten
    times as long as a short lookup itself.
    """

    def __init__(self, spec: EnvSpec, slots: int) -> None:
        agents = len(spec.agents)
        self.spec, self._agents = spec, agents
        self._seat_of = np.zeros(agents, np.intp)
        for i, seat in enumerate(spec.seats):
            self._seat_of[list(seat.agents)] = i
        self._sizes = [len(seat.agents) for seat in spec.seats]
        self._seated = seated_agents(spec)
        self._alone = len(set(spec.sides)) == len(spec.seats) == agents
        # Which entry plays for each agent, for every turn of the rotation that `seating` makes.
        orders = [seating(spec.roles, turn, spec.sides) for turn in range(turns(spec.roles, spec.sides))]
        self._orders = np.array(orders, np.intp)[:, self._seat_of]
        self._free: dict[Trained, deque[int]] = {(): deque(range(slots))}  # free slots by whom they trained last
        self.room = slots  # how many are free
        self.tickets: list[HeldTicket | None] = [None] * slots
        self._episode = np.zeros(slots, np.int32)
        self.actor = np.zeros((slots, agents), np.int16)  # who acts for each agent; short numbers sort fast
        self.entry = np.zeros((slots, agents), np.intp)  # entry of the ticket that each agent plays for
        self._spirit = np.zeros(slots, np.float32)  # team spirit of the ticket in each slot
        self._spirited = False  # most leagues have none; they skip its cost
        self._side_of = np.array(spec.sides, np.intp)[self._seat_of]
        self._returns = ReturnSums(slots, agents)
        self._length = np.zeros(slots, np.int64)
        self._recording = np.zeros(slots, np.bool_)
        self._history = np.zeros((slots, 64, *spec.action.shape), spec.action.dtype)
        self._written = np.zeros(slots, np.int64)

    @property
    def free(self) -> list[int]:
        """The slots without an episode."""
        return [slot for pool in self._free.values() for slot in pool]

    @property
    def longest(self) -> int:
        """The env steps of the longest episode under way."""
        busy = [slot for slot, held in enumerate(self.tickets) if held is not None]
        return int(self._length[busy].max(initial=0))

    def room_beside(self, trained: Trained) -> int:
        """Return how many free slots trained these players last: their lanes can run on there."""
        return len(self._free.get(trained, ()))

    def reserve(self, held: HeldTicket, cast: Cast, room: int) -> Start:
        """Take slots for the next episodes of a ticket, at most `room`; those that trained its players come first."""
        episodes = range(held.started, held.started + min(held.unstarted, room))
        held.started = episodes.stop
        self.room -= len(episodes)
        slots: list[int] = []
        for pool in (self._free.setdefault(held.ticket.trains, deque()), *self._free.values()):
            while pool and len(slots) < len(episodes):
                slots.append(pool.popleft())
        return Start(held, cast(episodes), episodes, slots)

    def begin(self, starts: Sequence[Start]) -> IntArray:
        """Seat the reserved episodes; return their slots, in order."""
        taken: list[int] = []
        episodes: list[int] = []
        recorded: list[bool] = []
        for start in starts:
            taken += start.slots
            episodes += start.episodes
            recorded += [episode < start.held.record for episode in start.episodes]
            for slot in start.slots:
                self.tickets[slot] = start.held
        slots, index = np.array(taken, np.intp), np.array(episodes)
        entry = self._orders[index % len(self._orders)]
        actors = np.concatenate([start.actors for start in starts])
        self._episode[slots] = index
        self.entry[slots] = entry
        self.actor[slots] = np.take_along_axis(actors, entry, axis=1)
        self._spirited = self._spirited or any(start.held.ticket.spirit for start in starts)
        if self._spirited:
            spirit = np.array([start.held.ticket.spirit for start in starts], np.float32)
            self._spirit[slots] = spirit.repeat([len(start.slots) for start in starts])
        self._returns.clear(slots)
        self._length[slots] = 0
        self._written[slots] = 0
        self._recording[slots] = recorded
        return slots

    def index(self, slot: IntArray, agent: IntArray) -> Index:
        """Return the flat index of agents in slots, for `actor.take` and `entry.take`."""
        return slot.astype(np.intp, copy=False) * self._agents + agent

    def with_training_rewards(self, rows: RowsOrEnds) -> RowsOrEnds:
        """Return rows with the rewards for training: team spirit mixes those of a side in this tick."""
        spirit = self._spirit[rows.slot] if self._spirited and len(rows.slot) else None
        if spirit is None:
            return rows
        team = rows.slot.astype(np.intp, copy=False) * self._agents + self._side_of[rows.agent]
        return replace(rows, reward=team_spirit(rows.reward, team, spirit))

    def add_moves(self, rows: Rows, actions: Actions) -> int:
        """Add up rewards, count moves and keep actions; return the number of env steps."""
        self._returns.add_rows(rows)
        slot = rows.slot.astype(np.intp, copy=False)
        moved = slot if _rising(slot) else np.unique(slot)
        self._length[moved] += 1
        kept = self._recording[slot].nonzero()[0]
        if len(kept):
            self._keep(slot[kept], actions[kept])
        return len(moved)

    def _keep(self, slot: Index, actions: Actions) -> None:
        order = np.argsort(slot, kind="stable")
        slot, actions = slot[order], actions[order]
        first = np.searchsorted(slot, slot, side="left")
        position = self._written[slot] + np.arange(len(slot)) - first
        while position.max() >= self._history.shape[1]:
            self._history = np.concatenate([self._history, np.zeros_like(self._history)], axis=1)
        self._history[slot, position] = actions
        np.add.at(self._written, slot, 1)

    def finish(self, ends: Ends) -> list[HeldTicket]:
        """Close the episodes that are over; return the tickets they belong to."""
        self._returns.add_ends(ends)
        touched = []
        which = zip(ends.over.tolist(), self._episode[ends.over].tolist(), self._outcomes(ends), strict=True)
        for slot, number, episode in which:
            held = self.abandon(slot)
            if held is not None:
                held.finished[number] = episode
                touched.append(held)
        return touched

    def abandon(self, slot: int) -> HeldTicket | None:
        """Free a slot; return the ticket whose episode was played there."""
        held = self.tickets[slot]
        self.tickets[slot] = None
        self._free[held.ticket.trains if held is not None else ()].append(slot)
        self.room += 1
        return held

    def _outcomes(self, ends: Ends) -> list[Episode]:
        """Return the outcomes of the episodes that are over, in the order of the ticket's entries."""
        slots, entries = ends.over.astype(np.intp, copy=False), len(self.spec.seats)
        entry, episode = self.entry[slots], np.arange(len(slots))[:, None]
        if self._alone:
            earned = np.empty((len(slots), entries))
            earned[episode, entry] = self._returns.totals[slots]
        else:
            owner = (episode * entries + entry).reshape(-1)
            total = np.bincount(owner, self._returns.totals[slots].reshape(-1), minlength=len(slots) * entries)
            earned = total.astype(np.float64, copy=False).reshape(len(slots), entries)
        ranks = ends.ranks
        if ranks is None and ends.present is not None:
            ranks = rank_agents(self._returns.totals[slots], ends.present, self._seated, self.spec.sides)
        ranked = rank_alone(earned) if self._alone and ranks is None else self._ranked(slots, earned, ranks)
        actions = [b""] * len(slots)
        for i in self._recording[slots].nonzero()[0].tolist():
            actions[i] = pack_actions(self._history[slots[i], : self._written[slots[i]]], self.spec)
        outcomes = zip(ranked.tolist(), earned.tolist(), self._length[slots].tolist(), actions, strict=True)
        return [Episode(tuple(ranks), tuple(returns), length, kept) for ranks, returns, length, kept in outcomes]

    def _ranked(
        self, slots: Index, earned: npt.NDArray[np.float64], ranks: npt.NDArray[np.int64] | None
    ) -> npt.NDArray[np.int64]:
        """Return the rank of each entry: the given rank of its seat in this episode, or else by returns."""
        seated = self.entry[slots][:, [seat.agents[0] for seat in self.spec.seats]]  # the entry in each seat
        if ranks is None:
            ranks = rank_sides(np.take_along_axis(earned, seated, axis=1), self._sizes, self.spec.sides)
        ranked = np.zeros(earned.shape, np.int64)
        np.put_along_axis(ranked, seated, ranks, axis=1)
        return ranked


def same_cast(actors: Sequence[int]) -> Cast:
    """Return the cast in which each entry has the same actor in all episodes."""
    row = np.array(actors, np.int16)[None]
    return lambda episodes: row.repeat(len(episodes), axis=0)


def pack_actions(actions: Actions, spec: EnvSpec) -> bytes:
    """Return an action sequence as bytes, as few as the number of options allows; vectors as float32."""
    return actions.astype(_packed_dtype(spec)).tobytes()


def unpack_actions(packed: bytes, spec: EnvSpec) -> Actions:
    """Return the action sequence that `pack_actions` packed."""
    return np.frombuffer(packed, _packed_dtype(spec)).astype(spec.action.dtype).reshape(-1, *spec.action.shape)


def _packed_dtype(spec: EnvSpec) -> str:
    if not spec.single:
        return "<f4"
    return "<u1" if spec.actions <= 256 else "<u2" if spec.actions <= 65536 else "<u4"


def _rising(slots: Index) -> bool:
    """Return whether each slot appears once, in order, as where one agent acts at a time."""
    return bool(np.count_nonzero(slots[1:] > slots[:-1]) == len(slots) - 1)


def episodes_to_record(ticket: Ticket, share: float) -> int:
    """Return how many episodes of a ticket keep their actions: all in evaluation, a share in training."""
    if ticket.purpose == Purpose.EVALUATE:
        return ticket.episodes
    whole = int(share * ticket.number)
    return min(ticket.episodes, int(whole > int(share * (ticket.number - 1))))
