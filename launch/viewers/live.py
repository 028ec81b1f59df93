"""What `ludus run` shows: a live table on a terminal, plain lines elsewhere, and a report at the end.

with LiveTable("first") as table:
    while viewer.refresh(0.5):
        table.show(viewer)
final_report(viewer.state, "first")
"""

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import rich.console
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from collectors.conformance import ENDLESS
from launch.terminal.console import Console
from launch.terminal.wording import allowing
from launch.viewers.alarms import Bell, RatingPoint, RatingTrail, Signs, find_alarms
from launch.viewers.final_progress import final_words
from launch.viewers.payoff_matrix import payoff_matrix
from launch.viewers.tables import (
    all_standings,
    candidate_scores,
    rating_text,
    short,
    standings_json,
    standings_table,
    status_json,
)
from launch.viewers.view import View
from league.standings import MeanReturn, Standing
from league.state import FINAL, OVER, LeagueState

REPAINT_SECONDS = 0.5  # between two updates of a terminal
REFIT_SECONDS = 2.0  # between two fits of the ratings, which cost more than an update
ALARM_SECONDS = 10.0  # between two looks for alarms
LINE_SECONDS = 10.0  # between two plain lines
ROWS = 16  # of the standings in the live table


class LiveTable:
    """Shows a view at intervals, however often `show` is called; `note` prints a line above it."""

    def __init__(
        self,
        run_name: str,
        *,
        plain: bool = False,
        quiet: bool = False,
        as_json: bool = False,
        folder: Path | None = None,
        console: rich.console.Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._quiet, self._json, self._clock = run_name, quiet, as_json, clock
        self._folder = folder  # of the run: alarms look at its disk
        self._console = console or Console(stderr=as_json)  # standard output is for the program that reads it
        self._errors = console or Console(stderr=True)
        self._paints = self._console.is_terminal and not (plain or quiet or as_json)
        self._live: Live | None = None
        self._shown_at = self._fitted_at = float("-inf")
        self._body: RenderableType = ""
        self._whole = False  # whether a view was complete once
        self._final = False  # whether the final evaluation was announced
        self._rings_at = float("-inf")
        self._bell, self._trails = Bell(), dict[str, RatingTrail]()

    def __enter__(self) -> Self:
        if self._paints:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def note(self, text: str) -> None:
        """Print a line that stays; nothing if quiet."""
        if not self._quiet:
            self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        """Print a line on what went wrong; if quiet, to standard error."""
        console = self._errors if self._quiet else self._console
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    def show(self, view: View) -> None:
        """Show the view if it is time to; at once when it is complete for the first time, or the final phase begins."""
        now, whole = self._clock(), self._whole or view.seq >= view.head
        news = whole > self._whole or (whole and view.state.phase == FINAL and not self._final)
        early = now - self._shown_at < (REPAINT_SECONDS if self._live is not None else LINE_SECONDS)
        if self._quiet or (early and not news):
            return
        self._shown_at, self._whole = now, whole
        if not whole:  # the numbers of an old event would look as if something was lost
            self._wait_for(view)
            return
        self._announce(view)
        self._ring(view, now)
        if self._json:
            emit_line(status_json(view))
            return
        if self._live is None:
            self.note(plain_line(view))
            return
        if now - self._fitted_at >= REFIT_SECONDS:
            self._fitted_at = now
            self._body = standings_table(view.state, ROWS)
        self._live.update(Group(status_text(self._name, view), self._body), refresh=True)

    def _wait_for(self, view: View) -> None:
        """Show how far a view has read that has not caught up yet."""
        line = f"reading the ledger: event {view.seq:,} of {view.head:,}"
        if self._live is not None:
            self._live.update(Text(f"{self._name}  {line}"), refresh=True)
        elif not self._json:
            self.note(line)

    def _ring(self, view: View, now: float) -> None:
        """Print each alarm once, when it first rings."""
        if now < self._rings_at:
            return
        self._rings_at = now + ALARM_SECONDS
        for row in _mains(view.state):
            if row.rating is not None and row.low is not None and row.high is not None:
                point = RatingPoint(view.state.env_steps, row.rating, row.low, row.high)
                self._trails.setdefault(row.player, RatingTrail()).note(point)
        trails = {player: trail.points for player, trail in self._trails.items()}
        for alarm in self._bell.new(find_alarms(view.state, signs_of(view, trails, self._folder))):
            self.warn(alarm.line)

    def _announce(self, view: View) -> None:
        """Announce once that training is over, and what follows."""
        if view.state.phase == FINAL and not self._final:
            self._final, words = True, final_words(view.state)
            allowed = view.state.config.final_seconds()
            most = "" if allowed is None else f", within {clock_time(allowed)} (league.evaluation.final_share)"
            self.note(f"training ends ({view.state.why}). What is left is the {words}{most}")


def signs_of(view: View, trails: Mapping[str, Sequence[RatingPoint]], folder: Path | None) -> Signs:
    """Return what a view says about the processes of a league, and its folder about the disk, for `find_alarms`."""
    status, free = status_json(view), None if folder is None else free_bytes(folder)
    waits = {f"{who}_wait": status[f"{who}_wait"] for who in ("collector", "learner")}
    return Signs(live=view.live, elapsed=view.elapsed, free=free, trails=trails, **waits)


def free_bytes(folder: Path) -> int | None:
    """Return how much room is left on the disk of a folder; None if that is unknown."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def emit_line(plain: dict[str, Any]) -> None:
    """Print one line of JSON for a program that reads standard output."""
    sys.stdout.write(json.dumps(plain, allow_nan=False) + "\n")
    sys.stdout.flush()


def status_text(name: str, view: View) -> Text:
    """Return the few lines above a live table."""
    status = status_json(view)
    head = Text.assemble((name, "bold"), f"  {_phase(view)}")
    head.append(f", {_time_left(status)}, term {view.term}", style="dim")
    lines = [head, Text(f"{_league(status)}\n{_work(status)}")]
    lines += [Text(problem, style="red") for problem in _problems(view, status)]
    if status["silent"]:
        lines.append(Text(f"silent: {', '.join(status['silent'])}", style="red"))
    return Text("\n").join(lines)


def plain_line(view: View) -> str:
    """Return the state of a run in one line, for logs."""
    status = status_json(view)
    strength = [f"{row.player} {_strength(row)}" for row in _mains(view.state)]
    parts = [f"{_phase(view)}: {_time_left(status)}", _league(status), *strength, _work(status)]
    return "; ".join([*(problem.rstrip(".") for problem in _problems(view, status)), *parts])


def _phase(view: View) -> str:
    return f"{view.state.phase}{' (paused: ludus unpause)' if view.state.paused else ''}"


def _problems(view: View, status: dict[str, Any]) -> Iterator[str]:
    """Yield what somebody has to do something about."""
    if view.broken:
        yield view.broken
    if view.state.damaged:
        yield f"the ledger is damaged: {view.state.damaged}. Stop the league, and see ludus verify"
    if status["endless"] is not None:
        yield f"an episode has not ended in {status['endless']:,} steps, and does not count until it does. {ENDLESS}"


def _time_left(status: dict[str, Any]) -> str:
    if status["final_wanted"] is not None:
        left = status["final_seconds_left"]
        games = f"{status['final_done']:,} of {status['final_wanted']:,} games"
        return games if left is None else f"{games}, about {clock_time(left)} left"
    left = None if status["phase"] == OVER else status["seconds_left"]
    return f"{clock_time(status['elapsed'])} played" if left is None else f"{clock_time(left)} left"


def clock_time(seconds: float) -> str:
    """Return hours, minutes and seconds as people write them.

    >>> clock_time(3725), clock_time(65)
    ('1:02:05', '1:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _league(status: dict[str, Any]) -> str:
    void = f" ({status['void']} void)" if status["void"] else ""
    return (
        f"{status['players']} players ({status['frozen']} frozen), "
        f"{status['matches']:,} matches{void}, {short(status['env_steps'])} env steps"
    )


def _work(status: dict[str, Any]) -> str:
    exploitable = [f"NashConv of {player} {value:.3f}" for player, value in status["nash_conv"].items()]
    if status["env_steps_per_second"] is None:
        return ", ".join(["no collector plays now", *exploitable])
    parts = [f"{short(status['env_steps_per_second'])} steps/s"]
    for name in ("collector", "learner"):
        if status[f"{name}_wait"] is not None:
            parts.append(f"{name} wait {status[f'{name}_wait']:.0%} (of {status[f'{name}s']})")
    if status["lag_mean"] is not None:
        p95 = "" if status["lag_p95"] is None else f" (p95 {status['lag_p95']:.1f})"
        parts.append(f"lag {status['lag_mean']:.1f}{p95} versions")
    return ", ".join([*parts, *exploitable])


def _mains(state: LeagueState) -> list[Standing]:
    mains = {player.id for player in state.mains()}
    return [row for row in all_standings(state) if row.player in mains]


def _strength(row: Standing) -> str:
    if row.own is not None or row.cross is not None:
        return " ".join(f"{mean.mean:z.4g} with {whom}" for mean, whom in _returns(row))
    return "Elo -" if row.rating is None else rating_text(row)


def _returns(row: Standing) -> list[tuple[MeanReturn, str]]:
    """Return what a player returned, and with whom, as far as it is known."""
    return [(mean, whom) for mean, whom in ((row.own, "itself"), (row.cross, "others")) if mean is not None]


def final_report(
    state: LeagueState,
    run_name: str,
    console: rich.console.Console | None = None,
    *,
    as_json: bool = False,
    allow: Sequence[str] = (),
) -> None:
    """Print the standings, the payoff, the scores of each main against the anchors, and commands to try next."""
    if as_json:
        emit_line({"phase": state.phase, "why": state.why, "standings": standings_json(state)})
        return
    out = console or Console()
    out.print(Text.assemble((run_name, "bold"), f" is {state.phase}: {state.why or 'no reason was given'}"))
    out.print(standings_table(state, 2 * ROWS))
    out.print(payoff_matrix(state, state.evaluation, "Evaluation", out.width))
    for line in candidate_lines(state):
        out.print(line, highlight=False)
    out.print("\nNext:")
    for command in next_commands(state, run_name, allow):
        out.print(f"  {command}", style="cyan", highlight=False, markup=False, soft_wrap=True)


def candidate_lines(state: LeagueState) -> list[str]:
    """Return what the last candidate of each main scored against each anchor, as lines."""
    lines = []
    for row in _mains(state):
        for mean, whom in _returns(row):
            reach = "" if mean.high is None else f" ±{mean.high - mean.mean:.2g}"
            lines.append(f"{row.player}: returns {mean.mean:z.4g}{reach} with {whom} over {mean.games:.0f} games")
        for anchor, (score, low, high, games) in candidate_scores(state, row.player).items():
            lines.append(
                f"{row.player}: its last candidate scores {score:.1%} against {anchor} over {games} games "
                f"(95 % interval {low:.1%} to {high:.1%})"
            )
    return lines or ["no main has met an anchor since its last candidate"]


def next_commands(state: LeagueState, run_name: str, allow: Sequence[str] = ()) -> list[str]:
    """Return commands that work on this run; those that play need the same --allow as its own command."""
    also = allowing(allow)
    mains = [p.id for p in state.mains()]
    anchors = [p.id for p in state.population.anchors()] or [p.id for p in state.population.frozen()] or mains
    commands = [f"ludus standings {run_name}"]
    if mains:
        commands += [
            f"ludus watch {run_name} {mains[0]} {anchors[-1]}{also}",
            f"ludus explain {run_name} {mains[0]}{also}",
        ]
    if state.results["evaluate"]:
        commands.append(f"ludus matches {run_name}      # then: ludus replay {run_name} TICKET{also}")
    return [*commands, f"ludus verify {run_name}", f"ludus dashboard {run_name}{also}"]
