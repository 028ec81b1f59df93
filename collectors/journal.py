"""A collector's journal: which of its results were acknowledged. `ludus verify` holds it against the ledger."""

import logging
from pathlib import Path

import msgspec

from league.wire.messages import Ack

log = logging.getLogger("ludus.collector")


class Journal:
    """One JSON object in each line. Losing its tail in a crash is fine: it may only claim too little."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, ack: Ack) -> None:
        """Note that a result was acknowledged."""
        line = {"ticket": ack.ticket, "attempt": ack.attempt, "verdict": ack.verdict}
        try:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(line) + b"\n")
        except OSError as error:  # a full disk stops no play
            log.warning("ticket %d is not in the journal: %s", ack.ticket, error)
