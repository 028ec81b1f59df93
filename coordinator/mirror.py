"""The replica's copy of the league: the fold, the newest events, some older pages, and encoded folds."""

import hashlib
from collections import OrderedDict
from pathlib import Path

from msgspec.structs import replace

from coordinator import pages
from coordinator.pages import first_page
from league.rulebook import LeagueConfig
from league.state import LeagueState
from league.store.fold import encode_fold, fold_rows, read_marked
from league.wire.messages import FetchFold, FoldChunk, Follow, Page

TAIL_BYTES = 16 << 20  # of the newest events
CACHE_BYTES = 16 << 20  # of older pages
FOLD_AGE = 5.0  # seconds for which new viewers get the same fold
FOLDS = 2  # encoded folds that are kept, so that a viewer can finish the download of an older one

Key = tuple[int, int | None]  # since, measured


class Mirror:
    """A copy of the league that sends no requests: `take` updates it, `page` and `chunk` read it."""

    def __init__(self, rules: LeagueConfig, checkpoint: Path | None = None) -> None:
        self._rules = rules
        found = None if checkpoint is None else read_marked(checkpoint, rules)
        self._begin(*(found or (LeagueState(rules), 0)))
        self.status: Page | None = None  # the newest page of the feed
        self._cache: OrderedDict[Key, Page] = OrderedDict()
        self._cached = 0
        self._folds: OrderedDict[str, tuple[int, bytes]] = OrderedDict()  # by digest: the last event, the bytes
        self._folded_at = float("-inf")

    def _begin(self, state: LeagueState, seq: int, mark: str = "") -> None:
        self.state, self.seq = state, seq
        self.mark = mark  # of a checkpoint, until the feed confirms that it is of this ledger
        self._tail: list[bytes] = []
        self._tail_bytes, self._tail_since = 0, seq

    @property
    def complete(self) -> bool:
        """Whether it has all events up to the head that the feed reported."""
        return self.status is not None and self.seq >= self.status.head

    def restart(self) -> None:
        """Start from an empty league: what was folded is of another ledger."""
        self._begin(LeagueState(self._rules), 0)

    def take(self, page: Page) -> None:
        """Fold the events of a page of the feed."""
        self.status, self.mark = page, ""
        if page.head < self.seq:
            self.restart()
        if page.since != self.seq:
            return
        fold_rows(self.state, list(enumerate(page.events, start=page.since + 1)))
        self._tail += page.events
        self._tail_bytes += sum(map(len, page.events))
        self.seq += len(page.events)
        if self._tail_bytes > TAIL_BYTES:
            self._shorten()

    def _shorten(self) -> None:
        """Drop the older half of the tail: one large cut is cheaper than many small ones."""
        dropped = 0
        while self._tail_bytes > TAIL_BYTES // 2 and dropped < len(self._tail) - 1:
            self._tail_bytes -= len(self._tail[dropped])
            dropped += 1
        del self._tail[:dropped]
        self._tail_since += dropped

    def has(self, follow: Follow) -> bool:
        """Return whether `page` can answer: the newest events are enough, and no metrics are requested."""
        return follow.measured is None and follow.since >= self._tail_since

    def page(self, follow: Follow) -> Page:
        """Return a page of the newest events. Only the page with the last event lists the workers."""
        assert self.status is not None
        skipped = follow.since - self._tail_since
        found = first_page(self._tail[skipped : skipped + pages.PAGE])
        workers = self.status.workers if follow.since + len(found) >= self.seq else ()
        return replace(
            self.status,
            request=follow.request,
            since=follow.since,
            events=found,
            head=self.seq,
            workers=workers,
            metrics=(),
            measured=0,
            notes={},
        )

    def cached(self, follow: Follow) -> Page | None:
        """Return an older page that was requested before; None if it is not in the cache."""
        key = (follow.since, follow.measured)
        if key not in self._cache:
            return None
        self._cache.move_to_end(key)
        found = self._cache[key]
        return replace(found, request=follow.request, head=max(found.head, self.seq))

    def keep(self, follow: Follow, page: Page) -> None:
        """Cache an older page for later requests. The last page is not cached: it will grow."""
        key = (follow.since, follow.measured)
        if key in self._cache or not page.events or page.since + len(page.events) >= page.head:
            return
        self._cache[key] = replace(page, workers=(), notes={})
        self._cached += _size(page)
        while self._cached > CACHE_BYTES:
            self._cached -= _size(self._cache.popitem(last=False)[1])

    def chunk(self, fetch: FetchFold, now: float) -> FoldChunk:
        """Return the next chunk of the requested fold, or the first chunk of the newest fold if it is not kept."""
        assert self.status is not None
        digest = fetch.digest if fetch.digest in self._folds else self._newest_fold(now)
        seq, body = self._folds[digest]
        offset = fetch.offset if digest == fetch.digest else 0
        data = body[offset : offset + pages.PAGE_BYTES]
        return FoldChunk(
            term=self.status.term,
            request=fetch.request,
            seq=seq,
            digest=digest,
            size=len(body),
            offset=offset,
            data=data,
        )

    def _newest_fold(self, now: float) -> str:
        if not self._folds or now - self._folded_at > FOLD_AGE:
            self._folded_at = now
            body = encode_fold(self.state, self.seq)
            self._folds[hashlib.sha256(body).hexdigest()] = (self.seq, body)
            while len(self._folds) > FOLDS:
                self._folds.popitem(last=False)
        return next(reversed(self._folds))


def _size(page: Page) -> int:
    return sum(map(len, page.events)) + 200 * len(page.metrics)
