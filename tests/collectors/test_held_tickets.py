"""Tickets that a collector holds: results until they are acknowledged, revocations, reports of bounded size."""

from dataclasses import replace

import pytest
from collector_world import World, evaluation

from collectors import held_tickets as module
from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.disc import DiscGame
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.held_tickets import MAX_UNACKED, RETRY
from league.wire.messages import (
    Ack,
    Verdict,
)


def test_the_first_report_asks_for_tickets_and_is_sent_again_only_when_it_is_late(world):
    (report,) = world.step()
    assert report.want == 1
    assert (report.name, report.session, report.directory) == ("collector-0", "session", 0)
    assert world.step(int(RETRY / 0.05) - 2) == []
    (again,) = world.step(4)
    assert again.request == report.request + 1


def test_a_collector_asks_ahead_of_its_slots(tmp_path):
    world = World(tmp_path, TicTacToe(slots=32), ahead=2)
    (report,) = world.step()
    assert report.want == 8
    world.answer(report, tickets=tuple(evaluation(number) for number in (1, 2)), directory=1, hosts=())
    later = [r for r in world.step(2) if r.held]
    assert later[0].want == 16, "all eight episodes are under way, so 32 slots want sixteen tickets of four more"


def test_a_result_is_sent_until_it_is_acknowledged_and_then_journaled(world):
    world.begin(evaluation())
    first = world.play(acknowledge=False).results
    again = world.play(acknowledge=False).results
    assert again == first
    assert world.journal == []
    (report,) = world.step(1)
    ack = Ack(1, 0, Verdict.DUPLICATE)
    world.answer(report, acks=(ack,))
    later = world.step(60)
    assert all(not r.results for r in later)
    assert len(later) >= 1
    assert world.journal == [ack]


def test_an_ack_of_another_attempt_ends_nothing(world):
    world.begin(evaluation(attempt=1))
    report = world.play(acknowledge=False)
    (report,) = world.step(1)
    world.answer(report, acks=(Ack(1, 0, Verdict.SUPERSEDED),))
    assert world.play(acknowledge=False).results
    assert world.journal == []


def test_a_result_goes_on_being_sent_when_the_coordinator_was_away(world):
    world.begin(evaluation())
    for _ in range(30):
        world.collector.step(0.0)
        world.now += 0.05
    address = world.coordinator
    lost = address.receive(0)
    assert lost, "reports went into the void"
    world.now += RETRY
    assert world.play().results


def test_orders_of_a_lower_term_are_refused(world):
    (report,) = world.step()
    world.answer(report, term=5)
    world.step()
    world.order(term=4, tickets=(evaluation(),), stop=True)
    world.step(3)
    assert world.running
    assert all(not r.held for r in world.step(60))
    world.order(term=5, tickets=(evaluation(),))
    assert world.play().results


def test_what_is_held_is_told_with_progress(world):
    world.begin(evaluation(episodes=40))
    reports = [r for _ in range(5) for r in [world.play(until=lambda report: report.held)]]
    held = [r.held[0] for r in reports]
    assert {(h.ticket, h.attempt) for h in held} == {(1, 0)}
    assert held[0].progress < held[-1].progress


def test_a_revoked_ticket_is_not_reported(world):
    world.begin(evaluation(number=1, episodes=8), evaluation(number=2, episodes=4))
    world.step(2)
    world.order(revoked=((1, 0),))
    report = world.play()
    assert [r.ticket for r in report.results] == [2]
    for _ in range(40):
        for report in world.step():
            assert not report.results
            assert not report.held
            world.answer(report)


def test_the_same_ticket_twice_is_played_once(world):
    world.begin(evaluation())
    world.order(tickets=(evaluation(),))
    world.play()
    with pytest.raises(AssertionError, match="nothing came of it"):
        world.play(steps=50)


class Generous(ConnectFour):
    """Connect four whose rewards are larger than any that is counted."""

    def step(self, actions):
        ends = super().step(actions)
        return replace(ends, reward=ends.reward * 1e12)


def test_returns_that_nobody_would_count_are_a_fault_that_says_what_to_do(tmp_path):
    world = World(tmp_path, Generous(4))
    world.begin(evaluation(episodes=8))
    (fault,) = world.play().faults
    assert "at most 1e+09 is counted; scale the environment's rewards" in fault.reason


def test_a_result_is_made_once_when_all_its_episodes_end_in_one_tick(tmp_path, monkeypatch):
    checked, problem = [], module.checking.problem
    monkeypatch.setattr(module.checking, "problem", lambda *case: checked.append(case[0].number) or problem(*case))
    world = World(tmp_path, DiscGame(slots=8))
    world.begin(evaluation(episodes=8))
    (result,) = world.play().results
    assert len(result.episodes) == 8
    assert checked == [result.ticket]


def test_results_that_pile_up_are_sent_in_reports_of_bounded_size(world, monkeypatch):
    monkeypatch.setattr(module, "REPORT_BYTES", 2000)
    world.begin(*(evaluation(number=number, episodes=8) for number in range(1, 31)))
    collector = world.collector
    for _ in range(800):  # the coordinator is away
        collector.step(0.0)
    assert len(collector._tickets._results) == 30
    world.coordinator.receive(0)
    world.now += RETRY
    told = []
    while len(told) < 30:
        results = world.play(steps=5).results
        assert 0 < len(results) < 12
        told += [result.ticket for result in results]
    assert sorted(told) == list(range(1, 31))
    world.step()
    assert collector._tickets._results == {}


def test_nothing_new_begins_while_too_many_results_wait(world):
    world.begin(evaluation())
    world.play(acknowledge=False)
    (result,) = world.collector._tickets._results.values()
    world.collector._tickets._results |= {(number, 9): result for number in range(MAX_UNACKED)}
    world.order(tickets=(evaluation(number=2),))
    played = world.collector.env_steps
    for report in world.step(30):
        assert report.want == 0
    assert world.collector.env_steps == played
