"""The games of a learning player since each of its candidates: what "surely above" needs, and faded counts cannot give.

games = CandidateGames()
games.note(totals)                                   # at each candidate: wins, draws and losses against everybody
counts, starts = games.since(targets, totals)        # [targets, starts, 3]
surely_above(counts, 0.7, starts).all()
games.clear()                                        # at a freeze or reset
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId
from league.sequential import kept_starts

Totals = Mapping[PlayerId, tuple[int, int, int]]
NONE = (0, 0, 0)


class CandidateGames:
    """Totals against all opponents at some candidates since the last freeze; the further back, the fewer are kept.

    Totals never fade, so differences count games. A target that joined later had no games at earlier starts.
    """

    def __init__(self) -> None:
        self._candidates = 0
        self._totals: dict[int, dict[PlayerId, tuple[int, int, int]]] = {}

    def note(self, totals: Totals) -> None:
        """Begin a start at a new candidate, and drop those that are kept no longer."""
        kept = set(kept_starts(self._candidates))
        self._totals = {start: known for start, known in self._totals.items() if start in kept}
        self._totals[self._candidates] = dict(totals)
        self._candidates += 1

    def since(self, targets: Sequence[PlayerId], totals: Totals) -> tuple[npt.NDArray[np.float64], list[int]]:
        """Return [targets, starts, 3] the games won, drawn and lost since each start, and the starts."""
        now = np.array([totals.get(target, NONE) for target in targets], np.float64).reshape(len(targets), 1, 3)
        begun = [[known.get(target, NONE) for known in self._totals.values()] for target in targets]
        then = np.array(begun, np.float64).reshape(len(targets), len(self._totals), 3)
        return now - then, list(self._totals)

    @property
    def looks(self) -> int:
        """The number of candidates since the last freeze or reset: the league looks at the games after each."""
        return self._candidates

    def clear(self) -> None:
        """Forget all: the player was frozen or reset, and has to prove itself again."""
        self._candidates, self._totals = 0, {}

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and strings."""
        totals = {str(start): {name: list(t) for name, t in known.items()} for start, known in self._totals.items()}
        return {"candidates": self._candidates, "totals": totals}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Self:
        """Return what `to_dict` wrote."""
        games = cls()
        games._candidates = saved["candidates"]
        for start, known in saved["totals"].items():
            games._totals[int(start)] = {PlayerId(name): (t[0], t[1], t[2]) for name, t in known.items()}
        return games
