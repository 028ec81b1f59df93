"""The runs that one dashboard shows: all of a folder, or one; each is followed only while somebody looks at it."""

import time
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from launch.dashboard.history import History
from launch.dashboard.run_feed import RunFeed
from launch.viewers.listing import RUNNING, run_json
from launch.viewers.view import ViewError
from league.store.run_directory import RunDirectory

CARD_SECONDS = 2.0  # between two looks at a run that is only listed, at least,
CARD_FACTOR = 10.0  # and so many times as long as the last one took


@dataclass(frozen=True, slots=True)
class _Card:
    """A run as it was read, what it looked like then, and until when it is not read again."""

    mark: object
    plain: dict[str, Any]
    until: float


class Runs:
    """Finds runs by name and keeps a feed for each that was looked at.

    Runs(folder=Path("runs"))                   # all of them, also those that begin later
    Runs(only=RunDirectory.find("latest"))      # one
    """

    def __init__(
        self, folder: Path | None = None, only: RunDirectory | None = None, allow: tuple[str, ...] = ()
    ) -> None:
        self._folder, self.only, self._allow = folder, only, allow
        self._feeds: dict[str, RunFeed] = {}
        self._files: dict[str, object] = {}  # the ledger that each feed reads
        self._histories: dict[str, History] = {}
        self._cards: dict[str, _Card] = {}
        self._lock, self._reading = Lock(), Lock()

    def found(self) -> dict[str, RunDirectory]:
        """Return all runs by name, the newest first."""
        if self.only is not None:
            return {self.only.name: self.only}
        assert self._folder is not None
        configs = sorted(self._folder.glob("*/config.json"), key=lambda path: -path.stat().st_mtime_ns)
        return {_shown(path.parent.name): RunDirectory(path.parent) for path in configs}

    def run(self, name: str) -> RunDirectory:
        """Return a run by its name; only names of this folder lead anywhere."""
        found = self.found()
        if name not in found:
            raise ViewError(f"there is no run {name[:80]!r} here; there are: {', '.join(list(found)[:20]) or 'none'}")
        return found[name]

    def begin(self) -> None:
        """Read the only run while its first visitor is on the way."""
        if self.only is not None:
            self.feed(self.only.name).look()

    def feed(self, name: str) -> RunFeed:
        """Return the feed of a run, the same one for all."""
        with self._lock:
            return self._feed(name)

    def _feed(self, name: str) -> RunFeed:
        self._forget_replaced(name)
        if name not in self._feeds:
            self._feeds[name] = RunFeed(self.run(name), self._allow)
            self._feeds[name].past = lambda: self._histories.get(name)
        return self._feeds[name]

    def _forget_replaced(self, name: str) -> None:
        """Close what follows a run that was deleted, if another one has its name now."""
        known = self._feeds.get(name)
        if known is None or (file := _file(known.run)) is None:
            return
        if self._files.setdefault(name, file) != file:
            known.close()
            if name in self._histories:
                self._histories.pop(name).close()
            del self._feeds[name], self._files[name]

    def history(self, name: str) -> History:
        """Return the past of a run, the same one for all; it is read after the first look at the newest state."""
        with self._lock:
            feed = self._feed(name)
            if name not in self._histories:
                self._histories[name] = History(self.run(name), feed.settled)
            return self._histories[name]

    def cards(self) -> list[dict[str, Any]]:
        """Return all runs as `ludus list --json` does; one that has not changed, or was read just now, is not read."""
        with self._reading:  # visitors that come together wait for one reader
            return [self._card(name, run) for name, run in self.found().items()]

    def _card(self, name: str, run: RunDirectory) -> dict[str, Any]:
        mark, now, known = _mark(run), time.monotonic(), self._cards.get(name)
        if known is None or (now >= known.until and (known.mark != mark or known.plain["state"] == RUNNING)):
            plain = run_json(run)
            spent = time.monotonic() - now
            known = self._cards[name] = _Card(mark, plain, now + max(CARD_SECONDS, CARD_FACTOR * spent))
        return known.plain | {"name": name, "age": max(0.0, time.time() - known.plain["created"])}

    def close(self) -> None:
        """Stop to follow all of them."""
        for feed in self._feeds.values():
            feed.close()
        for history in self._histories.values():
            history.close()


def _file(run: RunDirectory) -> object:
    """Return which file the ledger of a run is; None if there is none."""
    try:
        found = run.ledger.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _shown(name: str) -> str:
    """Return the name of a directory as a page can show it: names on disks need not be text."""
    return name.encode(errors="replace").decode()


def _mark(run: RunDirectory) -> object:
    """Return what changes when a run does."""
    paths = (run.config, run.ledger, run.ledger.with_name(f"{run.ledger.name}-wal"))
    return [(path.stat().st_mtime_ns, path.stat().st_size) if path.exists() else None for path in paths]
