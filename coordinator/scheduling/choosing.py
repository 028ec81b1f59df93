"""Random choices of the scheduler, and the random numbers of each ticket."""

from collections.abc import Sequence

import numpy as np

from league.ticket import Entry


class TicketRandomness:
    """Random generators for tickets: Philox keyed by seed and ticket number, so that no state has to be stored.

    One generator is reset to each key in turn: a new one would request entropy from the system for nothing.
    """

    def __init__(self) -> None:
        self._philox = np.random.Philox(key=0)
        self._rng = np.random.Generator(self._philox)
        self._start = self._philox.state

    def of(self, seed: int, number: int) -> np.random.Generator:
        """Return the generator of one ticket; it invalidates the one returned before."""
        self._start["state"]["key"][:] = seed % 2**64, number
        self._philox.state = self._start
        return self._rng


def any_of(places: Sequence[int], rng: np.random.Generator) -> int:
    """Return a random one of these seats; if there is only one, consume no random number."""
    return places[int(rng.integers(len(places)))] if len(places) > 1 else places[0]


def least_played(entries: Sequence[Entry], games: Sequence[float], rng: np.random.Generator) -> Entry:
    """Return the entry with the fewest games; a random one of several."""
    fewest = min(games)
    ties = [e for e, g in zip(entries, games, strict=True) if g == fewest]
    return ties[int(rng.integers(len(ties)))]
