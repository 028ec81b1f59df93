"""The phases of a league: budgets, the final evaluation, the end, and going on."""

from league_table import DUPLICATE, budgeted, kinds, take

from coordinator.last_candidates import SILENCE
from league.events import (
    PhaseBegan,
    TicketWithdrawn,
)
from league.rulebook import PlayerConfig
from league.state import FINAL, OVER, TRAINING
from league.ticket import Fault, Purpose


def test_a_budget_of_steps(bench, config):
    league = budgeted(bench, config, env_steps=100)
    while league.state.env_steps < 100:
        assert league.state.phase == TRAINING
        league.play()
        league.tick()
    assert league.state.phase == FINAL
    assert kinds(league, PhaseBegan)[-1].why == "the budget of 100 env steps is spent"


def test_a_budget_of_minutes(bench, config):
    league = budgeted(bench, config, minutes=2.0)
    league.tick(elapsed=119.9)
    assert league.state.phase == TRAINING
    league.tick(elapsed=120.0)
    assert league.state.phase == FINAL
    assert league.state.why == "the budget of 2 minutes is spent"


def test_learners_are_told_which_share_of_the_budget_is_spent(bench, config):
    league = budgeted(bench, config, minutes=2.0, env_steps=100)
    assert league.progress().spent == 0
    league.tick(elapsed=30.0)
    assert league.progress().spent == 0.25
    while league.state.env_steps < 50:
        league.play()
    assert league.progress().spent == league.state.env_steps / 100, "by the limit that comes first"
    league.tick(elapsed=1000.0)
    assert league.progress().spent == 1


def test_without_a_budget_nothing_is_spent(league):
    league.tick(elapsed=1e6)
    assert league.progress().spent == 0


def test_when_training_ends_its_tickets_are_withdrawn_and_nobody_trains(bench, config):
    league = budgeted(bench, config, minutes=1.0)
    open_tickets = take(league, count=20)
    trained = {t.number for t in open_tickets if t.purpose == Purpose.TRAIN}
    league.tick(elapsed=60.0)
    assert {event.ticket for event in kinds(league, TicketWithdrawn)} == trained
    held = [(t.number, t.attempt, 1) for t in open_tickets]
    assert {number for number, _ in league.report(held=held).revoked} == trained
    assert {row.train for row in league.progress().players} == {False}
    late = next(t for t in open_tickets if t.number in trained)
    assert league.report(results=[league.result(late)]).acks[0].verdict == DUPLICATE


def test_the_final_evaluation_ends_in_time(bench, config):
    """Half of the budget: then no more games begin, and what is under way is played to its end."""
    league = budgeted(bench, config, final_games=4000, minutes=2.0)
    league.end_training(120.0)
    league.play(6)
    (under_way,) = league.report(want=1).tickets
    league.tick(elapsed=179.0)
    assert league.coordinator.scheduler.next(0.0) is not None
    league.tick(elapsed=180.0)
    assert league.report(want=1).tickets == ()
    assert league.state.phase == FINAL, "a match is under way"
    league.report(results=[league.result(under_way)])
    league.tick(elapsed=181.0)
    assert (league.state.phase, league.state.why) == (OVER, "the budget of 2 minutes is spent")


def test_a_small_budget_leaves_time_for_a_final_evaluation(config):
    rules = config()
    rules.budget.minutes = 0.1
    assert rules.final_seconds() == 20
    rules.evaluation.final_share = None
    assert rules.final_seconds() is None


def test_a_last_candidate_is_evaluated_but_not_frozen(bench, config):
    league = budgeted(bench, config, final_games=4, minutes=1.0)
    league.end_training(60.0)
    league.play(1)
    frozen = len(league.state.population.frozen())
    league.write("main", version=9, decisions=10**6)
    assert len(league.state.population.frozen()) == frozen
    tickets = league.play(100)
    assert "main-0-9" in {entry.snapshot for t in tickets for entry in t.entries}
    assert league.state.games_of_newest("main", "random") == 4
    league.tick()
    assert league.state.phase == OVER
    league.write("main", version=10, decisions=10**6)
    assert league.state.candidates["main"].version == 9


def test_the_final_evaluation_is_about_the_last_candidate_however_few_its_games(bench, config):
    league = budgeted(bench, config, final_games=2, minutes=1.0)
    league.tick(elapsed=60.0)
    assert league.play(9) == [], "there is nothing to evaluate yet"
    league.tick(elapsed=61.0)
    assert league.state.phase == FINAL
    league.progress(league.candidate("main", 9, 100), finished=["main"])
    league.tick(elapsed=62.0)
    assert league.play(9) == [], "the exploiter still trains"
    league.progress(league.candidate("main", 9, 100), finished=["main", "exploiter"])
    league.tick(elapsed=63.0)
    played = {entry.snapshot for ticket in league.play(99) for entry in ticket.entries if entry.player == "main"}
    assert played == {"main-0-9"}
    league.tick(elapsed=64.0)
    assert league.state.phase == OVER
    assert league.state.candidates["main"].version == 9


