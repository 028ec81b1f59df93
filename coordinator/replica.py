"""The replica: a process that serves viewers and trackers, so that their number does not affect the league.

replica = Replica(feed, server, rules, clock)
while True:
    replica.step(timeout)

It sends requests to the coordinator's feed, one at a time: mostly for the newest events, which it folds, sometimes for
an older page that a viewer requests, or with a tracker's note. An answer is at least as new as its request. While the
coordinator does not answer, requests for the newest events wait.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from coordinator.audience import Audience, Waiting
from coordinator.mirror import Mirror
from league.rulebook import LeagueConfig
from league.wire.messages import Done, FetchFold, FoldChunk, Follow, Message, Note, Page, Refused
from league.wire.ports import Client, Incoming, Server

log = logging.getLogger("ludus.replica")

POLL = 0.25  # seconds between two requests for the newest events, if no viewer waits for them
ASK_AGAIN_SECONDS = 1.0  # seconds after which an unanswered request is followed by another


@dataclass(frozen=True, slots=True)
class _Flight:
    """The request to the coordinator that is under way. If `waiting` is None, it is for the newest events."""

    question: Follow | Note
    sent: float
    waiting: Waiting | None = None


class Replica:
    """Answers the audience from its mirror and from the coordinator's feed."""

    def __init__(
        self,
        feed: Client,
        server: Server,
        rules: LeagueConfig,
        clock: Callable[[], float],
        checkpoint: Path | None = None,
        trackers: Collection[str] | None = None,
    ) -> None:
        self._feed, self._server, self._clock = feed, server, clock
        self._trackers = trackers  # names that may store notes; None: any name
        self.mirror, self.audience = Mirror(rules, checkpoint), Audience()
        self._flight: _Flight | None = None
        self._request = 0
        self._polled = self._fresh = float("-inf")  # when the newest events were last requested, and were last complete
        self._polled_last = False
        self.slow = 0  # answers that could not be sent, because their peers do not read

    @property
    def ready(self) -> bool:
        """Whether it has ever had all events of the ledger."""
        return self._fresh > float("-inf")

    @property
    def term(self) -> int:
        """The coordinator's term, 0 if it is not known yet."""
        return 0 if self.mirror.status is None else self.mirror.status.term

    def step(self, timeout: float) -> None:
        """Run one step: receive requests and the feed's answer, answer what it can, request what is missing."""
        asking = self._flight is not None
        for incoming in self._server.receive(0.0 if asking else timeout):
            self._queue(incoming)
        for message, _ in self._feed.receive(timeout if asking else 0.0):
            self._take(message)
        now = self._clock()
        for waiting in self.audience.waiting(now):
            reply = self._reply(waiting, now)
            if reply is not None:
                self._send(waiting, reply, now)
        self._request_next(now)

    # --- the audience ----------------------------------------------------------------------------------------

    def _queue(self, incoming: Incoming) -> None:
        """Queue a request; refuse it if the audience does, or if it is a note of an unknown tracker."""
        message = incoming.message
        if isinstance(message, Note) and self._trackers is not None and message.name not in self._trackers:
            reason = f"track.to names no tracker {message.name[:64]!r}"
        else:
            reason = self.audience.receive(incoming.peer, incoming.role, message, self._clock())
        if reason:
            self._server.send(incoming.peer, Refused(reason=reason))

    def _reply(self, waiting: Waiting, now: float) -> Message | None:
        """Return the answer to a request, if the mirror has it, else None."""
        match waiting.wish:
            case Follow() as follow if self.mirror.has(follow):
                return self.mirror.page(follow) if self._fresh >= waiting.at else None
            case Follow() as follow:
                return self.mirror.cached(follow)
            case FetchFold() as fetch:
                return self.mirror.chunk(fetch, now) if self.ready else None
        return None

    def _send(self, waiting: Waiting, reply: Message, now: float) -> None:
        self.audience.served(waiting, _size(reply), now)
        if not self._server.send(waiting.peer, reply):
            self.slow += 1
            self.audience.drop(waiting, now)

    # --- the feed --------------------------------------------------------------------------------------------

    def _request_next(self, now: float) -> None:
        """Send the next request to the coordinator: for the newest events or on behalf of a peer, in turns."""
        if self._flight is not None and now - self._flight.sent < ASK_AGAIN_SECONDS:
            return
        wanted = next((w for w in self.audience.waiting(now) if self.ready and self._needs_feed(w)), None)
        poll = now - self._polled >= POLL or not self.mirror.complete or self._newest_wanted(now)
        if poll and not (wanted is not None and self._polled_last):
            wanted, self._polled = None, now
        elif wanted is None:
            self._flight = None
            return
        self._request += 1
        self._polled_last = wanted is None
        question: Follow | Note = Follow(request=self._request, since=self.mirror.seq, mark=self.mirror.mark)
        if wanted is not None:
            assert isinstance(wanted.wish, Follow | Note)
            question = replace(wanted.wish, request=self._request)
        self._flight = _Flight(question, now, wanted)
        self._feed.send(question)

    def _needs_feed(self, waiting: Waiting) -> bool:
        wish = waiting.wish
        if isinstance(wish, Follow):
            return not self.mirror.has(wish) and self.mirror.cached(wish) is None
        return isinstance(wish, Note)

    def _newest_wanted(self, now: float) -> bool:
        """Return whether a request waits for events that are newer than the last poll."""
        return any(
            self._fresh < w.at and isinstance(w.wish, Follow) and self.mirror.has(w.wish)
            for w in self.audience.waiting(now)
        )

    def _take(self, message: Message) -> None:
        """Handle an answer of the coordinator; ignore late answers to earlier requests."""
        flight = self._flight
        if flight is None or getattr(message, "request", flight.question.request) != flight.question.request:
            return
        self._flight = None
        if flight.waiting is not None:
            self._pass_on(flight, flight.waiting, message)
        elif isinstance(message, Page):
            self.mirror.take(message)
            if self.mirror.complete:
                self._fresh = flight.sent
        elif self.mirror.mark:
            log.warning("the checkpoint of the fold is not used: %s", message)
            self.mirror.restart()
        else:
            log.error("the feed answered with %s", message)

    def _pass_on(self, flight: _Flight, first: Waiting, message: Message) -> None:
        """Forward an answer to its peer; a page also to all peers that requested it before `flight` was sent."""
        now, receivers = self._clock(), [first]
        if isinstance(message, Page) and isinstance(first.wish, Follow):
            self.mirror.keep(first.wish, message)
            receivers += [w for w in self.audience.waiting(now) if w.at <= flight.sent and _same(w, first)]
        for waiting in receivers:
            whose = isinstance(message, Page | Done)
            self._send(waiting, replace(message, request=waiting.wish.request) if whose else message, now)


def _same(waiting: Waiting, other: Waiting) -> bool:
    """Return whether two different requests are for the same page."""
    a, b = waiting.wish, other.wish
    same = isinstance(a, Follow) and isinstance(b, Follow) and (a.since, a.measured) == (b.since, b.measured)
    return same and waiting is not other


def _size(reply: Message) -> int:
    if isinstance(reply, Page):
        return sum(map(len, reply.events)) + 200 * (len(reply.metrics) + len(reply.workers))
    return len(reply.data) if isinstance(reply, FoldChunk) else 0
