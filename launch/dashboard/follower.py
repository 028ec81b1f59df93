"""Follows one run in a thread of its own, while somebody looks: through its replica, or in its ledger if none answers.

    follower = Follower(run, changed=lambda view: ..., watcher=None)
    follower.look()                      # somebody looks now; the thread rests when nobody has looked for a while
    with follower.lock:
        follower.view.state              # changes only while the lock is held
    follower.close()

It never opens a ledger while a replica answers. Without one it reads again when the ledger has changed.
"""

import logging
import threading
import time
from collections.abc import Callable

from launch.viewers.view import View, Watcher, catch_up, following, may_answer, read_rules
from league.errors import LudusError
from league.store.ledger import Generation, generation
from league.store.run_directory import RunDirectory

log = logging.getLogger("ludus.dashboard")

REFRESH_SECONDS = 1.0  # between two requests to a replica
SLICE_SECONDS = 0.05  # for which the lock is held while a request waits for its answer
SILENT_SECONDS = 3.0  # without an answer after which a replica counts as gone
AGAIN_SECONDS = 2.0  # between two looks at what was silent or unreadable
REST_SECONDS = 30.0  # without a look after which nothing is read any more

Changed = Callable[[View], None]


class Follower:
    """A view that is kept up to date while it is looked at.

    `changed` is called without the lock, by the only thread that changes the view: it may read it for long, while
    others read it, too.
    """

    def __init__(
        self,
        run: RunDirectory,
        changed: Changed,
        watcher: Watcher | None = None,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self.run, self.lock = run, threading.Lock()
        self._ready = ready  # whether it is its turn to read: what is more urgent comes first
        self.view: View | None = None
        self.problem = ""  # why there is nothing to see, or nothing new
        self._changed, self._watcher = changed, watcher
        self._looked, self._closed, self._wake = float("-inf"), False, threading.Event()
        self._read: Generation | None = None  # of the ledger that the view has
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Note that somebody looks, and start to read if nobody did."""
        self._looked = time.monotonic()
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._follow, daemon=True, name=f"follow {self.run.name}")
            self._thread.start()
        self._wake.set()

    def close(self) -> None:
        """Stop to read."""
        self._closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(SILENT_SECONDS)

    @property
    def reading(self) -> tuple[int, int]:
        """How many events are read, and of how many."""
        return (0, 0) if self.view is None else (self.view.seq, max(self.view.seq, self.view.head))

    # --- the thread ------------------------------------------------------------------------------------------

    def _wanted(self) -> bool:
        return not self._closed and time.monotonic() - self._looked < REST_SECONDS

    def _pause(self, seconds: float) -> None:
        """Wait, but not after the end."""
        deadline = time.monotonic() + seconds
        while not self._closed and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, SLICE_SECONDS))

    def _follow(self) -> None:
        while not self._closed and not self._ready():
            self._pause(SLICE_SECONDS)
        while not self._closed:
            if not self._wanted():
                self._wake.clear()
                self._wake.wait(REST_SECONDS)
                continue
            try:
                self._follow_once()
                self.problem = ""
            except (LudusError, ValueError, OSError) as error:
                self.problem = str(error)
            except Exception as error:
                log.exception("reading %s failed", self.run.name)
                self.problem = f"{type(error).__name__}: {error}"
            self._pause(AGAIN_SECONDS)

    def _follow_once(self) -> None:
        """Follow the replica until it falls silent or nobody looks; then read what the ledger has."""
        self.run.check()
        if may_answer(self.run.read_rendezvous("replica")):
            self._follow_replica()
        if self._wanted():
            self._read_ledger()

    def _follow_replica(self) -> None:
        with following(self.run, watcher=self._watcher) as viewer:
            if self.view is not None:
                viewer.begin_at(self.view.state, self.view.seq, self.view.measured)
                viewer.head = self.view.head
            answered_at, self._read = time.monotonic(), None
            while self._wanted() and time.monotonic() - answered_at < SILENT_SECONDS:
                with self.lock:
                    answered = viewer.refresh(SLICE_SECONDS)
                    if answered:
                        answered_at, self.view, self.problem = time.monotonic(), viewer, ""
                if viewer.complete:
                    began = time.monotonic()
                    self._changed(viewer)
                    answered_at += time.monotonic() - began  # nobody was asked meanwhile
                self._pause(REFRESH_SECONDS if viewer.complete else SLICE_SECONDS / 10)

    def _read_ledger(self) -> None:
        """Read the ledger if it has changed since it was read."""
        if not self.run.ledger.exists():
            raise LudusError(f"the run {self.run.name} has not started yet: it has no ledger")
        newest = generation(self.run.ledger)
        if newest == self._read:
            return
        view = self.view or View(read_rules(self.run), watcher=self._watcher)
        if self._watcher is not None:
            self.view = view  # so that one can see how far it is
        catch_up(view, self.run)
        self.view = view
        self._changed(view)
        self._read = newest
