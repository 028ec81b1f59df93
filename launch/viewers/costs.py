"""What the strength of each learning player cost: env steps, decisions, and processor time of its learner."""

from collections.abc import Sequence

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table

from launch.config.config import algorithm_names, from_plain
from launch.viewers.tables import all_standings, fitted, rating_text, short
from launch.viewers.view import View, last_figures, open_view
from league.events import Event
from league.ids import PlayerId
from league.metrics import CPU_SECONDS, player_metric
from league.standings import Standing
from league.state import LeagueState
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """A learning player, its algorithm, its rating with interval, and what was spent on it.

    `env_steps` are those of counted training matches that it learned from, `decisions` those that its newest candidate
    was trained on, `cpu_seconds` the processor time of its updates; None if no learner reported it.
    """

    player: PlayerId
    algorithm: str
    rating: float | None
    low: float | None
    high: float | None
    env_steps: int
    decisions: int
    cpu_seconds: float | None


class LastCpuSeconds:
    """Observes no event; offline it finds the newest reports of learners in the ledger."""

    def __init__(self) -> None:
        self.found: dict[str, float] = {}

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """See an event, of which none matters."""

    def search(self, ledger: Ledger, state: LeagueState) -> None:
        """Find the newest reports."""
        self.found = last_figures(ledger, CPU_SECONDS)


def costs(run: RunDirectory) -> tuple[View, list[Cost]]:
    """Return the view of a run, and the cost of each of its learning players, the strongest first."""
    reports = LastCpuSeconds()
    view = open_view(run, reports)
    state = view.state
    algorithms = algorithm_names(from_plain(run.read_config()), () if state.env is None else state.env.roles)
    live = {name: value for worker in view.workers for name, value in worker.metrics.items()}

    def cost(row: Standing) -> Cost:
        newest, player = state.candidate(row.player), row.player
        return Cost(
            player=player,
            algorithm=algorithms[player],
            rating=row.rating,
            low=row.low,
            high=row.high,
            env_steps=state.trained_steps[player],
            decisions=0 if newest is None else newest.decisions,
            cpu_seconds=live.get(player_metric(player, CPU_SECONDS), reports.found.get(player)),
        )

    return view, [cost(row) for row in all_standings(state) if state.population[row.player].learning]


def costs_table(state: LeagueState, rows: Sequence[Cost]) -> Table:
    """Return the costs as a table."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("player", no_wrap=True, overflow="ellipsis", min_width=10)
    table.add_column("algorithm", overflow="fold", min_width=12)  # package.module:Class may be long
    for name in ("rating", "env steps", "decisions", "CPU s"):
        table.add_column(name, justify="right", no_wrap=True)
    ratings = {row.player: rating_text(row) for row in all_standings(state)}
    for row in rows:
        cpu = "-" if row.cpu_seconds is None else f"{row.cpu_seconds:,.1f}"
        counts = short(row.env_steps), short(row.decisions), cpu
        table.add_row(fitted(row.player), row.algorithm, ratings[row.player], *counts)
    table.caption = "training only: env steps of its matches, decisions that it learned from, CPU time of its updates"
    table.caption_justify = "left"
    return table
