"""Tables for people and JSON for programs: pure functions of a state or a view.

Scores are shares of points, 0 to 1 in JSON and per cent on the terminal; every interval is one of 95 %.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from collectors.conformance import LIMIT, MANY
from launch.viewers.exploit_notes import exploit_notes
from launch.viewers.final_progress import final_json
from launch.viewers.rating_notes import rating_notes
from launch.viewers.return_columns import is_cooperative, return_cells, return_heads, returned_text, rounded
from launch.viewers.view import View
from league.appraisal import Appraisal, appraise
from league.ids import PlayerId
from league.metrics import (
    ENV_STEPS_PER_SECOND,
    EPISODES,
    LAG_MEAN,
    LAG_P95,
    LONGEST_EPISODE,
    NASH_CONV,
    WAIT_SHARE,
    player_of,
)
from league.player import Player
from league.standings import Standing, cooperative_standings, standings
from league.state import LeagueState
from league.wire.messages import Role, Worker

KINDS = {
    "main_exploiter": "main expl.",
    "league_exploiter": "league expl.",
}
NOTHING = Text("-", style="dim")
NAME, ANCHOR = 18, 8  # characters of a player's name in a table, and of an anchor's at the head of a column
MOST_NAMED = 6  # variants in a note
STALE_SECONDS = 10.0  # without a message after which a worker is listed as silent


# --- the standings -------------------------------------------------------------------------------------------


def candidate_scores(state: LeagueState, player: PlayerId) -> dict[PlayerId, tuple[float, float, float, int]]:
    """Return score, low, high and games of a player's newest candidate against each anchor that it met."""
    found: dict[PlayerId, tuple[float, float, float, int]] = {}
    if is_cooperative(state) or not state.population[player].learning:
        return found
    for anchor in state.population.anchors():
        if shared := state.evaluation.win_share(player, anchor.id):
            found[anchor.id] = (*shared, state.games_of_newest(player, anchor.id))
    return found


def standings_json(state: LeagueState, appraisal: Appraisal | None = None) -> list[dict[str, Any]]:
    """Return the standings, the strongest first.

    place, player, kind; rating, low, high: with its interval, null where no games lead to an anchor; by: whether it is
    in points of Elo (outcome) or in units of return; elo: the online Elo; games: evaluation games that still count;
    win_share: of points against all; anchors: score against each anchor; nash: share of the Nash mixture; pinned:
    where an anchor is pinned whose games refute that, else null;
    candidate: of a learning player, the newest candidate's score, low, high and games against each anchor.
    In a co-operative league rating and elo are null, and there are own (with itself) and cross (with others), each with
    mean, low, high and games. Where a game is not zero-sum, or its roles differ, returns has for each role that the
    player played its mean return, and over: its value over replacement, each with low, high and games.
    """
    return [standing_json(state, row) for row in all_standings(state, appraisal)]


def appraisal_of(state: LeagueState) -> Appraisal | None:
    """Return the ratings of a league with all that goes with them; None in co-operation, where nobody is beaten."""
    return None if is_cooperative(state) else appraise(state.population, state.evaluation)


def all_standings(state: LeagueState, appraisal: Appraisal | None = None) -> list[Standing]:
    """Return the standings of a league of either kind; `appraisal` is that of `appraisal_of`, if there is one."""
    if is_cooperative(state):
        return cooperative_standings(state.population, state.evaluation)
    return standings(state.population, state.evaluation, state.elo, appraisal or appraisal_of(state))


def standing_json(state: LeagueState, row: Standing) -> dict[str, Any]:
    """Return one row of `standings_json`."""
    plain: dict[str, Any] = msgspec.to_builtins(row)
    scores = candidate_scores(state, row.player)
    names = ("score", "low", "high", "games")
    return plain | {"candidate": {anchor: dict(zip(names, s, strict=True)) for anchor, s in scores.items()}}


