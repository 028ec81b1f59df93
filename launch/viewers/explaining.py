"""`ludus explain`: how a player's opponents are chosen, and what is missing for its next freeze."""

import json
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from coordinator.promoting import freeze_case
from coordinator.scheduler import Scheduler
from launch.terminal.console import Console
from launch.viewers.tables import short
from launch.viewers.view import View, find_player, open_view
from league.margins import to_score
from league.matchmaking.choice import Choice
from league.payoff import Payoff
from league.player import Player
from league.promotion import INITIAL, NEVER, Case, PromotionConfig, due, snapshot_of, surely
from league.state import LeagueState
from league.store.run_directory import RunDirectory


def explain(run: RunDirectory, player: str, allow: Sequence[str] = (), as_json: bool = False) -> int:
    """Print a player's possible opponents with probabilities, what its next freeze lacks, and its scores."""
    view = open_view(run)
    found = find_player(view.state, player)
    if as_json:
        Console(highlight=False, markup=False, soft_wrap=True).print(json.dumps(explain_json(view, found, allow)))
        return 0
    rules = view.state.config.rules(found.kind) if found.learning else None
    console = Console()
    console.print(Text.assemble((found.id, "bold"), f" is {_origin(view, found)}"))
    if rules is not None:
        for role, mate in _other_seats(view.state, found):
            console.print(_choices_table(view.state, found, role, mate, allow))
        console.print(f"Promotion: {promotion_status(view.state, found, allow)}", highlight=False)
        if rules.promotion.reset != NEVER:
            console.print(f"After a freeze: {reset_status(rules.promotion)}", highlight=False)
    console.print(_scores_table(view.state, found))
    return 0


def explain_json(view: View, player: Player, allow: Sequence[str] = ()) -> dict[str, Any]:
    """Return an explanation for programs.

    player, kind, origin; seats: of the others, each with role, mate and its choices (opponent, live, probability, why,
    score); promotion: what the next freeze lacks; reset: what follows it; both null unless the player learns.
    """
    state = view.state
    seats = _other_seats(state, player) if player.learning else []
    rules = state.config.rules(player.kind).promotion if player.learning else None
    return {
        "player": player.id,
        "kind": player.kind,
        "origin": _origin(view, player),
        "seats": [
            {"role": role, "mate": mate, "choices": [_choice_json(state, player, c, mate) for c in choices]}
            for role, mate in seats
            for choices in [_choices(state, player, role, mate, allow)]
        ],
        "promotion": None if rules is None else promotion_status(state, player, allow),
        "reset": None if rules is None or rules.reset == NEVER else reset_status(rules),
    }


def _choice_json(state: LeagueState, player: Player, choice: Choice, mate: bool) -> dict[str, Any]:
    """Return a possible opponent; the score against a partner is null."""
    score = None if mate else state.training.score(player.id, choice.opponent)
    named = {"opponent": choice.opponent, "live": choice.live, "probability": choice.probability}
    return {**named, "why": choice.why, "score": score}


def _choices(state: LeagueState, player: Player, role: str, mate: bool, allow: Sequence[str]) -> list[Choice]:
    """Return whom the scheduler may sample for another seat, the most probable first."""
    found = Scheduler(state, allow).choices(player, frozenset({role}), mate)
    return sorted(found, key=lambda choice: -choice.probability)


def _origin(view: View, player: Player) -> str:
    if player.parent is not None:
        return f"frozen, a past of {player.parent}: snapshot {str(player.snapshot)[:12]}"
    newest = view.state.candidate(player.id) if player.learning else None
    if newest is not None:
        return f"{player.kind}, incarnation {newest.incarnation}, {newest.decisions:,} decisions trained"
    return f"{player.kind}, and is not trained" if not player.learning else f"{player.kind}, without weights"


def _other_seats(state: LeagueState, player: Player) -> list[tuple[str, bool]]:
    """Return role, and whether on its own side, of the seats that others take when this player trains."""
    if state.env is None:
        return []
    seats = list(zip(state.env.roles, state.env.sides, strict=True))
    places = [i for i, (role, _) in enumerate(seats) if player.role in (None, role)]
    return sorted(
        {
            (role, side == seats[place][1])
            for place in places
            for i, (role, side) in enumerate(seats)
            if i != place
        }
    )  # fmt: skip


