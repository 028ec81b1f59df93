"""A collector's journal: which of its results were acknowledged. `ludus verify` compares it with the ledger.

It includes the hash of the ledger at that time, which a truncated ledger, or another one, does not have.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

import msgspec

from league.store.files import open_append
from league.store.regular_file import IrregularFile
from league.wire.messages import Ack

log = logging.getLogger("ludus.collector")


class Journal:
    """One JSON object in each line. A crash may lose its tail: then it only claims less."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, acks: Sequence[Ack], head: str = "") -> None:
        """Note that these results were acknowledged; the last line has the ledger's `head` at that time."""
        lines = [{"ticket": ack.ticket, "attempt": ack.attempt, "verdict": ack.verdict} for ack in acks]
        if lines and head:
            lines[-1]["head"] = head
        try:
            with open_append(self._path) as file:
                file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        except (OSError, IrregularFile) as error:  # a full disk must not stop play
            log.warning("tickets %s are not in the journal: %s", [ack.ticket for ack in acks], error)
