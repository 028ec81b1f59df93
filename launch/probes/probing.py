"""Train a best response against a frozen player, and measure it: an ordinary run inside the run, and fresh games.

    report = probe(run, "main", ProbeOrder(steps=200_000), allow=[])
    report.score.score, report.score.low, report.score.high

The ledger of the league itself is only read. The probe's own run lies in RUN/probes/NAME; the same call again goes on
with it, after a kill too, and one with more steps trains on. Where kills have spent the whole budget before the learner
wrote a candidate, the call trains for one more budget.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from launch.config.config import Config, stored, to_plain
from launch.matches.dueling import Contest
from launch.matches.many_games import Arena, Pairing
from launch.matches.score import Score
from launch.probes.probe_config import PROBE, TARGET, ProbeOrder, ProbeTarget, find_target, probe_config
from launch.probes.probe_table import ProbeTable
from launch.processes.ending import enough_decisions, find_end_problem, finished, stop_reason
from launch.spawn.exit_code import INTERRUPTED
from launch.start import begin
from launch.viewers.probe_reports import (
    SCRATCH,
    SELF,
    ProbeError,
    ProbePoint,
    ProbeReport,
    ProbeScore,
    read_probe_report,
)
from launch.viewers.view import View, open_view, read_offline
from league.events import Event, ResultCounted
from league.ids import PlayerId
from league.payoff import head_to_head
from league.rulebook import BudgetConfig
from league.state import OVER, LeagueState
from league.store.files import publish
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Purpose

POINTS = 20  # of a curve


def probe(
    run: RunDirectory,
    player: str,
    order: ProbeOrder,
    *,
    allow: Sequence[str] = (),
    quiet: bool = True,
    as_json: bool = False,
) -> ProbeReport:
    """Train a probe until its budget is spent, measure it, and return its report; at once if all that was done."""
    run.inside(run.probes)  # a run from elsewhere may have links there
    state, config = open_view(run).state, stored(run)
    target = find_target(run, state, player)
    wanted = probe_config(run, config, state, target, order)
    with begin(wanted, allow=allow, accept=False, notify=lambda line: None) as place:
        for budget in _budgets(place, order):
            place.write_config(to_plain(_with_budget(stored(place), budget)))
            _train(stored(place), place, ProbeTable(player, quiet=quiet, as_json=as_json), allow)
        curve = ProbeCurve()
        view = read_offline(place, curve.observe)
        _refuse_untrained(stored(place), place, view.state)
        known = read_probe_report(place)
        if known is not None and known.env_steps == view.state.env_steps and known.score.games >= order.games:
            return known
        arena = Arena(stored(place), [place.snapshots, run.snapshots], allow)
        scores = _measure(arena, state, view.state, target, order)
        report = _report(run, place, view, target, order, scores, curve.points())
        publish(place.probe_report, msgspec.json.encode(report))
        return report


def _report(
    run: RunDirectory,
    place: RunDirectory,
    view: View,
    target: ProbeTarget,
    order: ProbeOrder,
    scores: tuple[ProbeScore, ProbeScore, dict[str, ProbeScore]],
    curve: tuple[ProbePoint, ...],
) -> ProbeReport:
    return ProbeReport(
        run=run.name,
        player=target.name,
        snapshot=target.entry.snapshot,
        start=order.start or (SCRATCH if target.snapshot is None else SELF),
        env_steps=view.state.env_steps,
        decisions=view.state.candidates[PlayerId(PROBE)].decisions,
        seconds=_seconds(view),
        curve=curve,
        start_score=scores[0],
        score=scores[1],
        anchors=scores[2],
        path=str(place.root),
        by_time=_ended_by_time(view.state),
        by_return=view.state.training.by_return,
    )


def _budgets(place: RunDirectory, order: ProbeOrder) -> Iterator[BudgetConfig]:
    """Yield the budgets to train within, one after the other: none if a probe is complete.

    A kill costs the decisions since the last candidate, but their env steps stay counted.
    """
    if finished(place) is None:
        yield stored(place).league.budget
    view = read_offline(place)
    if _lost_all(view.state):
        yield BudgetConfig(
            minutes=None if order.seconds is None else (view.elapsed + order.seconds) / 60,
            env_steps=None if order.steps is None else view.state.env_steps + order.steps,
        )


def _lost_all(state: LeagueState) -> bool:
    """Whether a probe was started more than once, and is over without a trained candidate, but was not given up."""
    newest = state.candidates.get(PlayerId(PROBE))
    given_up = state.voids_in_a_row >= state.config.lease.give_up
    return state.phase == OVER and state.term > 1 and not given_up and (newest is None or newest.decisions == 0)


def _with_budget(config: Config, budget: BudgetConfig) -> Config:
    return replace(config, league=replace(config.league, budget=budget))


def _train(config: Config, place: RunDirectory, table: ProbeTable, allow: Sequence[str]) -> None:
    """Run the league of a probe to its end; raise ProbeError if it fails, KeyboardInterrupt if it is stopped."""
    if config.launch.name == "inline":
        from launch.processes.inline import play

        with table:
            play(config, place, allow, lambda state: table.update(state, 0.0))
    else:
        from launch.processes.local import run_processes

        code = run_processes(config, place, table, allow)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            raise ProbeError(f"the probe failed; its logs are in {place.logs}")


def _refuse_untrained(config: Config, place: RunDirectory, state: LeagueState) -> None:
    """Raise ProbeError if the probe never learned: its score would say nothing about its target."""
    problem = find_end_problem(state, config, stop_reason(place))
    if problem is None:
        return
    if problem.failed:
        raise ProbeError(f"the probe failed: {problem.line} (its run is {place.root})")
    batch, seats = int(config.algo["batch"]), len(state.env.seats) if state.env else 1
    steps = enough_decisions(config) * seats
    raise ProbeError(
        f"the probe was never trained: an update needs {batch:,} decisions of it, and collectors hold some back. "
        f"Give more --steps: about {steps:,} are enough"
    )


class ProbeCurve:
    """Observes the training games of a probe, and makes a curve of them."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, int]] = []  # env steps after a result; its wins, draws and losses

    def observe(self, seq: int, event: Event, state: LeagueState) -> None:
        """Count a result of training."""
        if not isinstance(event, ResultCounted) or state.env is None:
            return
        ticket = state.open[event.ticket]
        if ticket.purpose != Purpose.TRAIN:
            return
        mine = {i for i, entry in enumerate(ticket.entries) if entry.player == PROBE}
        games = head_to_head(mine, state.env.sides, [episode.ranks for episode in event.episodes])
        steps = state.env_steps + sum(episode.length for episode in event.episodes)
        self._rows.append((steps, *games))

    def points(self, points: int = POINTS) -> tuple[ProbePoint, ...]:
        """Return the curve, with about so many points at equal distances in env steps."""
        return tuple(_points(self._rows, points))


