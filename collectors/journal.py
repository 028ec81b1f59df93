"""A collector's journal: which of its results were acknowledged. `ludus verify` holds it against the ledger."""

import logging
from collections.abc import Sequence
from pathlib import Path

import msgspec

from league.wire.messages import Ack

log = logging.getLogger("ludus.collector")


class Journal:
    """One JSON object in each line. Losing its tail in a crash is fine: it may only claim too little."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, acks: Sequence[Ack]) -> None:
        """Note that these results were acknowledged."""
        lines = ({"ticket": ack.ticket, "attempt": ack.attempt, "verdict": ack.verdict} for ack in acks)
        try:
            with self._path.open("ab") as file:
                file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        except OSError as error:  # a full disk stops no play
            log.warning("tickets %s are not in the journal: %s", [ack.ticket for ack in acks], error)
