"""The collector over the wire in memory, with real games; the test is its coordinator and its learner."""

import numpy as np
import pytest
from collector_world import BOT, World, evaluation, training
from darts import Darts

from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.rock_paper_scissors import RockPaperScissors
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.episode import ReplayError, outcome_of, replay
from coordinator.leases import Leases
from league.ticket import Entry


@pytest.mark.parametrize("game", [TicTacToe, ConnectFour, RockPaperScissors, Darts])
def test_a_ticket_is_played_to_its_result_and_replays_to_the_same(tmp_path, game):
    world = World(tmp_path, game(slots=3))
    ticket = evaluation(episodes=5)
    world.begin(ticket)
    (result,) = world.play().results
    assert (result.ticket, result.attempt, len(result.episodes)) == (1, 0, 5)
    for index, episode in enumerate(result.episodes):
        assert game is Darts or sum(episode.returns) == 0
        assert episode.length >= 3
        assert outcome_of(replay(game(slots=1), ticket, 0, index, episode.actions, run_seed=7)) == episode


def test_a_record_of_illegal_parts_is_refused():
    record = np.array([[1, 0, 0.5], [2, 0, np.nan]] * 3, "<f4")
    with pytest.raises(ReplayError, match="illegal"):
        outcome_of(replay(Darts(slots=1), evaluation(), 0, 0, record.tobytes(), run_seed=7))


@pytest.mark.parametrize("opponent", [BOT, Entry("main")])
def test_actions_with_several_parts_reach_the_learner(tmp_path, opponent):
    world = World(tmp_path, Darts(slots=4), flush_decisions=1)
    world.begin(training(episodes=8, opponent=opponent))
    world.play()
    world.step(10)
    assert sum(head.decisions for head in world.heads) >= 16


def test_segments_are_legal_and_count_every_decision_of_the_trained_player(world):
    world.begin(training(episodes=40))
    (result,) = world.play(steps=2000).results
    world.now += 1.0
    world.order(tickets=(evaluation(number=2),))  # its episodes take over the lanes
    world.play()
    world.step(20)
    moves = sum(episode.length for episode in result.episodes)
    assert 0.4 * moves < world.sent < 0.6 * moves


def test_self_play_records_both_seats(world):
    world.begin(training(episodes=8, opponent=Entry("main")))
    (result,) = world.play(steps=2000).results
    world.order(tickets=(evaluation(number=2),))
    world.play()
    world.step(20)
    assert world.sent == sum(episode.length for episode in result.episodes)


def test_a_reset_player_is_recorded_only_in_its_new_incarnation(world):
    world.begin(training(episodes=400))
    world.play(steps=200, until=lambda report: world.heads)
    world.incarnation, world.version = 1, 3
    world.order(directory=6, hosts=world.hosts())
    world.step(2)
    world.heads.clear()
    world.play(steps=200, until=lambda report: world.heads)
    assert {head.incarnation for head in world.heads} == {1}
    assert world.pulls[-1].incarnation == 1


def test_weights_that_fit_no_policy_do_not_end_the_collector(world, caplog):
    world.flat = np.zeros(3, np.float32)
    world.begin(training())
    world.step(6)
    assert "another policy config" in caplog.text
    world.order(tickets=(evaluation(number=2),))
    assert [r.ticket for r in world.play().results] == [2]


def test_stop_is_obeyed_with_a_last_report(world):
    world.begin(evaluation())
    report = world.play(acknowledge=False)
    world.order(stop=True)
    (last,) = world.step()
    assert not world.running
    assert last.results == report.results
    assert last.want == 0


def test_a_heartbeat_tells_metrics_and_wait_share(tmp_path):
    world = World(tmp_path, TicTacToe(slots=2), heartbeat=1.0)
    world.begin(evaluation(episodes=1000))
    reports = [world.play(until=lambda report: report.metrics) for _ in range(2)]
    metrics = reports[-1].metrics
    assert metrics["slots_busy"] == 2
    assert 1 <= metrics["longest_episode"] <= 9
    assert metrics["env_steps_per_second"] == pytest.approx(2 / 0.05, rel=0.2)
    assert metrics["wait_share"] == 0
    assert metrics["dropped_decisions"] == 0
    steps = metrics["env_steps"] - reports[0].metrics["env_steps"]
    assert metrics["env_steps_per_second"] * metrics["seconds"] == pytest.approx(steps)


class Standstill(TicTacToe):
    """Episodes start, and nobody ever has to act in them."""

    def rows(self):
        return TicTacToe(slots=1).rows()

    def step(self, actions):
        return TicTacToe(slots=1).step(actions)


def expired_after(world, seconds, *tickets):
    """Whether the leases of tickets expire within some seconds in which their collector reports and is answered."""
    leases = Leases(3.0)
    world.begin(*tickets)
    for ticket in tickets:
        leases.grant(ticket.number, ticket.attempt, "collector-0", world.now)
    until = world.now + seconds
    while world.now < until:
        for report in world.step():
            for held in report.held:
                leases.renew(held.ticket, held.attempt, "collector-0", held.progress, world.now)
            world.answer(report)
        if leases.expired(world.now):
            return True
    return False


def test_the_leases_of_an_environment_that_stands_still_expire(tmp_path):
    world = World(tmp_path, Standstill(slots=4))
    assert expired_after(world, 6.0, evaluation(episodes=4))


def test_the_leases_of_a_collector_that_plays_do_not_expire(tmp_path):
    world = World(tmp_path, RockPaperScissors(slots=4, max_cycles=1000))
    assert not expired_after(world, 6.0, evaluation(episodes=4))
    assert world.collector.env_steps > 100


def test_the_leases_of_a_collector_that_waits_for_a_learner_do_not_expire(tmp_path):
    """First for weights and credit, then in the middle of long episodes."""
    world = World(tmp_path / "none", TicTacToe(slots=4), allowance=0)
    assert not expired_after(world, 6.0, training())
    assert world.collector.env_steps == 0
    world = World(tmp_path / "some", RockPaperScissors(slots=4, max_cycles=1000), allowance=40, flush_seconds=0.1)
    world.trains = False
    assert not expired_after(world, 12.0, training())
    assert 0 < world.collector.env_steps < 100, "it rests"