def test_a_learner_that_died_does_not_hold_up_the_end(bench, config):
    league = budgeted(bench, config, final_games=2, minutes=1.0)
    league.tick(elapsed=60.0)
    league.now = SILENCE
    league.tick(elapsed=60.0 + SILENCE)
    assert league.play(99)
    league.tick(elapsed=61.0 + SILENCE)
    assert league.state.phase == OVER


def test_the_time_of_the_final_evaluation_begins_with_its_games(bench, config):
    league = budgeted(bench, config, final_games=4000, minutes=2.0)
    league.tick(elapsed=120.0)
    league.tick(elapsed=145.0)
    league.end_training(145.0)
    league.tick(elapsed=204.0)
    assert league.play(1)
    league.tick(elapsed=205.0)
    assert not league.play(1)


def test_after_a_restart_in_the_final_phase_last_candidates_are_waited_for_again(bench, config):
    league = budgeted(bench, config, final_games=2, minutes=1.0)
    league.tick(elapsed=60.0)
    league.crash()
    assert league.play(1) == [], "not even before the first tick"
    league.end_training(60.0)
    assert league.play(1)


def test_a_league_without_an_anchor_is_over_at_once(bench, config):
    rules = config(main=PlayerConfig())
    rules.budget.minutes = 1.0
    league = bench(config=rules)
    league.write()
    league.end_training(60.0)
    assert league.state.phase == OVER


def test_a_poisonous_final_pairing_ends_the_league_in_the_end(bench, config):
    league = budgeted(bench, config, final_games=4, minutes=1.0)
    league.config.lease.attempts, league.config.lease.give_up = 1, 3
    league.end_training(60.0)
    for _ in range(3):
        ticket = take(league)
        league.report(faults=[Fault(ticket=ticket.number, attempt=0, reason="x")])
        league.tick()
    assert league.state.phase == OVER


def test_a_league_that_was_over_goes_on_with_more_budget(bench, config):
    league = budgeted(bench, config, final_games=2, minutes=1.0)
    league.end_training(60.0)
    league.play(10)
    league.tick()
    assert league.state.phase == OVER
    league.config.budget.minutes = 2.0
    league.crash()
    assert league.state.phase == OVER
    assert league.coordinator.budget_spent(60.0) == ""
    league.coordinator.reopen()
    league.commit()
    assert league.state.phase == TRAINING
    league.write(version=1, decisions=50)
    assert {t.purpose for t in league.play(10)} >= {Purpose.TRAIN}
    assert league.refolded().phase == TRAINING


def test_nobody_holds_up_the_end_of_a_final_evaluation_by_holding_its_games(bench, config):
    league = budgeted(bench, config, final_games=40, minutes=1.0)
    league.end_training(60.0)
    (ticket, *_) = league.report(want=5).tickets
    allowed = league.state.config.final_seconds()
    for second in range(1, int(allowed + league.coordinator.leases.seconds)):
        league.now = float(second)
        league.report(held=[(ticket.number, ticket.attempt, second)])
        league.tick(elapsed=60.0 + second)
    assert league.state.phase == FINAL
    assert ticket.number in league.state.open, "it makes progress, as it says"
    league.tick(elapsed=60.0 + allowed + league.coordinator.leases.seconds)
    assert league.state.phase == OVER


def test_void_after_void_ends_a_league_that_nothing_can_be_played_in(bench, config):
    rules = config()
    rules.lease.attempts, rules.lease.give_up = 1, 5
    league = bench(config=rules)
    league.write()
    for number in range(1, 6):
        assert league.state.phase == TRAINING
        ticket = take(league)
        league.report(faults=[Fault(ticket=ticket.number, attempt=0, reason="on fire")])
        assert league.state.voids == number
        league.tick()
    assert league.state.phase == OVER
    assert league.state.why == "5 tickets in a row were void, the last one because of: on fire"
    assert league.report(want=1).stop


def test_a_result_between_voids_keeps_the_league_going(bench, config):
    rules = config()
    rules.lease.attempts, rules.lease.give_up = 1, 2
    league = bench(config=rules)
    league.write()
    for _ in range(5):
        ticket = take(league)
        league.report(faults=[Fault(ticket=ticket.number, attempt=0, reason="x")])
        league.play()
        league.tick()
    assert league.state.phase == TRAINING
