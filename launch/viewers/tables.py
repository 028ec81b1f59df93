"""Tables for people and JSON for programs: pure functions of a state or a view.

Scores are shares of points, 0 to 1 in JSON and per cent on the terminal; every interval is one of 95 %.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from launch.viewers.final_progress import final_json
from launch.viewers.view import View
from league.ids import PlayerId
from league.interval import wilson
from league.metrics import ENV_STEPS_PER_SECOND, LAG_MEAN, LAG_P95, WAIT_SHARE
from league.payoff import Payoff
from league.player import Kind
from league.standings import (
    Cell,
    CrossPlay,
    MeanReturn,
    PayoffTable,
    Standing,
    cooperative_standings,
    cross_play,
    payoff_table,
    standings,
    worst_misfit,
)
from league.state import LeagueState
from league.wire.messages import Role, Worker

KINDS = {
    Kind.MAIN_EXPLOITER: "main expl.",
    Kind.LEAGUE_EXPLOITER: "league expl.",
}
NOTHING = Text("-", style="dim")
NAME, ANCHOR = 18, 8  # characters of a player's name in a table, and of an anchor's at the head of a column
STALE_SECONDS = 10.0  # without a message after which a worker is listed as silent
WEAK, STRONG = 0.4, 0.6  # scores beyond which a cell of the payoff matrix is coloured
BETTER, WORSE = "dodger_blue1", "dark_orange"  # colour-blind readers can distinguish these two


# --- the standings -------------------------------------------------------------------------------------------


def candidate_scores(state: LeagueState, player: PlayerId) -> dict[PlayerId, tuple[float, float, float, int]]:
    """Return score, low, high and games of a player's newest candidate against each anchor that it met."""
    found: dict[PlayerId, tuple[float, float, float, int]] = {}
    if is_cooperative(state):
        return found
    for anchor in state.population.anchors():
        won, drawn, lost = state.latest.get(player, {}).get(anchor.id, (0, 0, 0))
        if games := won + drawn + lost:
            low, high = wilson(won + drawn / 2, games)
            found[anchor.id] = ((won + drawn / 2) / games, float(low), float(high), games)
    return found


def standings_json(state: LeagueState) -> list[dict[str, Any]]:
    """Return the standings, the strongest first.

    place, player, kind; rating, low, high: Bradley-Terry on the Elo scale with its interval, null without games;
    elo: the online Elo; games: evaluation games that still count; anchors: score against each anchor;
    candidate: of a learning player, the newest candidate's score, low, high and games against each anchor.
    In a co-operative league rating and elo are null, and there are own (with itself) and cross (with others), each with
    mean, low, high and games.
    """
    return [_standing_json(state, row) for row in all_standings(state)]


def is_cooperative(state: LeagueState) -> bool:
    """Whether all players are on one side in this league: then tables show returns instead of scores."""
    return state.env is not None and state.env.cooperative


def all_standings(state: LeagueState) -> list[Standing]:
    """Return the standings of a league of either kind."""
    if is_cooperative(state):
        return cooperative_standings(state.population, state.evaluation)
    return standings(state.population, state.evaluation, state.elo)


def _standing_json(state: LeagueState, row: Standing) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(row)
    scores = candidate_scores(state, row.player)
    names = ("score", "low", "high", "games")
    return plain | {"candidate": {anchor: dict(zip(names, s, strict=True)) for anchor, s in scores.items()}}


