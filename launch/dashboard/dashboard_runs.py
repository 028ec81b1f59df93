"""The runs that one dashboard shows: all of a folder, or one; each is followed only while somebody looks at it."""

from pathlib import Path
from threading import Lock
from typing import Any

from launch.dashboard.history import History
from launch.dashboard.run_feed import RunFeed
from launch.viewers.listing import run_json
from launch.viewers.view import ViewError
from league.store.run_directory import RunDirectory


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
        self._histories: dict[str, History] = {}
        self._cards: dict[str, tuple[object, dict[str, Any]]] = {}
        self._lock = Lock()

    def found(self) -> dict[str, RunDirectory]:
        """Return all runs by name, the newest first."""
        if self.only is not None:
            return {self.only.name: self.only}
        assert self._folder is not None
        configs = sorted(self._folder.glob("*/config.json"), key=lambda path: -path.stat().st_mtime_ns)
        return {path.parent.name: RunDirectory(path.parent) for path in configs}

    def run(self, name: str) -> RunDirectory:
        """Return a run by its name; only names of this folder lead anywhere."""
        found = self.found()
        if name not in found:
            raise ViewError(f"there is no run {name[:80]!r} here; there are: {', '.join(list(found)[:20]) or 'none'}")
        return found[name]

    def feed(self, name: str) -> RunFeed:
        """Return the feed of a run, the same one for all."""
        with self._lock:
            if name not in self._feeds:
                self._feeds[name] = RunFeed(self.run(name), self._allow)
                self._feeds[name].past = lambda: self._histories.get(name)
            return self._feeds[name]

    def history(self, name: str) -> History:
        """Return the past of a run, the same one for all."""
        with self._lock:
            if name not in self._histories:
                self._histories[name] = History(self.run(name))
            return self._histories[name]

    def cards(self) -> list[dict[str, Any]]:
        """Return all runs as `ludus list --json` does; one that has not changed is not read again."""
        cards = []
        for name, run in self.found().items():
            mark = _mark(run)
            known = self._cards.get(name)
            if known is None or known[0] != mark or known[1]["state"] == "running":
                known = self._cards[name] = mark, run_json(run)
            cards.append(known[1])
        return cards

    def close(self) -> None:
        """Stop to follow all of them."""
        for one in (*self._feeds.values(), *self._histories.values()):
            one.close()


def _mark(run: RunDirectory) -> object:
    """Return what changes when a run does."""
    paths = (run.config, run.ledger, run.ledger.with_name(f"{run.ledger.name}-wal"))
    return [(path.stat().st_mtime_ns, path.stat().st_size) if path.exists() else None for path in paths]