def _choices_table(state: LeagueState, player: Player, role: str, mate: bool, allow: Sequence[str]) -> Table:
    """Return the exact probabilities with which the scheduler samples the next opponent, or the next partner."""
    name = state.config.rules(player.kind).matchmaking.name
    title = f"Next opponent as {role} (matchmaker {name})" if not mate else f"Partner as {role}"
    who, what = ("partner", "return") if mate else ("opponent", "score")
    table = Table(who, "weights", what, box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    table.add_column("probability", justify="right")
    table.add_column("why")
    for choice in _choices(state, player, role, mate, allow):
        weights = "live" if choice.live else "frozen"
        if mate:
            known = state.training.return_games(player.id, choice.opponent)
            value = f"{state.training.return_interval(player.id, choice.opponent)[0]:.4g}" if known else "-"
        else:
            value = f"{100 * state.training.score(player.id, choice.opponent):.0f}{_returned(state, player, choice)}"
        table.add_row(choice.opponent, weights, value, f"{choice.probability:.2%}", choice.why)
    return table


def _returned(state: LeagueState, player: Player, choice: Choice) -> str:
    """Return the mean return behind a score in training, in a league by return."""
    found = state.training.margin(player.id, choice.opponent)
    return "" if found is None else f" ({found[0]:+.2f} a game)"


def reset_status(rules: PromotionConfig) -> str:
    """Return what a freeze does to the player itself."""
    source = f"snapshot {rules.reset[:12]}" if snapshot_of(rules) else f"the newest weights of a {rules.reset}"
    whose = "its initial weights" if rules.reset == INITIAL else source
    chance = "" if rules.reset_chance == 1 else f" with probability {rules.reset_chance:g}"
    return f"it begins again{chance} from {whose}"


def promotion_status(state: LeagueState, player: Player, allow: Sequence[str] = ()) -> str:
    """Return what is missing for the next freeze of a learning player."""
    rules, since = state.config.rules(player.kind).promotion, state.since_freeze(player.id)
    count = f"{since:,} decisions since its last freeze or reset"
    if state.candidate(player.id) is None:
        return "it has no candidate yet"
    case = freeze_case(state, player)
    why = due(case, rules, allow)
    if why:
        return f"due with its next candidate: {why}"
    if since < rules.min_decisions:
        return f"{count}; no freeze before {rules.min_decisions:,}"
    latest = f"{count}; a freeze at {rules.max_decisions:,} at the latest"
    if rules.rule != "score":
        return latest if rules.rule == "decisions" else f"{latest}, or earlier by the rule {rules.rule}"
    if state.env is not None and state.env.cooperative:
        return f"{latest}, or earlier when it surely returns more with itself than its newest past"
    lacking = [lack for target in case.targets(rules) if (lack := _lack(case, target, rules))]
    return f"{latest}, or earlier, once {' and '.join(lacking) or 'there is somebody to beat'}"


def _lack(case: Case, target: Player, rules: PromotionConfig) -> str:
    games = case.training.games(case.player.id, target.id)
    if games < rules.min_games:
        return f"it has {rules.min_games - games:.0f} more games against {target.id}"
    low = float(surely(case, [target.id], rules.confidence)[0])
    if low <= rules.threshold:
        score = case.training.score(case.player.id, target.id)
        bound = f"the lower bound of its score against {target.id} exceeds {rules.threshold:.0%}"
        return f"{bound} (now {low:.0%}; the score is {score:.0%})"
    return ""


def _scores_table(state: LeagueState, player: Player) -> Table:
    what = "Scores in %"
    if state.training.by_return:
        what = f"Mean return a game, and scores in % (100 is {state.training.scale:.3g} a game)"
    table = Table(
        "against", box=SIMPLE_HEAD, pad_edge=False, title=f"{what}, with 95 % intervals", title_justify="left"
    )
    for name in ("training", "games", "evaluation", "games"):
        table.add_column(name, justify="right")
    for other in state.population:
        cells = [cell for table in (state.training, state.evaluation) for cell in _score_cells(table, player, other)]
        if other.id != player.id and cells != ["-"] * 4:
            table.add_row(other.id, *cells)
    return table


def _score_cells(results: Payoff, player: Player, other: Player) -> tuple[str, str]:
    """Return the score with its interval, by return after the mean return with its own; and the games."""
    games = results.games(player.id, other.id)
    if not games:
        return "-", "-"
    low, high = (f"{100 * bound:.0f}" for bound in results.interval(player.id, other.id))
    returned = results.margin(player.id, other.id)
    if returned is None:
        score = float(results.points([player.id, other.id])[0, 1]) / games
        return f"{100 * score:.0f} ({low} to {high})", short(games)
    mean, least, most = returned
    score = 100 * float(to_score(mean, results.scale))
    return f"{mean:+.2f} ±{(most - least) / 2:.2g}, {score:.0f} ({low} to {high})", short(games)
