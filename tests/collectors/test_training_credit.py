"""Credit: episodes start within it, and long ones rest without it."""

from collector_world import World, evaluation, training

from collectors.envs.native.rock_paper_scissors import RockPaperScissors
from collectors.envs.native.tic_tac_toe import TicTacToe
from league.ticket import Entry, Purpose, Ticket


def test_a_training_ticket_waits_for_weights_and_for_credit(world):
    world.allowance = 0
    world.begin(training())
    world.step(5)
    assert len(world.pulls) == 1
    reports = world.step(60)
    assert reports[-1].starved == ("main",)
    assert world.collector.env_steps == 0
    world.allowance = 1
    world.now += 1.0
    world.play(until=lambda report: report.results)
    assert world.collector.env_steps > 0


def test_credit_is_asked_for_again_when_it_is_used_up_and_other_tickets_play_on(world):
    world.allowance = 10
    world.begin(training(number=1, episodes=100), evaluation(number=2, episodes=4))
    report = world.play(until=lambda report: report.results)
    assert [r.ticket for r in report.results] == [2]
    assert len(world.pulls) == 1
    world.play(until=lambda report: len(world.pulls) > 2)
    assert 10 <= world.pulls[-1].sent < 40


def test_decisions_in_lanes_never_use_up_the_credit_that_they_wait_for(tmp_path):
    """All lanes are partly filled when the credit is used up, and no other ticket would ever flush them."""
    world = World(tmp_path, TicTacToe(slots=16), allowance=20, ticks=32, flush_seconds=0.1)
    world.begin(training(episodes=200))
    for goal in range(50, 500, 50):
        world.play(until=lambda report, goal=goal: world.sent >= goal)


def test_long_episodes_rest_while_their_learner_is_busy(tmp_path):
    world = World(tmp_path, RockPaperScissors(slots=4, max_cycles=1000), allowance=40, ticks=8, flush_seconds=0.1)
    world.trains = False
    world.begin(training(episodes=4))
    world.step(400)
    played, lanes = world.collector.env_steps, 4 * 8 * 2
    assert 40 < world.sent <= 40 + lanes
    assert world.collector.env_steps == played
    world.trains = True
    world.step(400)
    assert world.collector.env_steps > played + 100
    world.trains = False
    world.step(400)
    played = world.collector.env_steps
    world.order(revoked=((1, 0),))
    world.step(50)
    assert world.collector.env_steps > played, "nobody waits for decisions of a ticket that was withdrawn"


def both(episodes=4):
    """A match of two live players that trains both."""
    entries = (Entry("main"), Entry("rival"))
    return Ticket(number=1, purpose=Purpose.TRAIN, entries=entries, episodes=episodes, trains=("main", "rival"))


def test_a_match_of_two_live_players_feeds_both_learners(tmp_path):
    world = World(tmp_path, TicTacToe(slots=4), players=("main", "rival"), flush_seconds=0.1)
    world.begin(both(episodes=8))
    (result,) = world.play(until=lambda report: report.results).results
    world.step(10)
    recorded = {player: unsent for (player, _), unsent in world.collector._recorder.unsent.items()}
    for head in world.heads:
        recorded[head.player] += head.decisions
    assert sum(recorded.values()) == sum(episode.length for episode in result.episodes), "every move is recorded once"
    assert abs(recorded["main"] - recorded["rival"]) <= 8, "and seats swap"


def test_of_two_live_players_the_one_that_has_credit_is_recorded(tmp_path):
    world = World(tmp_path, TicTacToe(slots=4), players=("main", "rival"), flush_seconds=0.1)
    world.denied = {"rival"}
    world.begin(both(episodes=8))
    world.play(until=lambda report: report.results)
    world.step(10)
    assert {head.player for head in world.heads} == {"main"}


def test_a_match_of_two_live_players_waits_while_neither_has_credit(tmp_path):
    world = World(tmp_path, TicTacToe(slots=4), players=("main", "rival"))
    world.denied = {"main", "rival"}
    world.begin(both())
    world.step(60)
    assert world.collector.env_steps == 0
