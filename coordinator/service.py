"""The service: drain the socket, let the coordinator decide, commit once, then answer. It decides nothing itself.

The replica serves viewers and trackers. It is the only client of the `feed`, with one request under way, and gets at
most one answer in FEED_REST seconds: the cost does not depend on the number of viewers.
"""

import logging
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from coordinator import pages
from coordinator.coordinator import Coordinator
from coordinator.opening import refold
from coordinator.pages import first_page
from league.events import LedgerDamaged, SnapshotPruned
from league.ids import Hash
from league.metrics import BUSY_SHARE, LOAD_PER_CORE, LONGEST_STEP_MS, OPEN_TICKETS, WAITING_TICKETS
from league.plugins import PluginError
from league.store.chain import to_text
from league.store.fold import encode_fold, publish_fold
from league.store.ledger import Ledger, LedgerError, LedgerFull, Measured
from league.store.scrub import Scrub
from league.wire.messages import Done, Follow, Message, Note, Orders, Page, Refused
from league.wire.ports import Incoming, Server

log = logging.getLogger("ludus.coordinator")

DRAIN = 1000  # messages in one commit, at most
TICK = 0.1  # seconds between two checks of leases and budget
METRICS = (2.0, 5.0)  # seconds between two rows of metrics of one process: at first, and after some minutes
LATE = 10.0  # seconds for which rows of metrics wait for a collector that has not reported any since the last rows
GROWTH = 90.0  # seconds of play after which the interval of metrics is one second longer
FEED_REST = 0.02  # seconds between two answers to the replica, at least
ROWS = 500  # rows of metrics in one page, at most
NOTES = 32  # notes of trackers, at most
CHECKPOINT = 50_000  # events between two checkpoints of the fold
SCRUB, SCRUB_SHARE = 1.0, 0.01  # seconds between two scrubs, at least, and the share of time that they may take
ARCHIVE_AGAIN = 60.0  # seconds until archiving is tried again after a failure
VACUUM, SPARE = 256, 4096  # unused pages of the ledger that are freed at a time, and that it may keep
BROKEN = 1.0  # seconds until a commit is tried again after a failure


