import numpy as np
import pytest

from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.game_tree import EnumerationError, TooLargeError
from collectors.envs.position_tree import enumerate_positions, estimated_histories, shows_positions
from collectors.exact.best_response import best_response, exploitability, profile_value
from collectors.exact.tree_policy import uniform


def maker(name, **kwargs):
    return lambda slots: make_environment(EnvConfig(name=name, kwargs=kwargs), slots)


def test_merged_rounds_of_rock_paper_scissors_are_few():
    tree = enumerate_positions(maker("rock_paper_scissors"), merge=True)
    positions = 1 + 14 * 9  # the first round, and later ones by both last actions
    assert len(tree.sets) == 2 * positions
    assert tree.sets.before is None


def test_whole_episodes_know_what_each_agent_did_before():
    tree = enumerate_positions(maker("rock_paper_scissors", max_cycles=3), merge=False)
    sets = tree.sets
    assert len(sets) == 2 * (1 + 9 + 81)
    assert sets.turn.tolist() == sorted(sets.turn.tolist())
    later = sets.turn > 0
    assert (sets.seat[sets.before[later]] == sets.seat[later]).all()
    assert (sets.turn[sets.before[later]] == sets.turn[later] - 1).all()


def test_ticks_cut_a_repeated_game():
    tree = enumerate_positions(maker("rock_paper_scissors"), merge=False, ticks=1)
    assert tree.size == 1 + 3 + 9
    rock = np.tile(np.eye(3)[0], (len(tree.sets), 1))
    assert exploitability(tree, rock).nash_conv == pytest.approx(2)


def test_tic_tac_toe_is_a_draw_and_random_play_has_its_known_value():
    tree = enumerate_positions(maker("tic_tac_toe"), merge=True)
    assert len(tree.sets) == 4520  # positions with a move to make, reachable by legal play
    assert profile_value(tree, uniform(tree.sets)) == pytest.approx(0.585 - 0.288, abs=0.001)
    policy = uniform(tree.sets)
    for _ in range(9):  # each round makes the moves of one more level perfect
        for seat in (0, 1):
            best = np.eye(9)[best_response(tree, policy, seat).actions]
            trembling = 0.9999 * best + 0.0001 * uniform(tree.sets)  # so that every position is reached
            policy = np.where((tree.sets.seat == seat)[:, None], trembling, policy)
    assert profile_value(tree, policy) == pytest.approx(0, abs=0.002)
    assert exploitability(tree, policy).nash_conv == pytest.approx(0, abs=0.002)


def test_the_disc_game_has_its_known_equilibrium():
    tree = enumerate_positions(maker("disc"), merge=False)
    assert (tree.size, len(tree.sets)) == (1 + 15 + 225, 2)
    highest = np.tile(np.repeat([0, 0, 0.2], 5), (2, 1))
    assert exploitability(tree, highest).nash_conv == pytest.approx(0, abs=1e-6)
    assert exploitability(tree, uniform(tree.sets)).nash_conv == pytest.approx(0.5, abs=1e-6)  # a level up, twice


def test_a_large_game_names_size_and_limit():
    with pytest.raises(TooLargeError, match=r"connect_four has more than 1,000 positions, .* at most 1,000"):
        enumerate_positions(maker("connect_four"), merge=True, limit=1000)
    with pytest.raises(TooLargeError, match=r"rock_paper_scissors has about 10\^14 positions, .* at most 5,000"):
        enumerate_positions(maker("rock_paper_scissors"), merge=False, limit=5000)
    with pytest.raises(TooLargeError, match="rock_paper_scissors has more than 5,000 positions"):
        enumerate_positions(maker("rock_paper_scissors", max_cycles=4), merge=False, limit=5000)


def test_the_size_of_a_game_is_estimated_by_random_play():
    assert estimated_histories(maker("rock_paper_scissors", max_cycles=3)) == 1 + 9 + 81 + 729
    assert estimated_histories(maker("rock_paper_scissors"), ticks=2) == 1 + 9 + 81
    assert 300_000 < estimated_histories(maker("tic_tac_toe")) < 900_000  # there are 549,946


def test_a_game_that_is_not_zero_sum_is_refused():
    with pytest.raises(EnumerationError, match="two_step is not zero-sum"):
        enumerate_positions(maker("two_step"), merge=True)


def test_environments_say_whether_they_show_positions():
    assert shows_positions(make_environment(EnvConfig(name="connect_four"), 1))
    assert not shows_positions(make_environment(EnvConfig(name="recall"), 1))
