"""The slot filler: lets free slots begin the next episodes of the tickets that may be played now."""

from collections.abc import Collection, Sequence

import numpy as np

from collectors.actors import Actors
from collectors.casting import cast_of
from collectors.envs.rows import Environment
from collectors.episode_closer import EpisodeCloser
from collectors.held_tickets import HeldTickets
from collectors.perturber import Owner
from collectors.recorder import Recorder
from collectors.seating import Cast, HeldTicket, Seating, Start
from collectors.training_credit import TrainingCredit
from league.ids import PlayerId
from league.store.snapshots import SnapshotError
from league.ticket import Ticket

FILL_SHARE = 1 / 8  # of the slots are free before episodes begin in them: few array calls for many episodes
FILL_TICKS = 4  # after so many ticks episodes begin in any free slot


class SlotFiller:
    """Begins episodes.

    filler.fill(player.ticks, now)
    """

    def __init__(
        self,
        env: Environment,
        seating: Seating,
        recorder: Recorder,
        tickets: HeldTickets,
        actors: Actors,
        credit: TrainingCredit,
        closer: EpisodeCloser,
    ) -> None:
        self._env, self._seating, self._recorder, self._tickets = env, seating, recorder, tickets
        self._actors, self._credit, self._closer = actors, credit, closer
        self._filled_at = 0  # the tick in which episodes began last

    def fill(self, tick: int, now: float) -> None:
        """Let free slots take the next unstarted episodes of the oldest tickets that may be played now."""
        free = self._seating.room + self._closer.waiting
        if not free or (free < FILL_SHARE * self._env.slots and tick - self._filled_at < FILL_TICKS):
            return
        self._closer.close_waiting()
        if self._tickets.full:
            return
        starved = self._credit.starved()
        starts: list[Start] = []
        # First into slots that trained the same players, so that their lanes run on; then into any other.
        for anywhere in (False, True):
            for held in self._tickets.queue:
                room = self._seating.room if anywhere else self._seating.room_beside(held.ticket.trains)
                if room and held.unstarted and held.ticket.can_train(starved):
                    cast = self._cast_of(held, starts)
                    if cast is not None:
                        starts.append(self._seating.reserve(held, cast, room))
                if not self._seating.room:
                    break
        if starts:
            self._begin(starts, starved, now)
            self._filled_at = tick
            self._tickets.queue = [held for held in self._tickets.queue if held.unstarted]
        if starved and self._seating.room:
            # Without this, credit might be used up by decisions in lanes that wait for the credit to be filled.
            self._recorder.rest(np.array(self._seating.free, np.int32), starved, now)

    def _begin(self, starts: Sequence[Start], starved: Collection[PlayerId], now: float) -> None:
        seeds: list[int] = []
        for start in starts:
            seeds += start.held.seeds[start.episodes.start : start.episodes.stop]
        slots = self._seating.begin(starts)
        owners = [self._owners(start.held.ticket, starved) for start in starts]
        if self._recorder.perturber is not None:
            owners = self._recorder.perturber.begin(starts, owners, self._seating)
        self._recorder.assign(slots, owners, [len(start.slots) for start in starts], now)
        self._env.start(slots, np.array(seeds, np.int64))

    def _cast_of(self, held: HeldTicket, starts: Sequence[Start]) -> Cast | None:
        """Return who acts in a ticket; None if somebody has not arrived. Actors of `starts` keep their numbers."""
        try:
            return cast_of(held.ticket, held.seeds, self._actors, lambda: self._in_use(starts))
        except (ValueError, OSError, SnapshotError) as error:
            self._tickets.fail(held, f"{error}", again=False)  # each ticket with a damaged snapshot fails so
            return None

    def _in_use(self, starts: Sequence[Start]) -> set[int]:
        """Return the numbers of actors in slots that play or are about to begin."""
        busy = [slot for slot, held in enumerate(self._seating.tickets) if held is not None]
        begun = [np.unique(start.actors).tolist() for start in starts]
        return {*np.unique(self._seating.actor[busy]).tolist(), *(number for some in begun for number in some)}

    def _owners(self, ticket: Ticket, starved: Collection[PlayerId]) -> list[Owner | None]:
        """Return who owns the lane of each entry: a trained player where it plays live and has credit, else nobody."""
        trained = set(ticket.trains).difference(starved)
        return [
            self._credit.owner(entry.player) if entry.player in trained and entry.snapshot is None else None
            for entry in ticket.entries
        ]