def _points(rows: Sequence[tuple[int, int, int, int]], points: int) -> Iterator[ProbePoint]:
    if not rows:
        return
    width = -(-rows[-1][0] // points)
    bins: dict[int, list[int]] = {}
    for steps, *games in rows:
        found = bins.setdefault((steps - 1) // width, [0, 0, 0])
        for outcome, number in enumerate(games):
            found[outcome] += number
    for place, (wins, draws, losses) in bins.items():
        score = Score(wins, draws, losses)
        low, high = score.interval
        end = min((place + 1) * width, rows[-1][0])
        yield ProbePoint(env_steps=end, score=score.score, low=low, high=high, games=score.games)


def _measure(
    arena: Arena, state: LeagueState, own: LeagueState, target: ProbeTarget, order: ProbeOrder
) -> tuple[ProbeScore, ProbeScore, dict[str, ProbeScore]]:
    """Play fresh games: of the start weights and of the probe against the target, of the probe against the anchors."""
    probe_id = PlayerId(PROBE)
    last, victim = own.contestant(probe_id), own.contestant(PlayerId(TARGET))
    if last is None or victim is None or probe_id not in own.initial:
        raise ProbeError("the probe has no candidate: its budget was too small. Give more --steps")
    anchors = [Entry(p.id, p.snapshot, p.bot) for p in state.population.anchors() if p.id != target.entry.player]
    first = Entry(probe_id, own.initial[probe_id])
    pairings = [Pairing(own, first, victim), Pairing(own, last, victim), *(Pairing(own, last, a) for a in anchors)]
    begun, ended, *others = map(score_of, arena.play(pairings, order.games, order.seed, "games of the probe"))
    return begun, ended, {str(anchor.player): score for anchor, score in zip(anchors, others, strict=True)}


def _seconds(view: View) -> float:
    """Return how long a probe trained: the league of it goes on for a moment when its budget is spent."""
    minutes = view.state.config.budget.minutes
    return view.elapsed if minutes is None else min(view.elapsed, minutes * 60)


def _ended_by_time(state: LeagueState) -> bool:
    """Whether the time of a probe, and not its steps, was the limit."""
    budget = state.config.budget
    return budget.minutes is not None and not (budget.env_steps and state.env_steps >= budget.env_steps)


def score_of(contest: Contest) -> ProbeScore:
    """Return the score of the first player of a contest."""
    score = contest.score
    assert score is not None  # somebody is beaten: cooperative games have no probes
    low, high = score.interval
    return ProbeScore(
        wins=score.wins,
        draws=score.draws,
        losses=score.losses,
        score=score.score,
        low=low,
        high=high,
        mean_return=contest.returns[0],
        reach=contest.half_width[0],
    )
