"""A fold that comes from the replica in pieces."""

import hashlib

import msgspec

from league.rulebook import LeagueConfig
from league.state import LeagueState
from league.store.fold import decode_fold
from league.wire.messages import FetchFold, FoldChunk


class Download:
    """Collects the pieces in order; the replica may offer another fold instead of the one that was begun."""

    def __init__(self) -> None:
        self._digest, self._size = "", -1
        self._body = bytearray()

    @property
    def complete(self) -> bool:
        """Whether all pieces are here."""
        return len(self._body) == self._size

    def question(self, request: int) -> FetchFold:
        """Return the request for the next piece."""
        return FetchFold(request=request, digest=self._digest, offset=len(self._body))

    def take(self, chunk: FoldChunk) -> bool:
        """Take a piece; False if it is not the next one, as when it was asked for twice."""
        if chunk.digest != self._digest:
            if chunk.offset:
                return False
            self._digest, self._size, self._body = chunk.digest, chunk.size, bytearray()
        if chunk.offset != len(self._body) or not chunk.data:
            return False
        self._body += chunk.data
        return True

    def open(self, config: LeagueConfig) -> tuple[LeagueState, int] | None:
        """Return the state and its last event; None if it is damaged, or of other rules or another version."""
        body = bytes(self._body)
        if hashlib.sha256(body).hexdigest() != self._digest:
            return None
        try:
            found = decode_fold(body, config)
        except (msgspec.DecodeError, ValueError, KeyError, IndexError):
            return None
        return None if found is None else found[:2]
