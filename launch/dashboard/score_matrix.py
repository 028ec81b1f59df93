"""The payoff as bytes for a heat map: a header in JSON, then one byte for each cell.

    packed = pack(players, cells(state, players, appraisal), {"by": "outcome"})

A byte is the score in per cent (0 to 100); 128 more if the two have not met and the ratings predict it; 255 if nothing
is known. A thousand players are a megabyte. What a cell says in full, a page asks for when somebody points at it.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from launch.viewers.return_columns import is_cooperative
from league.appraisal import Appraisal
from league.game_counts import FADED
from league.ids import PlayerId
from league.margins import to_score
from league.payoff import Payoff
from league.standings import cross_play, payoff_table
from league.state import LeagueState

PREDICTED, UNKNOWN = 128, 255
Order = Literal["rating", "kind", "cluster"]
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def pack(players: Sequence[str], cells: Bytes, more: Mapping[str, Any]) -> bytes:
    """Return header and cells: the length of the header in four bytes, little end first, the header, the cells."""
    header = msgspec.json.encode({"players": players, **more})
    return struct.pack("<I", len(header)) + header + cells.tobytes()


def score_cells(state: LeagueState, payoff: Payoff, players: Sequence[PlayerId], appraisal: Appraisal | None) -> Bytes:
    """Return what each player scores against each other one, as the bytes of `pack`."""
    if is_cooperative(state):
        return _returned_cells(payoff, players)
    rows = payoff.find_all(players)
    wins, draws = (payoff.matrix[name][np.ix_(rows, rows)] for name in ("wins", "draws"))
    games = wins + draws + wins.T
    met = games >= FADED
    scores = np.where(met, (wins + draws / 2) / np.maximum(games, FADED), np.nan)
    found = _as_bytes(scores)
    if appraisal is not None:
        found = np.where(met, found, _predicted(payoff, players, appraisal))
    np.fill_diagonal(found, UNKNOWN)
    return found.astype(np.uint8)


def _as_bytes(scores: Floats) -> Bytes:
    known = np.isfinite(scores)
    rounded = np.rint(100 * np.clip(np.where(known, scores, 0.0), 0.0, 1.0))
    return np.where(known, rounded, UNKNOWN).astype(np.uint8)


def _predicted(payoff: Payoff, players: Sequence[PlayerId], appraisal: Appraisal) -> Bytes:
    """Return what ratings predict, marked."""
    place = {player: i for i, player in enumerate(appraisal.players)}
    rows = [place[player] for player in players]
    marked, expected = (table[np.ix_(rows, rows)] for table in (appraisal.nash.filled, appraisal.nash.payoff))
    outcome = appraisal.fit.by == "outcome"
    scores = np.asarray(expected + 0.5 if outcome else to_score(expected, payoff.scale), np.float64)
    return np.where(marked, _as_bytes(scores) + PREDICTED, UNKNOWN).astype(np.uint8)


def _returned_cells(payoff: Payoff, players: Sequence[PlayerId]) -> Bytes:
    """Return what players return with one another, from the least (0) to the most (100)."""
    means = [[np.nan if cell is None else cell.mean for cell in row] for row in cross_play(players, payoff).cells]
    table = np.array(means, np.float64).reshape(len(players), len(players))
    known = table[np.isfinite(table)]
    if not len(known):
        return _as_bytes(table)
    least, most = known.min(), known.max()
    return _as_bytes((table - least) / (most - least) if most > least else table * 0 + 0.5)


def cell_json(payoff: Payoff, state: LeagueState, a: PlayerId, b: PlayerId, appraisal: Appraisal | None) -> Any:
    """Return all that is known about a pair, as `ludus payoff --json` has it; `filled` if they have not met."""
    if is_cooperative(state):
        return {"cell": msgspec.to_builtins(cross_play([a, b], payoff).cells[0][1]), "filled": None}
    table = payoff_table([a, b], payoff, appraisal)
    return {"cell": msgspec.to_builtins(table.cells[0][1]), "filled": table.filled[0][1] if table.filled else None}


def ordered(players: Sequence[PlayerId], kinds: Mapping[PlayerId, str], cells: Bytes, order: Order) -> list[int]:
    """Return the places of the players, given by rating, in another order: by kind, or such that equals are close."""
    places = list(range(len(players)))
    if order == "kind":
        return sorted(places, key=lambda i: (kinds[players[i]], i))
    if order == "cluster" and len(places) > 2:
        return _clustered(cells)
    return places


def _clustered(cells: Bytes) -> list[int]:
    """Return an order in which players with similar scores against everybody are neighbours."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    scores = np.where(cells == UNKNOWN, 50, cells % PREDICTED).astype(np.float64)
    found: list[int] = leaves_list(linkage(scores, "average")).tolist()
    return found
