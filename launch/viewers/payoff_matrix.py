"""The payoff matrix, for people and as JSON: who scores what against whom, and what describes all of it.

Cells of players that have not met have what their ratings predict, and are marked.
"""

from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from launch.viewers.return_columns import is_cooperative
from launch.viewers.tables import NAME, all_standings, appraisal_of, fitted, limited, short
from league.appraisal import Appraisal, worst_pairs
from league.ids import PlayerId
from league.payoff import Payoff
from league.role_returns import role_returns
from league.standings import Cell, CrossPlay, MeanReturn, PayoffTable, cross_play, payoff_table, returned
from league.state import LeagueState

WEAK, STRONG = 0.4, 0.6  # scores beyond which a cell of the payoff matrix is coloured
BETTER, WORSE = "dodger_blue1", "dark_orange"  # colour-blind readers can distinguish these two


def relevant(state: LeagueState, limit: int | None = None, appraisal: Appraisal | None = None) -> list[PlayerId]:
    """Return the players to show in a matrix: learning ones and anchors, then the strongest; by rating."""
    rows = all_standings(state, appraisal)
    return [row.player for row in limited(state, rows, limit)][:limit]


def payoff_json(state: LeagueState) -> dict[str, Any]:
    """Return both payoff tables, `evaluate` (snapshots only) and `train` (the live side under its own name).

    Each has players, and cells[row][column] with score, low, high, games (that still count) and all wins, draws and
    losses of the row player against the column player, and in a league by return its margin (mean, low, high a game);
    null where they have not met. Where a game is not zero-sum, or its roles differ, returned is what the row player
    returned a game, and roles[player][role] of `evaluate` has its mean return against all and over, its value over
    replacement, each with mean, low, high and games. Where two have not met, filled[row][column] of
    `evaluate` has the score that ratings predict. Where team-mates play together, returns[row][column] has mean, low,
    high and games of the row player's side when it played with the column player. `league` has what describes all of
    it: misfit (chi-square for each degree of freedom), cycle_strength (share of the cyclic part), top_cycle (players),
    nash (share of each player in the Nash mixture), nash_entropy (nats), diversity, worst_pairs.
    """
    appraisal = appraisal_of(state)
    players = relevant(state, appraisal=appraisal)
    tables = {"evaluate": state.evaluation, "train": state.training}
    plain: dict[str, Any] = {
        name: msgspec.to_builtins(payoff_table(players, payoff, appraisal if name == "evaluate" else None))
        for name, payoff in tables.items()
    }
    if appraisal is not None:
        plain["league"] = league_json(appraisal)
    if state.keeps_returns:
        plain["evaluate"]["roles"] = msgspec.to_builtins(role_returns(state.population, state.evaluation))
    if state.env is not None and (state.env.cooperative or len(set(state.env.sides)) < len(state.env.seats)):
        for name, payoff in tables.items():
            plain[name]["returns"] = msgspec.to_builtins(cross_play(players, payoff).cells)
    return plain


def league_json(appraisal: Appraisal) -> dict[str, Any]:
    """Return what describes all ratings together, as `payoff_json` explains it."""
    shares = zip(appraisal.players, appraisal.nash.shares.tolist(), strict=True)
    return {
        "misfit": appraisal.fit.dispersion.misfit,
        "cycle_strength": appraisal.cyclic.strength,
        "top_cycle": list(appraisal.top),
        "nash": {player: share for player, share in shares if share > 0},
        "nash_entropy": appraisal.nash.entropy,
        "diversity": appraisal.nash.diversity,
        "worst_pairs": msgspec.to_builtins(worst_pairs(appraisal)),
    }


def return_matrix(state: LeagueState, title: str, width: int = 80) -> Table | None:
    """Return what each player returned a game against each other one, as a table; None where that is not kept."""
    return payoff_matrix(state, state.evaluation, title, width, returns=True) if state.keeps_returns else None


def payoff_matrix(state: LeagueState, payoff: Payoff, title: str, width: int = 80, returns: bool = False) -> Table:
    """Return who scores what against whom as a table, with as many players as fit into the width.

    In co-operation it is the cross-play matrix: who returned what with whom. With `returns` it is who returned what
    against whom.
    """
    everybody = len(state.population)
    together = is_cooperative(state) or returns
    appraisal = appraisal_of(state)
    fitting = relevant(state, max(3, (width - 24) // (13 if together else 9)), appraisal)
    fills = appraisal if payoff is state.evaluation else None  # ratings say nothing on training
    shown: CrossPlay | PayoffTable
    if returns:
        shown = CrossPlay(players=tuple(fitting), cells=tuple(map(tuple, returned(fitting, payoff) or ())))
    else:
        shown = cross_play(fitting, payoff) if together else payoff_table(fitting, payoff, fills)
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, title=title, title_justify="left")
    table.add_column("", justify="right", min_width=2)
    table.add_column(_matrix_head(together, payoff.by_return), no_wrap=True, overflow="ellipsis", max_width=NAME)
    for number in range(1, len(shown.players) + 1):
        table.add_column(str(number), justify="right", no_wrap=True, min_width=12 if together else 8)
    for number, cells in enumerate(_matrix_rows(shown, payoff.by_return), start=1):
        table.add_row(str(number), *cells)
    notes = []
    if len(shown.players) < everybody:
        notes.append(f"{len(shown.players)} of {everybody} players; all of them: ludus payoff --json")
    if isinstance(shown, PayoffTable) and any(value is not None for row in shown.filled for value in row):
        notes.append("(in brackets) they have not met: what their ratings predict")
    table.caption = "\n".join(notes) or None
    table.caption_justify = "left"
    return table


def _matrix_head(together: bool, by_return: bool) -> str:
    if together:
        return "mean return, games"
    return "margin, games" if by_return else "score in %, games"


def _matrix_rows(shown: PayoffTable | CrossPlay, by_return: bool) -> list[list[Text]]:
    filled = shown.filled if isinstance(shown, PayoffTable) else ()
    empty = (None,) * len(shown.players)
    return [
        [
            Text(fitted(player)),
            *(
                _cell(cell, fill, player == other, by_return)
                for cell, fill, other in zip(cells, fills, shown.players, strict=True)
            ),
        ]
        for player, cells, fills in zip(shown.players, shown.cells, filled or [empty] * len(empty), strict=True)
    ]


def _cell(cell: Cell | MeanReturn | None, filled: float | None, same: bool, by_return: bool) -> Text:
    if cell is None and filled is not None:
        return Text(f"({filled:z.2g})    " if by_return else f"({100 * filled:.0f})    ", style="dim")
    if cell is None:
        return Text("·" if same else "-", style="dim")
    if isinstance(cell, MeanReturn):
        return Text.assemble(f"{cell.mean:z.4g}", (f" {short(cell.games):>4}", "dim"))
    if cell.margin is not None:
        style = BETTER if (cell.margin.low or 0) > 0 else WORSE if (cell.margin.high or 0) < 0 else ""
        return Text.assemble((f"{cell.margin.mean:z.2g}", style), (f" {short(cell.games):>4}", "dim"))
    style = BETTER if cell.score > STRONG else WORSE if cell.score < WEAK else ""
    return Text.assemble((f"{100 * cell.score:.0f}", style), (f" {short(cell.games):>4}", "dim"))
