"""A league that never trained is no success."""

import logging

import pytest

from launch.cli import main
from launch.config.config import Config, stored, to_plain
from launch.processes.ending import find_end_problem, finished, noting_stops, stop_reason
from launch.viewers.view import read_offline
from league.events import (
    CandidateWritten,
    LeagueFounded,
    PhaseBegan,
    PlayerAdded,
    ResultCounted,
    TicketIssued,
    TicketVoided,
)
from league.player import Player
from league.rulebook import BudgetConfig
from league.spec import Array, EnvSpec, Seat
from league.state import OVER, LeagueState, apply
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Episode, Purpose, Ticket

ENV = EnvSpec(
    name="game", agents=("a", "b"), seats=(Seat((0,)), Seat((1,))), observation=Array((1,), "float32"), actions=2
)


MOVES = 100_000  # in each ticket


def config():
    small = Config()
    small.launch.collectors, small.collector.slots, small.collector.ticks = 1, 8, 8
    small.algo["batch"] = 1000
    return small


def ended(tickets, **decisions):
    """Return the state of a league that is over: tickets that trained each player, and decisions it trained on."""
    state, number = LeagueState(config().league), 0
    apply(state, LeagueFounded(seed=1, config="c", env=ENV))
    for player in decisions:
        apply(state, PlayerAdded(player=Player(id=player, kind="main")))
    for player, count in tickets.items():
        for _ in range(count):
            number += 1
            entries = (Entry(player), Entry("other", "snapshot"))
            ticket = Ticket(number=number, purpose=Purpose.TRAIN, entries=entries, episodes=1, trains=(player,))
            apply(state, TicketIssued(ticket=ticket))
            apply(state, ResultCounted(ticket=number, attempt=0, episodes=(Episode((0, 1), (1.0, -1.0), MOVES),)))
    for player, trained in decisions.items():
        event = CandidateWritten(player=player, incarnation=0, version=trained, snapshot="0", decisions=trained)
        apply(state, event)
    apply(state, PhaseBegan(phase=OVER, why="the budget is spent"))
    return state


def test_a_league_that_was_given_up_fails_whether_it_trained_or_not():
    for trained in (0, 5000):
        state = ended({}, main=trained, other=0)
        for number in range(1, config().league.lease.give_up + 1):
            entries = (Entry("main"), Entry("other", "snapshot"))
            ticket = Ticket(number=number, purpose=Purpose.TRAIN, entries=entries, episodes=1, trains=("main",))
            apply(state, TicketIssued(ticket=ticket))
            apply(state, TicketVoided(ticket=number, why="a return of nan"))
        apply(state, PhaseBegan(phase=OVER, why="void: a return of nan"))
        found = find_end_problem(state, config())
        assert found == ("the league was given up, with 20 void tickets at its end: void: a return of nan", True)


def test_a_league_without_a_finished_match_fails():
    found = find_end_problem(ended({}, main=5000, other=0), config())
    assert found is not None
    assert found.failed
    assert "no match was finished, so nobody is rated" in found.line
    assert "ludus check-env" in found.line
    assert find_end_problem(ended({"main": 1}, main=5000, other=5000), config()) is None


def test_a_league_that_never_trained_fails():
    found = find_end_problem(ended({"main": 2, "other": 2}, main=0, other=0), config())
    assert found is not None
    assert found.failed
    assert found.line == (
        "the league is over (the budget is spent), but nobody was trained, though there were about 100,000 decisions "
        "to learn from. Why is in: ludus logs"
    )


def test_why_training_stopped_is_quoted_from_the_log_of_the_learner(tmp_path):
    run = RunDirectory(tmp_path).create()
    assert stop_reason(run) == ""
    told = "player main: 10 updates in a row were rolled back (the network own:Net returns NaN). Its training stops; so"
    lines = [
        "2026-01-01 INFO ludus.learner: Its training stops",
        f"2026-01-01 ERROR ludus.learner: {told}",
        "x ERROR y: z",
    ]
    run.log("learner", 0).write_text("\n".join(lines))
    found = find_end_problem(ended({"main": 2, "other": 2}, main=0, other=0), config(), stop_reason(run))
    assert found.line.endswith(f"decisions to learn from. {told}")


def test_a_last_candidate_that_came_too_late_is_no_failure():
    """A short final evaluation may end before a learner reports it: others show that learning works."""
    assert find_end_problem(ended({"main": 2, "other": 2}, main=5000, other=0), config()) is None


def test_a_budget_too_small_for_a_batch_is_told_and_no_failure():
    found = find_end_problem(ended({}, main=0, other=0), config())
    assert found is not None
    assert not found.failed
    assert "the first update needs algo.batch=1,000 decisions of one player. Raise league.budget" in found.line


def test_a_league_that_trained_lacks_nothing():
    assert find_end_problem(ended({"main": 2, "other": 0}, main=5000, other=0), config()) is None, (
        "nobody asked the other"
    )
    assert find_end_problem(ended({"main": 2, "other": 2}, main=5000, other=1), config()) is None


@pytest.mark.parametrize("launch", ["local", "inline"])
def test_a_league_that_is_over_and_has_no_budget_left_is_not_started(run, state, launch, capsys):
    config = stored(run)
    config.launch.name = launch
    run.write_config(to_plain(config))
    assert main(["resume", str(run.root), "--plain"]) == 0
    told = capsys.readouterr()
    assert f"it has played {state.env_steps:,} env steps in " in told.out + told.err
    assert "processes start" not in told.out + told.err
    assert "first is over" in told.out, "and how it ended"
    assert read_offline(run).state.term == state.term
    assert not run.logs.exists() or not list(run.logs.iterdir())


def test_a_league_with_budget_left_or_without_a_ledger_is_not_finished(run):
    state, line = finished(run)
    assert state.phase == OVER
    assert "the budget of 3,000 env steps is spent" in line
    budget = BudgetConfig(env_steps=state.env_steps)
    assert f"the budget of {state.env_steps:,} env steps is spent; it has played" in finished(run, budget).line
    assert finished(run, BudgetConfig(env_steps=state.env_steps + 1)) is None
    config = stored(run)
    config.league.budget.env_steps *= 2
    run.write_config(to_plain(config))
    assert finished(run) is None
    run.ledger.unlink()
    assert finished(run) is None


def test_a_learner_in_this_process_may_warn(capsys):
    log = logging.getLogger("ludus.learner")
    with noting_stops() as told:
        log.warning("the replay of %s was damaged", "main")
        log.error("main fails. Its training stops")
        log.info("nothing of note")
    assert told == ["main fails. Its training stops"]
    assert capsys.readouterr().err == "the replay of main was damaged\n"
