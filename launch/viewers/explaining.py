"""`ludus explain`: how a player's opponents are chosen, and what is missing for its next freeze."""

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from coordinator.scheduler import Scheduler
from launch.terminal.console import Console
from launch.viewers.tables import short
from launch.viewers.view import View, find_player, open_view
from league.player import Player
from league.promotion import due, opponent_roles, targets
from league.state import LeagueState
from league.store.run_directory import RunDirectory


def explain(run: RunDirectory, player: str) -> int:
    """Print a player's possible opponents with probabilities, what its next freeze lacks, and its scores."""
    view = open_view(run)
    found = find_player(view.state, player)
    console = Console()
    console.print(Text.assemble((found.id, "bold"), f" is {_origin(view, found)}"))
    if found.learning:
        for role, mate in _other_seats(view.state, found):
            console.print(_choices_table(view.state, found, role, mate))
        console.print(f"Promotion: {promotion_status(view.state, found)}", highlight=False)
    console.print(_scores_table(view.state, found))
    return 0


def _origin(view: View, player: Player) -> str:
    if player.parent is not None:
        return f"frozen, a past of {player.parent}: snapshot {str(player.snapshot)[:12]}"
    newest = view.state.candidate(player.id) if player.learning else None
    if newest is not None:
        return f"{player.kind.value}, incarnation {newest.incarnation}, {newest.decisions:,} decisions trained"
    return (
        f"{player.kind.value}, and is not trained" if not player.learning else f"{player.kind.value}, without weights"
    )


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


def _choices_table(state: LeagueState, player: Player, role: str, mate: bool) -> Table:
    """Return the exact probabilities with which the scheduler samples the next opponent, or the next partner."""
    title = f"Next opponent as {role} (recipe {state.config.matchmaking.name})" if not mate else f"Partner as {role}"
    who, what = ("partner", "return") if mate else ("opponent", "score")
    table = Table(who, "weights", what, box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    table.add_column("probability", justify="right")
    table.add_column("why")
    choices = Scheduler(state).choices(player, frozenset({role}), mate)
    for choice in sorted(choices, key=lambda c: -c.probability):
        weights = "live" if choice.live else "frozen"
        if mate:
            known = state.training.return_games(player.id, choice.opponent)
            value = f"{state.training.return_interval(player.id, choice.opponent)[0]:.4g}" if known else "-"
        else:
            value = f"{100 * state.training.score(player.id, choice.opponent):.0f}"
        table.add_row(choice.opponent, weights, value, f"{choice.probability:.2%}", choice.why)
    return table


def promotion_status(state: LeagueState, player: Player) -> str:
    """Return what is missing for the next freeze of a learning player."""
    rules, since = state.config.promotion, state.since_freeze(player.id)
    count = f"{since:,} decisions since its last freeze or reset"
    if state.candidate(player.id) is None:
        return "it has no candidate yet"
    why = due(player, since, state.population, state.training, state.evaluation, rules, state.env)
    if why:
        return f"due with its next candidate: {why}"
    if since < rules.min_decisions:
        return f"{count}; no freeze before {rules.min_decisions:,}"
    latest = f"{count}; a freeze at {rules.max_decisions:,} at the latest"
    if state.env is not None and state.env.cooperative:
        return f"{latest}, or earlier when it surely returns more with itself than its newest past"
    found = targets(player, state.population, opponent_roles(state.env, player))
    lacking = [lack for target in found if (lack := _lack(state, player, target))]
    return f"{latest}, or earlier when it lacks no more: {'; '.join(lacking) or 'somebody to beat'}"


def _lack(state: LeagueState, player: Player, target: Player) -> str:
    rules, games = state.config.promotion, state.training.games(player.id, target.id)
    if games < rules.min_games:
        return f"{rules.min_games - games:.0f} games against {target.id}"
    low = state.training.lower(player.id, target.id, rules.confidence)
    if low <= rules.threshold:
        return f"surely more than {rules.threshold:.0%} against {target.id} (now {low:.0%})"
    return ""


def _scores_table(state: LeagueState, player: Player) -> Table:
    table = Table(
        "against", box=SIMPLE_HEAD, pad_edge=False, title="Scores in %, with 95 % intervals", title_justify="left"
    )
    for name in ("training", "games", "evaluation", "games"):
        table.add_column(name, justify="right")
    for other in state.population:
        cells: list[str] = []
        for results in (state.training, state.evaluation):
            games = results.games(player.id, other.id)
            score = float(results.points([player.id, other.id])[0, 1]) / games if games else 0.0
            low, high = results.interval(player.id, other.id)
            cells += [f"{100 * score:.0f} ({100 * low:.0f} to {100 * high:.0f})", short(games)] if games else ["-", "-"]
        if other.id != player.id and cells != ["-"] * 4:
            table.add_row(other.id, *cells)
    return table