class Service:
    """Runs a coordinator between a server and a ledger."""

    def __init__(
        self,
        coordinator: Coordinator,
        ledger: Ledger,
        server: Server,
        clock: Callable[[], float],
        delete: Callable[[Hash], None] = lambda snapshot: None,
        checkpoint: Path | None = None,
        feed: Server | None = None,
    ) -> None:
        self.coordinator = coordinator
        self.metrics_every = METRICS[0]  # seconds between two rows of metrics at first
        self._feed, self._fed_at = feed, float("-inf")
        self._ledger, self._server, self._clock, self._delete = ledger, server, clock, delete
        self._played = coordinator.elapsed = float(ledger.meta("elapsed") or 0.0)
        self._begun: float | None = None  # since when tickets can be handed out; None: they cannot
        self._ticked = self._measured = clock()
        self._broken_until, self._broken = 0.0, ""  # until when no commit is tried, and why
        self._checkpoint, self._checkpointed = checkpoint, 0  # 0: the one on disk may be old, or unusable
        self._fold: bytes | None = None  # the newest checkpoint, to which a failed commit rolls back
        self._notes = ledger.notes()
        self._new_notes: dict[str, str] = {}
        self._scrub, self._scrub_at = Scrub(ledger), clock() + SCRUB
        self._archive_at = 0.0  # when archiving may be tried next
        self._damage: set[str] = set()  # damage of the ledger that this term has reported
        if not ledger.sealed:
            self._report_damage("the facts about the ledger (table meta) are not those that were sealed")
        self._busy = self._longest = 0.0  # seconds of work since the last metrics: in total, and in the longest step
        self.commits = 0

    def elapsed(self, now: float) -> float:
        """Return the seconds of play in all terms; play starts with the first candidate, and rests in a pause."""
        if self.coordinator.state.paused:
            self._played, self._begun = self._played + (0.0 if self._begun is None else now - self._begun), None
            return self._played
        if self._begun is None:
            if not self.coordinator.state.candidates:
                return self._played
            self._begun = now
        return self._played + now - self._begun

    def step(self, timeout: float) -> None:
        """Run one step: wait up to `timeout` seconds for messages, then decide, commit and answer."""
        incoming = self._server.receive(timeout, DRAIN)
        now = self._clock()
        broken = now < self._broken_until
        replies = [] if broken else [(i.peer, self._answer(i, now)) for i in incoming]
        fed = self._take_feed(broken, now)
        metrics: list[tuple[float, str, dict[str, float]]] = []
        if not broken and now - self._ticked >= TICK:
            self._ticked = now
            self.coordinator.tick(now, self.elapsed(now))
            metrics = self._metrics(now)
            self._scrub_some(now)
        if self._commit(metrics, now):
            self._send(self._server, replies)
            if self._feed is not None:
                self._send(self._feed, fed)
            if now == self._ticked:
                self._archive_some(now)
        if self._ledger.head - self._checkpointed >= CHECKPOINT:
            self._write_checkpoint()
        worked = self._clock() - now
        self._busy, self._longest = self._busy + worked, max(self._longest, worked)

    def _write_checkpoint(self) -> None:
        """Write a checkpoint of the fold. A failure is only logged, because a checkpoint only saves time."""
        if self.coordinator.unsaved:
            return  # the state is ahead of the ledger, so it is not the ledger's fold
        self._checkpointed = self._ledger.head
        self._fold = self._encoded()
        if self._checkpoint is None:
            return
        try:
            publish_fold(self._checkpoint, self._fold)
        except OSError as error:
            log.warning("no checkpoint of the fold was written: %s", error)

    def _archive_some(self, now: float) -> None:
        """Move a segment of old events into the archive if one is due; else free unused pages of the ledger."""
        if now < self._archive_at:
            return
        rules, ledger = self.coordinator.state.config.archive, self._ledger
        try:
            if rules.due(ledger.live, ledger.live_bytes() / 1e6):
                ledger.put_away(rules.segment_events)
            else:
                ledger.shrink(VACUUM, SPARE)
        except (LedgerFull, OSError) as error:
            self._archive_at = now + ARCHIVE_AGAIN
            log.warning("old events could not be archived, and stay in the ledger: %s", error)
        except LedgerError as error:
            self._archive_at = math.inf
            self._report_damage(str(error))

    def _scrub_some(self, now: float) -> None:
        """Re-read some old rows of the ledger, for at most SCRUB_SHARE of the time."""
        if now < self._scrub_at:
            return
        problem, then = self._scrub.look(), self._clock()
        self._scrub_at = then + max(SCRUB, (then - now) / SCRUB_SHARE)
        if problem:
            self._report_damage(problem)

    def _report_damage(self, problem: str) -> None:
        if problem not in self._damage:
            self._damage.add(problem)
            log.error("the ledger is damaged: %s; stop the league, and see ludus verify", problem)
            self.coordinator.emit(LedgerDamaged(what=problem))

    def _encoded(self) -> bytes:
        head = self._ledger.head
        return encode_fold(self.coordinator.state, head, self._ledger.mark(head))

    def _answer(self, incoming: Incoming, now: float) -> Message | None:
        """Return the coordinator's answer to a message; a refusal if handling it raises.

        A rule of the league that cannot be loaded is raised: every later message would fail in the same way.
        """
        try:
            return self.coordinator.handle(incoming.role, incoming.message, now, incoming.name)
        except PluginError:
            raise
        except Exception:
            log.exception("could not handle %s", type(incoming.message).__name__)
            return Refused(reason="the coordinator could not handle this message; see its log")

    def _take_feed(self, broken: bool, now: float) -> list[tuple[bytes, Message | None]]:
        """Return the answer to the replica, at most one in FEED_REST. Notes wait while the ledger cannot be written."""
        if self._feed is None or now - self._fed_at < FEED_REST:
            return []
        incoming = self._feed.receive(0.0, 1)
        self._fed_at = now if incoming else self._fed_at
        taken = [i for i in incoming if not broken or isinstance(i.message, Follow)]
        return [(i.peer, self._feed_answer(i.message, now)) for i in taken]

    def _feed_answer(self, message: Message, now: float) -> Message:
        try:
            if isinstance(message, Follow):
                if message.mark and message.mark != self._ledger.mark(message.since):
                    return Refused(reason=f"this ledger has another history up to event {message.since}")
                return self._page(message, now)
            if isinstance(message, Note):
                return self._note(message)
        except Exception:
            log.exception("could not handle %s of the replica", type(message).__name__)
        return Refused(reason=f"the coordinator's feed could not answer this {type(message).__name__}; see its log")

    def _page(self, follow: Follow, now: float) -> Page:
        state = self.coordinator.state
        budget = state.config.budget.minutes
        events, metrics = self._events(follow.since), self._rows(follow)
        if len(metrics) == ROWS:  # leave out events after the last row: more rows may precede them
            events = events[: max(0, metrics[-1].seq - follow.since)]
        return Page(
            term=state.term,
            request=follow.request,
            since=follow.since,
            events=events,
            metrics=tuple(row for row in metrics if row.seq <= follow.since + len(events)),
            measured=0 if follow.measured is None else self._ledger.measured,
            notes={} if follow.measured is None else self._notes,
            head=self._ledger.head,
            workers=self.coordinator.workers(now),
            elapsed=self.elapsed(now),
            seconds_left=None if budget is None else max(0.0, budget * 60 - self.elapsed(now)),
            broken=self._broken,
        )

    def _events(self, since: int) -> tuple[bytes, ...]:
        return first_page(body for _, body in self._ledger.read(since, pages.PAGE))

    def _rows(self, follow: Follow) -> list[Measured]:
        if follow.measured is None:
            return []
        return self._ledger.metrics(follow.measured, self._ledger.head, ROWS)

    def _note(self, note: Note) -> Message:
        """Store a note with the next commit; the answer is sent after it, as all answers are."""
        if len({*self._notes, note.name}) > NOTES:
            return Refused(reason=f"there are {NOTES} notes already")
        self._notes[note.name] = self._new_notes[note.name] = note.text
        return Done(term=self.coordinator.state.term, request=note.request)

    def _metrics(self, now: float) -> list[tuple[float, str, dict[str, float]]]:
        waited = now - self._measured - pace(self.elapsed(now), self.metrics_every)
        if waited < 0 or (waited < LATE and self.coordinator.processes.behind(now, LATE)):
            return []  # the speed of the league is a sum over collectors, and would be too low without one of them
        fresh = self.coordinator.take_metrics()
        if fresh:
            fresh.append(("coordinator", self._own_metrics(now - self._measured)))
        self._measured = now
        return [(self.elapsed(now), name, values) for name, values in fresh]

    def _own_metrics(self, seconds: float) -> dict[str, float]:
        """Return the load of this loop, the numbers of open and queued tickets, and the load of the machine."""
        busy, longest = self._busy, self._longest
        self._busy = self._longest = 0.0
        return {
            BUSY_SHARE: busy / seconds,
            LONGEST_STEP_MS: 1000 * longest,
            OPEN_TICKETS: float(len(self.coordinator.state.open)),
            WAITING_TICKETS: float(len(self.coordinator.leases.waiting)),
            LOAD_PER_CORE: os.getloadavg()[0] / (os.cpu_count() or 1),
        }

    def _commit(self, metrics: Sequence[tuple[float, str, dict[str, float]]], now: float) -> bool:
        """Commit the decided events; if that fails, roll back to the ledger and return False: no reply may be sent."""
        batch = self.coordinator.take()
        notes, self._new_notes = self._new_notes, {}
        if not batch and not metrics and not notes:
            return True
        try:
            self._ledger.commit(batch, metrics, notes)
            if metrics:
                self._ledger.set_meta("elapsed", repr(self.elapsed(now)))
        except LedgerFull as error:
            self._broken = f"{error}; no tickets are handed out until it can be written again"
            log.error("%s", self._broken)
            self._broken_until, self._notes = now + BROKEN, self._ledger.notes()
            self._roll_back(now)
            return False
        self.commits, self._broken = self.commits + 1, ""
        for event in batch:
            if isinstance(event, SnapshotPruned):
                self._remove(event.snapshot)
        return True

    def _roll_back(self, now: float) -> None:
        """Discard what could not be written: fold the ledger from the newest checkpoint to its end."""
        self._damage.clear()  # its events may be discarded: report it again
        before = self.coordinator
        checkpoint = self._checkpoint if self._fold is None else self._fold
        state = refold(self._ledger, before.state.config, checkpoint)
        admitted, allow = before.processes.admitted, before.league.allow
        self.coordinator = Coordinator(state, before.learners, now, admitted, before.inspect, allow)
        self.coordinator.stopping, self.coordinator.elapsed = before.stopping, before.elapsed
        self._fold = self._encoded()  # if the next commit fails as well, there is nothing to fold

    def _remove(self, snapshot: Hash) -> None:
        try:
            self._delete(snapshot)
        except Exception:  # a file that cannot be deleted only takes disk space
            log.exception("could not delete the snapshot %s", snapshot)

    def _send(self, server: Server, replies: Sequence[tuple[bytes, Message | None]]) -> None:
        head = to_text(self._ledger.end)
        for peer, reply in replies:
            if isinstance(reply, Orders) and reply.acks:  # its journal records the ledger's head
                server.send(peer, msgspec.structs.replace(reply, head=head))
            elif reply is not None:
                server.send(peer, reply)

    def close(self) -> None:
        """Write the time of play and a checkpoint, then close the ledger and the sockets."""
        self._write_checkpoint()
        try:
            self._ledger.set_meta("elapsed", repr(self.elapsed(self._clock())))
        except LedgerFull as error:
            log.error("%s", error)
        self._server.close()
        if self._feed is not None:
            self._feed.close()
        self._ledger.close()


def pace(elapsed: float, least: float = METRICS[0]) -> float:
    """Return the seconds between two rows of metrics, which increase with the time of play, between two bounds.

    A short league needs tens of points, a long one fewer than thousands.

    >>> pace(0.0), pace(270.0), pace(3600.0)
    (2.0, 3.0, 5.0)
    """
    return min(METRICS[1], max(least, elapsed / GROWTH))