def standings_table(state: LeagueState, limit: int | None = None) -> Table:
    """Return the standings as a table; `limit` leaves out frozen players, the weakest first."""
    appraisal = appraisal_of(state)
    rows = all_standings(state, appraisal)
    shown = limited(state, rows, limit)
    anchors = _scored_anchors(state)
    roomy = len(anchors) < 2  # with more of them, 80 columns would not do
    table = Table(box=SIMPLE_HEAD, padding=(0, int(roomy), 0, 0), pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", min_width=2)
    table.add_column("player", no_wrap=True, overflow="ellipsis", min_width=10)
    table.add_column("kind", no_wrap=True)
    for name in _heads(appraisal, roomy, return_heads(state)):
        table.add_column(name, justify="right", no_wrap=True)
    for anchor in anchors:
        name = fitted(anchor.id, ANCHOR)
        table.add_column(f"v {name}", justify="right", no_wrap=True, overflow="ellipsis", min_width=8)
    for row in shown:
        table.add_row(*_standing_cells(state, row, roomy), style="" if _matters(state, row.player) else "dim")
    more = [f"{len(rows) - len(shown)} more frozen players: ludus standings"] if len(shown) < len(rows) else []
    table.caption = "\n".join(more + footnotes(state, appraisal)) or None
    table.caption_justify = "left"
    return table


def _heads(appraisal: Appraisal | None, roomy: bool, heads: tuple[str, ...]) -> tuple[str, ...]:
    """Return the heads of the columns between the kind of a player and its scores against anchors."""
    if appraisal is None:
        return *heads, "games"
    if heads:
        return ("margin" if appraisal.fit.by == "return" else "Elo"), *heads, "games"
    return ("return" if appraisal.fit.by == "return" else "Elo"), *(["online"] * roomy), "Nash", "games"


def footnotes(state: LeagueState, appraisal: Appraisal | None) -> list[str]:
    """Return the notes under the standings: where they mislead, who was exploited, which variants there are."""
    return [*([] if appraisal is None else rating_notes(appraisal)), *exploit_notes(state), *_variant_notes(state)]


def _variant_notes(state: LeagueState) -> list[str]:
    variants = () if state.env is None else state.env.variants
    shares = ", ".join(f"{variant.name} {variant.share:.0%}" for variant in variants[:MOST_NAMED])
    more = f" and {len(variants) - MOST_NAMED} more" if len(variants) > MOST_NAMED else ""
    return [f"variants: {shares}{more}; of one of them: --variant {variants[0].name}"] if variants else []


def _matters(state: LeagueState, player: PlayerId) -> bool:
    found = state.population[player]
    return found.learning or found.anchor is not None


def limited(state: LeagueState, rows: Sequence[Standing], limit: int | None) -> list[Standing]:
    """Return the rows to show: all that learn or are anchors, and the best of the rest."""
    spare = len(rows) if limit is None else limit - sum(_matters(state, row.player) for row in rows)
    rest = [row.player for row in rows if not _matters(state, row.player)][: max(0, spare)]
    return [row for row in rows if _matters(state, row.player) or row.player in rest]


def _standing_cells(state: LeagueState, row: Standing, roomy: bool) -> list[str | Text]:
    scores = candidate_scores(state, row.player)
    cells: list[str | Text] = [str(row.place), fitted(row.player), KINDS.get(row.kind) or fitted(row.kind)]
    if is_cooperative(state):
        return [*cells, *return_cells(state, row), short(row.games)]
    online = NOTHING if row.online is None else f"{row.online:z.0f}"
    if state.keeps_returns:
        cells += [_rating(row), *_role_cells(row), short(row.games)]
    else:
        cells += [_rating(row), *([online] * roomy), _share(row.nash), short(row.games)]
    for anchor in _scored_anchors(state):
        plain = row.anchors.get(anchor.id)
        if anchor.id in scores:
            cells.append(spread(*scores[anchor.id][:3]))
        else:
            cells.append(NOTHING if plain is None or state.population[row.player].learning else f"{plain:.0%}")
    return cells


def _scored_anchors(state: LeagueState) -> list[Player]:
    """Return the anchors that have a column; where roles differ, a score against one says more about the role."""
    uneven = state.keeps_returns and state.evaluation.asymmetric
    return [] if is_cooperative(state) or uneven else state.population.anchors()


def _role_cells(row: Standing) -> list[str | Text]:
    """Return what a player returned, and its value over replacement; nothing for one that played several roles."""
    found = list((row.returns or {}).values())
    return [rounded(found[0].mean), rounded(found[0].over)] if len(found) == 1 else [NOTHING, NOTHING]


def rating_text(row: Standing) -> str:
    """Return a rating, or in co-operation the mean return, as short text."""
    if row.own is not None or row.cross is not None:
        return f"returns {returned_text(row.cross or row.own)}"
    scale = "Elo" if row.by == "outcome" else "return"
    return f"{scale} {_rating(row)}" if row.rating is not None else "no rating yet"


def _rating(row: Standing) -> str | Text:
    if row.rating is None:
        return NOTHING
    shown = f"{row.rating:z.0f}" if row.by == "outcome" else f"{row.rating:z.2f}"
    if row.low is None or row.high is None:
        return f"{shown} ±?"
    reach = (row.high - row.low) / 2
    return (f"{shown} ±{reach:.0f}" if row.by == "outcome" else f"{shown} ±{reach:.2g}") if reach else f"{shown} fix"


def _share(share: float | None) -> str | Text:
    return NOTHING if share is None or share < 0.005 else f"{share:.0%}"


# --- workers and throughput ----------------------------------------------------------------------------------


def status_json(view: View) -> dict[str, Any]:
    """Return how a run is doing.

    live, broken (why nothing can be written now, or null), damaged (which row of the ledger is, or null), phase, why,
    paused, term, elapsed, seconds_left (of training; null: no limit); final_done, final_wanted (games of the final
    evaluation), final_seconds_left (about): null before and after it; players, frozen, matches, void, quarantined
    (collectors that get no tickets, and why), env_steps;
    env_steps_per_second, collectors, collector_wait, learners, learner_wait (shares of their time), lag_mean, lag_p95
    (versions; the worst player): null when no worker reports it; nash_conv: of the newest measured candidate of each
    player, with league.exploit_every; endless: env steps of an episode that does not seem to end, or null; silent:
    workers that sent nothing for a while.
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
    status["nash_conv"] = status["nash_conv"] or view.nash_conv
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
        "nash_conv": {
            name: value for m in learners for key, value in m.items() if (name := player_of(key, NASH_CONV)) is not None
        },
        "endless": max(filter(None, map(_endless, collectors)), default=None),
        "silent": [w.name for w in workers if w.age > STALE_SECONDS],
    }


def _endless(collector: Mapping[str, float]) -> int | None:
    """Return the steps of a collector's longest episode if it seems not to end, by the rule of `ludus check-env`."""
    longest = int(collector.get(LONGEST_EPISODE, 0))
    return longest if longest >= (LIMIT if collector.get(EPISODES) else MANY) else None


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
