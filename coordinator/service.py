"""The service: drain the socket, decide, commit once, then answer. No decision is made here."""

import logging
import os
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

from coordinator.coordinator import Coordinator
from coordinator.opening import refold
from league.events import SnapshotPruned
from league.ids import Hash
from league.store.fold import write_fold
from league.store.ledger import Ledger, LedgerFull, Measured
from league.wire.messages import Done, Follow, Message, Note, Page, Refused, Role
from league.wire.ports import Incoming, Server

log = logging.getLogger("ludus.coordinator")

DRAIN = 1000  # messages in one group commit at most
TICK = 0.1  # seconds between two looks at leases and budget
METRICS = 5.0  # seconds between two rows of metrics of one process
PAGE = 2000  # events in one page for a viewer,
PAGE_BYTES = 1 << 19  # and bytes: a page must fit on the wire
ROWS = 500  # of metrics in one page
NOTES, NOTE_BYTES = 32, 4096  # how many notes of trackers are kept, and how long one may be
CHECKPOINT = 50_000  # events between two checkpoints of the fold
BROKEN = 1.0  # seconds to wait before a ledger that could not be written is tried again


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
    ) -> None:
        self.coordinator = coordinator
        self._ledger, self._server, self._clock, self._delete = ledger, server, clock, delete
        self._played = coordinator.elapsed = float(ledger.meta("elapsed") or 0.0)
        self._begun: float | None = None  # when the first ticket of this term could be handed out
        self._ticked = self._measured = clock()
        self._broken_until, self._broken = 0.0, ""  # until when nothing is tried, and why
        self._checkpoint, self._checkpointed = checkpoint, ledger.head
        self._notes = ledger.notes()
        self._new_notes: dict[str, str] = {}
        self._busy = self._longest = 0.0  # seconds of work since the last metrics: in all, and in one step
        self.commits = 0

    def elapsed(self, now: float) -> float:
        """Return the seconds of play, all terms together; waiting for the first candidate is not play."""
        if self._begun is None:
            if not self.coordinator.state.candidates:
                return self._played
            self._begun = now
        return self._played + now - self._begun

    def step(self, timeout: float) -> None:
        """Serve once: wait up to `timeout` seconds for messages, then decide, commit and answer."""
        incoming = self._server.receive(timeout, DRAIN)
        now = self._clock()
        broken = now < self._broken_until
        replies = [(i.peer, self._answer(i, now)) for i in incoming if not broken or isinstance(i.message, Follow)]
        metrics: list[tuple[float, str, dict[str, float]]] = []
        if not broken and now - self._ticked >= TICK:
            self._ticked = now
            self.coordinator.tick(now, self.elapsed(now))
            metrics = self._metrics(now)
        if self._commit(metrics, now):
            self._send(replies)
        if self._ledger.head - self._checkpointed >= CHECKPOINT:
            self._keep_fold()
        worked = self._clock() - now
        self._busy, self._longest = self._busy + worked, max(self._longest, worked)

    def _keep_fold(self) -> None:
        """Write a checkpoint of the fold, if there is anything new in it. It may fail: it only saves time."""
        if self._checkpoint is None or self._ledger.head == self._checkpointed or self.coordinator.unsaved:
            return  # a state that is ahead of its ledger must never be taken for the fold of it
        self._checkpointed = self._ledger.head
        try:
            write_fold(self._checkpoint, self.coordinator.state, self._ledger.head)
        except OSError as error:
            log.warning("no checkpoint of the fold was written: %s", error)

    def _answer(self, incoming: Incoming, now: float) -> Message | None:
        """Decide what a message means. Whatever is wrong with it is its sender's trouble, not ours."""
        try:
            if isinstance(incoming.message, Follow):
                if incoming.role not in (None, Role.VIEWER, Role.OPERATOR):
                    return Refused(reason=f"a {incoming.role} key may not follow the ledger")
                return self._page(incoming.message, now)
            if isinstance(incoming.message, Note):
                return self._note(incoming)
            return self.coordinator.handle(incoming.role, incoming.message, now)
        except Exception:
            log.exception("could not handle %s", type(incoming.message).__name__)
            return Refused(reason="the coordinator could not handle this message; see its log")

    def _page(self, follow: Follow, now: float) -> Page:
        state = self.coordinator.state
        budget = state.config.budget.minutes
        events, metrics = self._events(follow.since), self._rows(follow)
        if len(metrics) == ROWS:  # no event may overtake a row that belongs before it
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
        bodies = [body for _, body in self._ledger.read(since, PAGE)]
        sizes = accumulate(map(len, bodies))
        return tuple(
            body for i, (body, size) in enumerate(zip(bodies, sizes, strict=True)) if not i or size <= PAGE_BYTES
        )

    def _rows(self, follow: Follow) -> list[Measured]:
        if follow.measured is None:
            return []
        return self._ledger.metrics(follow.measured, self._ledger.head, ROWS)

    def _note(self, incoming: Incoming) -> Message:
        """Keep a note with the next commit; the answer goes out after it, as all answers do."""
        note = incoming.message
        assert isinstance(note, Note)
        if incoming.role not in (None, Role.VIEWER, Role.OPERATOR):
            return Refused(reason=f"a {incoming.role} key may not keep notes")
        if len(note.text) > NOTE_BYTES or len(note.name) > 64 or len({*self._notes, note.name}) > NOTES:
            return Refused(reason=f"a note is too long, or there are more than {NOTES} of them")
        self._notes[note.name] = self._new_notes[note.name] = note.text
        return Done(term=self.coordinator.state.term, request=note.request)

    def _metrics(self, now: float) -> list[tuple[float, str, dict[str, float]]]:
        if now - self._measured < METRICS:
            return []
        fresh = self.coordinator.take_metrics()
        if fresh:
            fresh.append(("coordinator", self._own_metrics(now - self._measured)))
        self._measured = now
        return [(self.elapsed(now), name, values) for name, values in fresh]

    def _own_metrics(self, seconds: float) -> dict[str, float]:
        """Tell how busy this loop is, how much waits, and how crowded the machine is."""
        busy, longest = self._busy, self._longest
        self._busy = self._longest = 0.0
        return {
            "busy_share": busy / seconds,
            "longest_step_ms": 1000 * longest,
            "open_tickets": float(len(self.coordinator.state.open)),
            "waiting_tickets": float(len(self.coordinator.leases.waiting)),
            "load_per_core": os.getloadavg()[0] / (os.cpu_count() or 1),
        }

    def _commit(self, metrics: Sequence[tuple[float, str, dict[str, float]]], now: float) -> bool:
        """Make what was decided durable. If that fails: no replies, no leases, back to what the disk says."""
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
            state = refold(self._ledger, self.coordinator.state.config)
            before = self.coordinator
            self.coordinator = Coordinator(state, before.learners, now)
            self.coordinator.stopping, self.coordinator.elapsed = before.stopping, before.elapsed
            return False
        self.commits, self._broken = self.commits + 1, ""
        for event in batch:
            if isinstance(event, SnapshotPruned):
                self._remove(event.snapshot)
        return True

    def _remove(self, snapshot: Hash) -> None:
        try:
            self._delete(snapshot)
        except Exception:  # a file that cannot be deleted costs room, and nothing else
            log.exception("could not delete the snapshot %s", snapshot)

    def _send(self, replies: Sequence[tuple[bytes, Message | None]]) -> None:
        for peer, reply in replies:
            if reply is not None:
                self._server.send(peer, reply)

    def close(self) -> None:
        """Keep the time of play and the fold, and let go of ledger and socket."""
        self._keep_fold()
        try:
            self._ledger.set_meta("elapsed", repr(self.elapsed(self._clock())))
        except LedgerFull as error:
            log.error("%s", error)
        self._server.close()
        self._ledger.close()
