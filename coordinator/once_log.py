"""Warnings that a peer may cause again and again: each is logged once."""

import logging

NAMES = 4096  # of processes and players that are remembered: a peer may invent any number of them

log = logging.getLogger("ludus.coordinator")


class OnceLog:
    """The last warning about each name; the same one is not logged twice in a row."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def warn(self, about: str, line: str) -> None:
        """Log a warning about a process or a player, unless it was the last one about it."""
        if self._last.get(about) != line and (about in self._last or len(self._last) < NAMES):
            self._last[about] = line
            log.warning("%s: %s", about, line)