def standings_table(state: LeagueState, limit: int | None = None) -> Table:
    """Return the standings as a table; `limit` leaves out frozen players, the weakest first."""
    rows = all_standings(state)
    shown = _limited(state, rows, limit)
    anchors = [] if is_cooperative(state) else state.population.anchors()
    roomy = len(anchors) < 2  # with more of them, 80 columns would not do
    table = Table(box=SIMPLE_HEAD, padding=(0, int(roomy), 0, 0), pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", min_width=2)
    table.add_column("player", no_wrap=True, overflow="ellipsis", min_width=10)
    table.add_column("kind", no_wrap=True)
    for name in ("with itself", "with others", "games") if is_cooperative(state) else ("Elo", "online", "games"):
        table.add_column(name, justify="right", no_wrap=True)
    for anchor in anchors:
        name = fitted(anchor.id, ANCHOR)
        table.add_column(f"v {name}", justify="right", no_wrap=True, overflow="ellipsis", min_width=8)
    for row in shown:
        table.add_row(*_standing_cells(state, row), style="" if _matters(state, row.player) else "dim")
    more = [f"{len(rows) - len(shown)} more frozen players: ludus standings"] if len(shown) < len(rows) else []
    table.caption = "\n".join(more + footnotes(state, rows)) or None
    table.caption_justify = "left"
    return table


def footnotes(state: LeagueState, rows: Sequence[Standing]) -> list[str]:
    """Return the notes under the standings: where they mislead."""
    notes = []
    if any(0 < row.games < 1 for row in rows):
        carry = f"{state.config.evaluation.carry:g}"
        notes.append(f"less than one game: each new candidate multiplies the games of older ones by {carry}")
    misfit = None if is_cooperative(state) else worst_misfit(rows, state.evaluation)
    if misfit is not None:
        ratings = {row.player: row.rating or 0.0 for row in rows}
        apart = ratings[misfit.player] - ratings[misfit.opponent]  # the stronger one is the first
        notes.append(
            f"{misfit.player} is {apart:.0f} Elo above {misfit.opponent}, which predicts a score of "
            f"{misfit.predicted:.0%}, but it scored {misfit.scored:.0%} over {short(misfit.games)} games: one rating "
            "for each player cannot describe every pair (ludus payoff shows them)"
        )
    return notes


def _matters(state: LeagueState, player: PlayerId) -> bool:
    found = state.population[player]
    return found.learning or found.anchor is not None


def _limited(state: LeagueState, rows: Sequence[Standing], limit: int | None) -> list[Standing]:
    """Return the rows to show: all that learn or are anchors, and the best of the rest."""
    spare = len(rows) if limit is None else limit - sum(_matters(state, row.player) for row in rows)
    rest = [row.player for row in rows if not _matters(state, row.player)][: max(0, spare)]
    return [row for row in rows if _matters(state, row.player) or row.player in rest]


def _standing_cells(state: LeagueState, row: Standing) -> list[str | Text]:
    scores = candidate_scores(state, row.player)
    cells: list[str | Text] = [str(row.place), fitted(row.player), KINDS.get(row.kind, row.kind.value)]
    if is_cooperative(state):
        return [*cells, _returned(row.own), _returned(row.cross), short(row.games)]
    cells += [_rating(row), NOTHING if row.elo is None else f"{row.elo:z.0f}", short(row.games)]
    for anchor in state.population.anchors():
        plain = row.anchors.get(anchor.id)
        if anchor.id in scores:
            cells.append(spread(*scores[anchor.id][:3]))
        else:
            cells.append(NOTHING if plain is None or state.population[row.player].learning else f"{plain:.0%}")
    return cells


def rating_text(row: Standing) -> str:
    """Return a rating, or in co-operation the mean return, as short text."""
    if row.own is not None or row.cross is not None:
        return f"returns {_returned(row.cross or row.own)}"
    return f"Elo {_rating(row)}" if row.rating is not None else "no rating yet"


def _rating(row: Standing) -> str | Text:
    if row.rating is None:
        return NOTHING
    if row.low is None or row.high is None:
        return f"{row.rating:z.0f} ±?"
    reach = (row.high - row.low) / 2
    return f"{row.rating:z.0f} ±{reach:.0f}" if reach else f"{row.rating:z.0f} fix"


def _returned(found: MeanReturn | None) -> str | Text:
    if found is None:
        return NOTHING
    reach = "?" if found.high is None else f"{found.high - found.mean:.2g}"
    return f"{found.mean:z.4g} ±{reach}"


# --- the payoff matrix ---------------------------------------------------------------------------------------


def relevant(state: LeagueState, limit: int | None = None) -> list[PlayerId]:
    """Return the players to show in a matrix: learning ones and anchors, then the strongest; by rating."""
    rows = all_standings(state)
    return [row.player for row in _limited(state, rows, limit)][:limit]


def payoff_json(state: LeagueState) -> dict[str, Any]:
    """Return both payoff tables, `evaluate` (snapshots only) and `train` (the live side under its own name).

    Each has players, and cells[row][column] with score, low, high, games (that still count) and all wins, draws and
    losses of the row player against the column player; null where they have not met. Where team-mates play together,
    returns[row][column] has mean, low, high and games of the row player's side when it played with the column player.
    """
    players = relevant(state)
    tables = {"evaluate": state.evaluation, "train": state.training}
    plain = {name: msgspec.to_builtins(payoff_table(players, payoff)) for name, payoff in tables.items()}
    if state.env is not None and (state.env.cooperative or len(set(state.env.sides)) < len(state.env.seats)):
        for name, payoff in tables.items():
            plain[name]["returns"] = msgspec.to_builtins(cross_play(players, payoff).cells)
    return plain


def payoff_matrix(state: LeagueState, payoff: Payoff, title: str, width: int = 80) -> Table:
    """Return who scores what against whom as a table, with as many players as fit into the width.

    In co-operation it is the cross-play matrix: who returned what with whom.
    """
    everybody = len(state.population)
    together = is_cooperative(state)
    fitting = relevant(state, max(3, (width - 24) // (13 if together else 9)))
    shown = cross_play(fitting, payoff) if together else payoff_table(fitting, payoff)
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, title=title, title_justify="left")
    table.add_column("", justify="right", min_width=2)
    table.add_column(
        "mean return, games" if together else "score in %, games", no_wrap=True, overflow="ellipsis", max_width=NAME
    )
    for number in range(1, len(shown.players) + 1):
        table.add_column(str(number), justify="right", no_wrap=True, min_width=12 if together else 8)
    for number, cells in enumerate(_matrix_rows(shown), start=1):
        table.add_row(str(number), *cells)
    if len(shown.players) < everybody:
        table.caption = f"{len(shown.players)} of {everybody} players; all of them: ludus payoff --json"
    return table


def _matrix_rows(shown: PayoffTable | CrossPlay) -> list[list[Text]]:
    return [
        [
            Text(fitted(player)),
            *(_cell(cell, player == other) for cell, other in zip(cells, shown.players, strict=True)),
        ]
        for player, cells in zip(shown.players, shown.cells, strict=True)
    ]


def _cell(cell: Cell | MeanReturn | None, same: bool) -> Text:
    if cell is None:
        return Text("·" if same else "-", style="dim")
    if isinstance(cell, MeanReturn):
        return Text.assemble(f"{cell.mean:z.4g}", (f" {short(cell.games):>4}", "dim"))
    style = BETTER if cell.score > STRONG else WORSE if cell.score < WEAK else ""
    return Text.assemble((f"{100 * cell.score:.0f}", style), (f" {short(cell.games):>4}", "dim"))


# --- workers and throughput ----------------------------------------------------------------------------------


def status_json(view: View) -> dict[str, Any]:
    """Return how a run is doing.

    live, broken (why nothing can be written now, or null), damaged (which row of the ledger is, or null), phase, why,
    paused, term, elapsed, seconds_left (of training; null: no limit); final_done, final_wanted (games of the final
    evaluation), final_seconds_left (about): null before and after it; players, frozen, matches, void, quarantined
    (collectors that get no tickets, and why), env_steps;
    env_steps_per_second, collectors, collector_wait, learners, learner_wait (shares of their time), lag_mean, lag_p95
    (versions; the worst player): null when no worker reports it; silent: workers that sent nothing for a while.
    """
    state = view.state
    status: dict[str, Any] = {
        "live": view.live,
        "broken": view.broken or None,
        "damaged": state.damaged or None,
        "phase": state.phase,
        "why": state.why,
        "paused": state.paused,
        "term": view.term,
        "elapsed": view.elapsed,
        "seconds_left": view.seconds_left,
        "players": len(state.population),
        "frozen": len(state.population.frozen()),
        "matches": sum(state.results.values()),
        "void": state.voids,
        "quarantined": state.quarantined,
        "env_steps": state.env_steps,
    }
    status |= _workers_json(view.workers)
    return status | final_json(state, status["env_steps_per_second"])


def _workers_json(workers: Sequence[Worker]) -> dict[str, Any]:
    collectors = [w.metrics for w in workers if w.role == Role.COLLECTOR]
    learners = [w.metrics for w in workers if w.role == Role.LEARNER]
    speeds = [m[ENV_STEPS_PER_SECOND] for m in collectors if ENV_STEPS_PER_SECOND in m]
    lags = {end: [v for m in learners for k, v in m.items() if k.endswith(f"/{end}")] for end in (LAG_MEAN, LAG_P95)}
    return {
        "env_steps_per_second": sum(speeds) if speeds else None,
        "collectors": len(collectors),
        "collector_wait": _mean([m[WAIT_SHARE] for m in collectors if WAIT_SHARE in m]),
        "learners": len(learners),
        "learner_wait": _mean([m[WAIT_SHARE] for m in learners if WAIT_SHARE in m]),
        "lag_mean": max(lags[LAG_MEAN], default=None),
        "lag_p95": max(lags[LAG_P95], default=None),
        "silent": [w.name for w in workers if w.age > STALE_SECONDS],
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


# --- names and numbers ---------------------------------------------------------------------------------------


def fitted(name: str, width: int = NAME) -> str:
    """Return a name in so many characters: its beginning and its end, which have kind, role and number.

    >>> fitted("main_agent.3"), fitted("league_exploiter_adversary.12")
    ('main_agent.3', 'league_ex…rsary.12')
    """
    end = (width - 1) // 2
    return name if len(name) <= width else f"{name[: width - 1 - end]}…{name[-end:]}"


def short(number: float) -> str:
    """Return a count in few characters; a count below one is not shown as zero.

    >>> short(812), short(12_345), short(3_200_000), short(0.25), short(0)
    ('812', '12k', '3.2M', '0.2', '0')
    """
    if 0 < number < 0.95:
        return f"{max(number, 0.01):.1g}"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}" if number < 10 * size else f"{number / size:.0f}{unit}"
    return f"{number:.0f}"


def spread(score: float, low: float, high: float) -> str:
    """Return a score in per cent and how far its interval reaches at most.

    >>> spread(0.934, 0.905, 0.954)
    '93% ±3'
    """
    return f"{score:.0%} ±{100 * max(high - score, score - low):.0f}"
