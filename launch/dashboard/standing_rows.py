"""The standings as a page needs them: all rows once, then only those that have changed.

rows = StandingRows()
rows.update(standing_rows(state, appraisal))
rows.since(0), rows.since(rows.version)          # all of them; none
"""

from typing import Any

from launch.viewers.return_columns import is_cooperative
from launch.viewers.tables import standing_json, standings_json
from league.appraisal import Appraisal
from league.ids import PlayerId
from league.standings import unrated_standings
from league.state import LeagueState


def standing_rows(state: LeagueState, appraisal: Appraisal | None) -> list[dict[str, Any]]:
    """Return what `ludus standings --json` prints, with what else a page shows.

    wins, draws, losses: of all evaluation games that still count for its row; status, parent, anchor: of the player;
    decisions: that a learning player was trained on, else null; main: whether the league is about it.
    """
    return _completed(state, standings_json(state, appraisal))


def first_rows(state: LeagueState) -> list[dict[str, Any]]:
    """Return the same rows before any ratings are fitted, which takes seconds for a thousand players."""
    if is_cooperative(state):
        return standing_rows(state, None)
    rows = unrated_standings(state.population, state.evaluation, state.elo)
    return _completed(state, [standing_json(state, row) for row in rows])


def _completed(state: LeagueState, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    mains, counts = {player.id for player in state.mains()}, _records(state)
    return [row | counts[row["player"]] | _origin(state, row["player"], mains) for row in rows]


def _origin(state: LeagueState, name: PlayerId, mains: set[PlayerId]) -> dict[str, Any]:
    player = state.population[name]
    newest = state.candidate(name) if player.learning else None
    return {
        "status": player.status.value,
        "parent": player.parent,
        "anchor": player.anchor,
        "decisions": None if newest is None else newest.decisions,
        "main": name in mains,
    }


def _records(state: LeagueState) -> dict[PlayerId, dict[str, int]]:
    """Return wins, draws and losses of each player against all others in evaluation."""
    names = [player.id for player in state.population]
    rows = state.evaluation.find_all(names)
    wins, draws = state.evaluation.matrix["raw_wins"], state.evaluation.matrix["raw_draws"]
    won, drawn, lost = (table.sum(axis=1)[rows].tolist() for table in (wins, draws, wins.T))
    return {
        name: {"wins": int(w), "draws": int(d), "losses": int(lost_games)}
        for name, w, d, lost_games in zip(names, won, drawn, lost, strict=True)
    }


class StandingRows:
    """The newest rows, each with the version in which it changed last."""

    def __init__(self) -> None:
        self.version = 0
        self._rows: dict[str, tuple[int, dict[str, Any]]] = {}

    def update(self, rows: list[dict[str, Any]]) -> None:
        """Take the newest rows; the version rises if any of them is new or has changed."""
        known = self._rows
        after = {row["player"]: self._dated(row) for row in rows}
        if after.keys() != known.keys() or any(version > self.version for version, _ in after.values()):
            self.version += 1
        self._rows = after

    def _dated(self, row: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        before = self._rows.get(row["player"])
        return before if before is not None and before[1] == row else (self.version + 1, row)

    def since(self, version: int) -> list[dict[str, Any]]:
        """Return the rows that have changed since a version, in order; all of them since one that is not known."""
        least = version if 0 < version <= self.version else 0
        return [row for changed, row in self._rows.values() if changed > least]

    def __len__(self) -> int:
        return len(self._rows)
