"""The board: where ranks that do not wait leave notes. Each writes its own, and reads the newest of all.

board.write("weights/main", b"...")             # replaces the note of this rank
note = board.newer("weights/main", rank=1)      # None: that rank has written nothing since the last call
board.wait("start/main", rank=0)                # blocks until there is one
board.raise_flag("stop")                        # any rank may
"""

from typing import Any, Protocol

CHUNK = 4 << 20  # bytes: torch's store refuses values of more than 8 MB
MISSING = "\0no such key\0"  # what a store returns for a key that it does not have, because it is told to expect it


class Board(Protocol):
    """Notes by name and rank."""

    @property
    def rank(self) -> int:
        """The number of this rank."""

    @property
    def size(self) -> int:
        """The number of ranks."""

    def write(self, name: str, note: bytes) -> None:
        """Replace the note of this rank."""

    def newer(self, name: str, rank: int) -> bytes | None:
        """Return the newest note of a rank, if this process has not read it yet."""

    def wait(self, name: str, rank: int) -> bytes:
        """Return the newest note of a rank, when there is one."""

    def erase(self, name: str) -> None:
        """Remove the note of this rank, if there is one."""

    def raise_flag(self, name: str) -> None:
        """Raise a flag for all ranks; it stays raised."""

    def flag(self, name: str) -> bool:
        """Return whether any rank has raised a flag."""


class StoreBoard:
    """A board on the key-value store at which the ranks met, such as torch's TCPStore.

    A note is written in chunks under a new number, then the number is announced: readers never see half a note.
    """

    def __init__(self, store: Any, rank: int, size: int) -> None:
        self._store, self.rank, self.size = store, rank, size
        self._written: dict[str, list[tuple[int, int]]] = {}  # numbers and chunks of the notes that are in the store
        self._read: dict[tuple[str, int], bytes] = {}  # what was announced when a note was last read

    def write(self, name: str, note: bytes) -> None:
        """Replace the note of this rank; the one before stays for a reader that is in the middle of it."""
        mine = self._written.setdefault(name, [])
        number = mine[-1][0] + 1 if mine else 0
        chunks = [note[start : start + CHUNK] for start in range(0, max(len(note), 1), CHUNK)]
        for place, chunk in enumerate(chunks):
            self._store.set(f"{name}/{self.rank}/{number}/{place}", chunk)
        self._store.set(f"{name}/{self.rank}", f"{number} {len(chunks)}")
        mine.append((number, len(chunks)))
        while len(mine) > 2:
            self._delete(name, *mine.pop(0))

    def newer(self, name: str, rank: int) -> bytes | None:
        """Return the newest note of a rank, if this process has not read it yet."""
        key = f"{name}/{rank}"
        announced = self._get(key)
        if announced is None or announced == self._read.get((name, rank)):
            return None
        number, chunks = map(int, announced.split())
        parts = [self._get(f"{key}/{number}/{place}") for place in range(chunks)]
        if any(part is None for part in parts):
            return None  # overwritten twice meanwhile: the next call reads the newest
        self._read[name, rank] = announced
        return b"".join(part for part in parts if part is not None)

    def wait(self, name: str, rank: int) -> bytes:
        """Return the newest note of a rank, when there is one."""
        while True:
            self._store.wait([f"{name}/{rank}"])
            self._read.pop((name, rank), None)
            if (note := self.newer(name, rank)) is not None:
                return note

    def erase(self, name: str) -> None:
        """Remove the note of this rank, if there is one."""
        notes = self._written.pop(name, [])
        if notes:
            self._store.delete_key(f"{name}/{self.rank}")
        for number, chunks in notes:
            self._delete(name, number, chunks)

    def _delete(self, name: str, number: int, chunks: int) -> None:
        for place in range(chunks):
            self._store.delete_key(f"{name}/{self.rank}/{number}/{place}")

    def raise_flag(self, name: str) -> None:
        """Raise a flag for all ranks; it stays raised."""
        self._store.set(f"flag/{name}", "1")

    def flag(self, name: str) -> bool:
        """Return whether any rank has raised a flag."""
        return bool(self._store.check([f"flag/{name}"]))

    def _get(self, key: str) -> bytes | None:
        """Return a value, or None at once: `get` would wait for a key that its writer deletes meanwhile."""
        found: bytes = self._store.compare_set(key, MISSING, MISSING)  # changes nothing; returns what is there
        return None if found == MISSING.encode() else found
