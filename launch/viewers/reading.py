"""The commands that read a run: status, standings, payoff, matches, explain. Each returns its exit code.

What the user can fix is raised as a LudusError whose message says how.
"""

import json
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from launch.config.foreign import foreign_packages
from launch.terminal.console import Console
from launch.terminal.wording import allowing
from launch.viewers.costs import costs, costs_table
from launch.viewers.explaining import explain as explain  # it is one of these commands, too
from launch.viewers.live import status_text
from launch.viewers.payoff_matrix import payoff_json, payoff_matrix, return_matrix
from launch.viewers.searching import newest_settled
from launch.viewers.tables import standings_json, standings_table, status_json
from launch.viewers.variant_view import state_of, variant_name
from launch.viewers.view import View, ViewError, find_player, open_view
from league.events import Event, ResultCounted, TicketVoided
from league.ids import PlayerId
from league.metrics import DROPPED_DECISIONS, ENV_STEPS_PER_SECOND, UPDATES_PER_SECOND, WAIT_SHARE
from league.payoff import head_to_head
from league.state import OVER, LeagueState
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.ticket import Episode, Ticket, total_return
from league.wire.messages import Worker

WIDE = 160  # columns of a table of jobs that no terminal limits


def _emit(plain: Any) -> int:
    sys.stdout.write(json.dumps(plain, indent=2, allow_nan=False) + "\n")
    return 0


def status(run: RunDirectory, as_json: bool = False) -> int:
    """Show the status of a run: phase, time, throughput, waiting, lag."""
    if run.jobs.exists():
        return _status_with_jobs(run, as_json)
    view = open_view(run)
    if as_json:
        return _emit(status_json(view))
    console = Console()
    _print_status(console, run, view)
    if view.workers:
        console.print(_workers_table(view.workers))
    return 0


def _print_status(console: Console, run: RunDirectory, view: View) -> None:
    console.print(status_text(run.name, view))
    if view.state.phase == OVER:
        console.print(f"over: {view.state.why}", highlight=False)
    for name, why in view.state.quarantined.items():
        line = f"{name} is quarantined, it failed everything while others succeeded; the last time: {why}"
        console.print(line, style="red", highlight=False, markup=False)
    if not view.live:
        console.print("no coordinator answers: this is what the ledger has", style="dim")


def _status_with_jobs(run: RunDirectory, as_json: bool) -> int:
    """Show the status of a run on Slurm. Its jobs may wait for hours before there is a league."""
    from launch.slurm.control import jobs_json, jobs_table, why_ended

    jobs, ended = jobs_json(run), why_ended(run)
    view = open_view(run) if run.ledger.exists() else None
    if as_json:
        return _emit((status_json(view) if view else {"live": False}) | {"jobs": jobs, "ended": ended or None})
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)  # nothing is cut off that somebody may search for
    if view is None:
        console.print(f"{run.name}: no coordinator has started yet")
    else:
        _print_status(console, run, view)
    if ended:
        console.print(f"its jobs ended: {ended}", style="red", highlight=False, markup=False)
    if jobs:
        console.print(jobs_table(jobs, view.workers if view else ()))
    else:
        resume = f"ludus resume {run.name}{allowing(foreign_packages(run.read_config()))}"
        console.print(f"Slurm knows none of its jobs any more; go on with: {resume}", style="dim")
    return 0


