"""Random choices of the scheduler, and the random numbers of each ticket."""

from collections.abc import Sequence

import numpy as np

from league.ticket import Entry


class TicketRandomness:
    """The random numbers of each ticket: Philox under a key, so there is no state of a generator to keep.

    One generator is set to each key in turn: making a new one would ask the system for entropy that nobody needs.
    """

    def __init__(self) -> None:
        self._philox = np.random.Philox(key=0)
        self._rng = np.random.Generator(self._philox)
        self._start = self._philox.state

    def of(self, seed: int, number: int) -> np.random.Generator:
        """Return the generator of one ticket; the one before must not be used any more."""
        self._start["state"]["key"][:] = seed % 2**64, number
        self._philox.state = self._start
        return self._rng


def any_of(places: Sequence[int], rng: np.random.Generator) -> int:
    """Return one of some seats; a single one costs no random number."""
    return places[int(rng.integers(len(places)))] if len(places) > 1 else places[0]


def least_played(entries: Sequence[Entry], games: Sequence[float], rng: np.random.Generator) -> Entry:
    """Return the entry with the fewest games; one of them, if there are several."""
    fewest = min(games)
    ties = [e for e, g in zip(entries, games, strict=True) if g == fewest]
    return ties[int(rng.integers(len(ties)))]
