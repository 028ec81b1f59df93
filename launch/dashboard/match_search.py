"""The matches of a run, the newest first, a page at a time: only the rows that are needed are read.

    found = search_matches(run, MatchFilter(player="main", against="random"), before=None, limit=50)

While a replica answers, it is asked for pages of events; else the ledger is read in place.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from launch.viewers.reading import match_json
from launch.viewers.searching import RowSource, Settled, SettledTicket, settled_before
from launch.viewers.view import ANSWER_SECONDS, ViewError, may_answer, replica_client
from league.events import ResultCounted, TicketVoided
from league.state import LeagueState
from league.store.in_place import look
from league.store.run_directory import RunDirectory
from league.ticket import Ticket
from league.wire.messages import Follow, Page, Refused
from league.wire.ports import Client

WAIT_SECONDS = 10.0  # for a page of the replica
ENDINGS = ("", "won", "drawn", "lost", "void")
PURPOSES = ("", "train", "evaluate")

Found = TypeVar("Found")


class MatchFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which matches are wanted; an empty text is any. An ending is that of `player`, or of the first entry."""

    player: str = ""
    against: str = ""
    purpose: str = ""
    ending: str = ""
    longest: int = 0  # moves that one of its episodes has at least

    def wants(self, ticket: Ticket) -> bool:
        """Whether a ticket may be wanted, before its result is known."""
        names = [str(entry.player) for entry in ticket.entries]
        if self.purpose and ticket.purpose.value != self.purpose:
            return False
        if self.player and self.player not in names:
            return False
        rest = list(names)
        if self.player:
            rest.remove(names[names.index(self.player)])  # it may have met itself
        return not self.against or self.against in rest

    def fits(self, ticket: Ticket, event: Settled, sides: tuple[int, ...] | None) -> bool:
        """Whether a settled ticket is wanted."""
        lengths = [episode.length for episode in event.episodes] if isinstance(event, ResultCounted) else []
        if self.longest and max(lengths, default=0) < self.longest:
            return False
        return not self.ending or self.ending == ending_of(ticket, event, self.player, sides)


def ending_of(ticket: Ticket, event: Settled, player: str, sides: tuple[int, ...] | None) -> str:
    """Return how a match ended for a player, or for the first entry; empty where nobody is beaten."""
    if isinstance(event, TicketVoided):
        return "void"
    names = [entry.player for entry in ticket.entries]
    place = next((i for i, name in enumerate(names) if name == player), 0)
    scores = match_json(ticket, event.episodes, None, sides)["scores"]
    if scores is None or scores[place] is None:
        return ""
    return "drawn" if scores[place] == 0.5 else "won" if scores[place] > 0.5 else "lost"


class PagedRows:
    """The rows of a live ledger, asked from its replica."""

    def __init__(self, client: Client, clock: Callable[[], float] = time.monotonic) -> None:
        self._client, self._clock = client, clock
        self._request = 0
        self.head = 0

    def open(self) -> None:
        """Find out how many rows there are; raise ViewError if nobody answers."""
        self.head = self._ask(1 << 60, ANSWER_SECONDS).head

    def read(self, since: int, limit: int) -> list[tuple[int, bytes]]:
        """Return up to so many rows after a number."""
        rows: list[tuple[int, bytes]] = []
        while len(rows) < limit and since < self.head:
            page = self._ask(since, WAIT_SECONDS)
            if not page.events:
                break
            rows += enumerate(page.events, start=since + 1)
            since += len(page.events)
        return rows[:limit]

    def _ask(self, since: int, seconds: float) -> Page:
        self._request += 1
        self._client.send(Follow(request=self._request, since=since))
        deadline = self._clock() + seconds
        while (left := deadline - self._clock()) > 0:
            for message, _ in self._client.receive(left):
                if isinstance(message, Refused):
                    raise ViewError(f"the replica refused: {message.reason}")
                if isinstance(message, Page) and message.request == self._request:
                    return message
        raise ViewError("the replica does not answer")


def with_rows(run: RunDirectory, use: Callable[[RowSource], Found]) -> Found:
    """Return `use(rows)`, with the rows of the replica, or of the ledger if no replica answers."""
    if may_answer(run.read_rendezvous("replica")):
        with replica_client(run) as client:
            rows = PagedRows(client)
            try:
                rows.open()
            except ViewError:
                pass  # it is gone, and what it had is in the ledger
            else:
                return use(rows)
    return look(run.ledger, use)


def search_matches(
    run: RunDirectory, wanted: MatchFilter, before: int | None, limit: int, sides: tuple[int, ...] | None
) -> dict[str, Any]:
    """Return matches, each as `ludus matches --json` has it with the number `seq` of its row, and where to go on.

    before: the row to search from the next time; null if there is nothing older.
    """

    def search(rows: RowSource) -> tuple[list[SettledTicket], int]:
        upto = rows.head if before is None else min(before, rows.head)
        return settled_before(rows, upto, limit, wanted.wants, lambda t, e: wanted.fits(t, e, sides))

    found, next_row = with_rows(run, search)
    return {"matches": [_match(one, wanted.player, sides) for one in found], "before": next_row or None}


def _match(one: SettledTicket, player: str, sides: tuple[int, ...] | None) -> dict[str, Any]:
    event = one.event
    episodes, void = (event.episodes, None) if isinstance(event, ResultCounted) else ((), event.why)
    plain = match_json(one.ticket, episodes, void, sides)
    return plain | {"seq": one.seq, "ending": ending_of(one.ticket, event, player, sides)}


def find_match(run: RunDirectory, number: int, seq: int | None) -> SettledTicket:
    """Return a settled ticket by its number; `seq`, if it is known, is the row that settled it."""

    def search(rows: RowSource) -> list[SettledTicket]:
        upto = rows.head if seq is None else min(seq, rows.head)
        found: list[SettledTicket] = []
        while upto and not found:
            found, upto = settled_before(rows, upto, 1, lambda ticket: ticket.number == number)
        return found

    found = with_rows(run, search)
    if not found:
        raise ViewError(f"ticket {number} is not settled, or does not exist")
    return found[0]


def sides_of(state: LeagueState) -> dict[str, Any]:
    """Return what a search needs to know of a league: the sides of its entries, and its seed."""
    return {"sides": None if state.env is None else tuple(state.env.sides), "seed": state.seed}