def _workers_table(workers: Sequence[Worker]) -> Table:
    table = Table("worker", "speed", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("waits", "dropped decisions", "heard"):
        table.add_column(name, justify="right")
    for worker in sorted(workers, key=lambda w: (w.role, w.name)):
        known = worker.metrics
        speeds = {ENV_STEPS_PER_SECOND: "steps/s", UPDATES_PER_SECOND: "updates/s"}
        speed = [f"{known[key]:,.1f} {unit}" for key, unit in speeds.items() if key in known]
        waits = f"{known[WAIT_SHARE]:.0%}" if WAIT_SHARE in known else "-"
        dropped = f"{known[DROPPED_DECISIONS]:,.0f}" if DROPPED_DECISIONS in known else "-"
        table.add_row(worker.name, ", ".join(speed) or "-", waits, dropped, f"{worker.age:.0f} s ago")
    return table


def standings(run: RunDirectory, as_json: bool = False, variant: str | None = None) -> int:
    """Print all players, the strongest first, by all games or by those in one variant."""
    state = state_of(run, variant)
    if as_json:
        return _emit(standings_json(state))
    Console().print(standings_table(state))
    return 0


def standings_with_costs(run: RunDirectory, as_json: bool = False) -> int:
    """Print the learning players, the strongest first, and what was spent on each."""
    view, rows = costs(run)
    if as_json:
        return _emit(msgspec.to_builtins(rows))
    Console().print(costs_table(view.state, rows))
    return 0


def payoff(run: RunDirectory, as_json: bool = False, variant: str | None = None) -> int:
    """Print the scores of all pairs, in evaluation and in training, by all games or by those in one variant."""
    state = state_of(run, variant)
    if as_json:
        return _emit(payoff_json(state))
    console = Console()
    console.print(payoff_matrix(state, state.evaluation, "Evaluation: snapshots only", console.width))
    if (returns := return_matrix(state, "Evaluation: what the row returned a game", console.width)) is not None:
        console.print(returns)
    console.print(payoff_matrix(state, state.training, "Training: older games count less", console.width))
    return 0


# --- matches -------------------------------------------------------------------------------------------------


class Matches:
    """Observes a fold and keeps the newest matches, of one player or of all."""

    def __init__(self, player: str | None, limit: int) -> None:
        self._player = player
        self.newest: deque[dict[str, Any]] = deque(maxlen=limit)

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """Keep a ticket that is settled."""
        if isinstance(event, ResultCounted):
            self._note(state, state.open[event.ticket], event.episodes, None)
        elif isinstance(event, TicketVoided):
            self._note(state, state.open[event.ticket], (), event.why)

    def search(self, ledger: Ledger, state: LeagueState) -> None:
        """Find the newest matches from the end of the ledger."""
        self.newest.clear()
        limit = self.newest.maxlen or 0
        for ticket, event in reversed(newest_settled(ledger, limit, self._wants)):
            if isinstance(event, ResultCounted):
                self._note(state, ticket, event.episodes, None)
            else:
                self._note(state, ticket, (), event.why)

    def _wants(self, ticket: Ticket) -> bool:
        return self._player is None or any(entry.player == self._player for entry in ticket.entries)

    def _note(self, state: LeagueState, ticket: Ticket, episodes: tuple[Episode, ...], void: str | None) -> None:
        if self._wants(ticket):
            sides = None if state.env is None else state.env.sides
            self.newest.append(match_json(ticket, episodes, void, sides))


def match_json(
    ticket: Ticket, episodes: tuple[Episode, ...], void: str | None = None, sides: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return a match.

    ticket, attempt, purpose, players; sides: of the entries, equal numbers win together; scores: of each entry against
    all other sides, null if there is only one; returns: the mean of each entry; lengths: of its episodes in moves;
    recorded: the episodes that can be replayed; void: why nobody won it, null if it was played; variant: of the
    environment, null if it has none.
    """
    seats = range(len(ticket.entries))
    where, players = list(sides or seats), [entry.player for entry in ticket.entries]
    return {
        "ticket": ticket.number,
        "attempt": ticket.attempt,
        "purpose": ticket.purpose.value,
        "players": players,
        "sides": where,
        "scores": [_score(episodes, seat, players, where) for seat in seats]
        if episodes and len(set(where)) > 1
        else None,
        "returns": [sum(total_return(e, [seat]) for e in episodes) / len(episodes) for seat in seats]
        if episodes
        else None,
        "lengths": [episode.length for episode in episodes],
        "recorded": [i for i, episode in enumerate(episodes) if episode.actions],
        "void": void,
        "variant": variant_name(ticket),
    }


def _score(
    episodes: tuple[Episode, ...], entry: int, players: Sequence[PlayerId], sides: Sequence[int]
) -> float | None:
    """Return the share of points of an entry, counted as in the standings: only other players, each side once.

    Where a player meets nobody but itself, its entries count as different players. None if it did not take part.
    """
    others = [o for o, side in enumerate(sides) if side != sides[entry]]
    foes = {(sides[o], players[o]): o for o in others if players[o] != players[entry]}
    places = [entry, *(foes.values() or others)]
    ranks = ([episode.ranks[place] for place in places] for episode in episodes)
    wins, draws, losses = head_to_head({0}, range(len(places)), ranks)
    games = wins + draws + losses
    return (wins + draws / 2) / games if games else None


def matches(run: RunDirectory, player: str | None = None, limit: int = 20, as_json: bool = False) -> int:
    """Print the newest matches, those of one player if it is named."""
    if limit < 1:
        raise ViewError(f"--limit must be at least 1, got {limit}")
    found = Matches(player, limit)
    state = open_view(run, found).state
    if player is not None:
        find_player(state, player)
    newest = list(reversed(found.newest))
    if as_json:
        return _emit(newest)
    table = Table(
        "ticket", "purpose", "players (score in %, or return)", "moves", "recorded", box=SIMPLE_HEAD, pad_edge=False
    )
    for match in newest:
        table.add_row(*_match_cells(match))
    Console().print(table if newest else "no match is finished yet")
    return 0


def _names(match: dict[str, Any]) -> str:
    """Return who played, side by side, with scores, or with returns where there is one side."""
    values = ["-" if s is None else f"{100 * s:.0f}" for s in match["scores"] or ()] or [
        f"{r:.4g}" for r in match["returns"] or ()
    ]
    labels = [f"{p} ({v})" for p, v in zip(match["players"], values, strict=False)] or match["players"]
    teams: dict[int, list[str]] = {}
    for side, text in zip(match["sides"], labels, strict=True):
        teams.setdefault(side, []).append(text)
    return " v ".join(" + ".join(team) for team in teams.values())


def _match_cells(match: dict[str, Any]) -> list[str | Text]:
    names = _names(match)
    lengths, recorded = match["lengths"], match["recorded"]
    purpose = " in ".join(filter(None, (match["purpose"], match["variant"])))
    if match["void"] is not None:
        return [str(match["ticket"]), purpose, names, "void", Text(match["void"], style="red")]
    span = str(min(lengths)) if min(lengths) == max(lengths) else f"{min(lengths)}-{max(lengths)}"
    kept = "all" if len(recorded) == len(lengths) else ",".join(map(str, recorded)) or "-"
    return [str(match["ticket"]), purpose, names, f"{len(lengths)} x {span}", kept]
