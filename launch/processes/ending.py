"""Whether a league is over for good, and reached its purpose: players were trained, and matches were finished.

problem = find_end_problem(state, config, stop_reason(run))     # None if all is well
if problem is not None:
    print(problem.line)
    code = 1 if problem.failed else 0
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from launch.config.config import Config
from launch.topology.parts import topology
from launch.topology.roles import ProcessRole
from launch.viewers.view import read_offline
from league.ids import PlayerId
from league.rulebook import BudgetConfig
from league.state import OVER, LeagueState
from league.store.regular_file import read_end
from league.store.run_directory import RunDirectory
from league.ticket import Purpose

UNFINISHED = (
    "no match was finished, so nobody is rated: an episode takes longer than the budget, or never ends. Look with "
    "ludus check-env, raise league.budget, or give the environment a limit such as max_cycles=500"
)
TRAINING_STOPS = "Its training stops"  # what a learner logs when it gives a player up
ENOUGH = 2  # batches after which a player should have been trained: one may be under way

LONGEST_LOG = 1 << 24  # bytes of a log that are searched, from its end


class EndProblem(NamedTuple):
    """Why a league that is over is not complete."""

    line: str
    failed: bool  # there was enough to learn from, so that something is broken


class FinishedLeague(NamedTuple):
    """A league that is over and has no budget left."""

    state: LeagueState
    line: str  # what was played, and how to go on


def finished(run: RunDirectory, budget: BudgetConfig | None = None) -> FinishedLeague | None:
    """Return how a league ended that has nothing left of its budget, or of another one; None if it can go on."""
    if not run.ledger.exists():
        return None
    view = read_offline(run)
    spent = (budget or view.state.config.budget).spent(view.elapsed, view.state.env_steps)
    if view.state.phase != OVER or not spent:
        return None
    played = f"it has played {view.state.env_steps:,} env steps in {view.elapsed / 60:.2f} minutes"
    line = f"it was over already: {spent}; {played}. Raise league.budget above that to go on, or give another name="
    return FinishedLeague(view.state, line)


def stop_reason(run: RunDirectory) -> str:
    """Return the last line of the learners' logs that says why training stopped; empty if none does."""
    found = ""
    for path in sorted(run.logs.glob(f"{ProcessRole.LEARNER}-*.log")):
        for line in read_end(path, LONGEST_LOG).decode(errors="replace").splitlines():
            if " ERROR " in line and TRAINING_STOPS in line:
                found = line.partition(" ERROR ")[2].partition(": ")[2]
    return found


@contextmanager
def noting_stops() -> Iterator[list[str]]:
    """Give a list that gets what learners of this process say when they stop training a player."""
    told = list[str]()

    class StopNotes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if TRAINING_STOPS in (text := record.getMessage()):
                told.append(text)
            elif logging.lastResort is not None:  # which prints warnings only where there is no handler
                logging.lastResort.handle(record)

    log, handler = logging.getLogger("ludus.learner"), StopNotes(logging.WARNING)
    log.addHandler(handler)
    try:
        yield told
    finally:
        log.removeHandler(handler)


def find_end_problem(state: LeagueState, config: Config, why_stopped: str = "") -> EndProblem | None:
    """Return what a league that is over lacks: it was given up, no match ended, or a player never trained; else None.

    A player that made too few decisions for a batch could not be trained: the budget was too small, and nothing failed.
    `why_stopped` is what a learner said when it stopped training.
    """
    if state.phase == OVER and state.voids_in_a_row >= config.league.lease.give_up:
        line = f"the league was given up, with {state.voids_in_a_row} void tickets at its end: {state.why}"
        return EndProblem(line, failed=True)
    learning = [player.id for player in state.population.learning() if player.rate > 0]
    without = [player for player in learning if _decisions(state, player) == 0]
    if state.phase != OVER or (config.league.tournament.enabled and any(state.results.values())):
        return None
    if not sum(state.results.values()) and without != learning:
        return EndProblem(f"the league is over ({state.why}), but {UNFINISHED}", failed=True)
    if without != learning:  # the last candidate of a player may come too late to be counted: that is no failure
        return None
    played = {player: _played(state, player) for player in without}
    over = f"the league is over ({state.why}), but"
    batch, enough = int(config.algo["batch"]), enough_decisions(config)
    missed = [player for player in without if played[player] >= enough]
    if missed:
        most = max(played[player] for player in missed)
        why = f"though there were about {most:,.0f} decisions to learn from. {why_stopped or 'Why is in: ludus logs'}"
        return EndProblem(f"{over} nobody was trained, {why}", failed=True)
    need = f"the first update needs algo.batch={batch:,} decisions of one player"
    return EndProblem(f"{over} nobody was trained: {need}. Raise league.budget or lower algo.batch", failed=False)


def enough_decisions(config: Config) -> int:
    """Return how many decisions of its own a player needs to be trained: with fewer, all may end before an update."""
    return ENOUGH * (int(config.algo["batch"]) + _unsent(config))


def _unsent(config: Config) -> int:
    """Return how many decisions of a player collectors may hold back until their lanes are full."""
    collectors = sum(part.role is ProcessRole.COLLECTOR for part in topology(config))
    return collectors * config.collector.slots * config.collector.ticks


def _decisions(state: LeagueState, player: PlayerId) -> int:
    newest = state.candidates.get(player)
    return 0 if newest is None else newest.decisions


def _played(state: LeagueState, player: PlayerId) -> float:
    """Return about how many decisions a player made in training: its share of the moves that were counted."""
    asked, seats = sum(state.asked.values()), len(state.env.seats) if state.env else 1
    return state.steps[Purpose.TRAIN] * state.asked[player] / max(1, asked * seats)
