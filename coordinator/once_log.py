"""Logs warnings that a peer can cause repeatedly, each only once."""

import logging

NAMES = 4096  # names that are remembered, at most: a peer may invent any number of them

log = logging.getLogger("ludus.coordinator")


class OnceLog:
    """Remembers the last warning about each name, and does not log it twice in a row."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def warn(self, about: str, line: str) -> None:
        """Log a warning about a process or a player, unless it equals the last one about that name."""
        if self._last.get(about) != line and (about in self._last or len(self._last) < NAMES):
            self._last[about] = line
            log.warning("%s: %s", about, line)
