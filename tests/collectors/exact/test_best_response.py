import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_games import as_tabular, from_tabular, random_policy, spiel_tree

from collectors.envs.config import EnvConfig
from collectors.envs.enumerating import enumerate_game
from collectors.exact.best_response import best_response, exploitability, profile_value
from collectors.exact.tree_policy import uniform
from league.errors import InputError


def rps(rounds, whole=False):
    return enumerate_game(EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": rounds}), whole=whole)


def always(tree, action):
    policy = np.zeros(tree.sets.mask.shape)
    policy[:, action] = 1
    return policy


@pytest.mark.parametrize(("id", "nash_conv"), [("kuhn_poker", 11 / 12), ("leduc_poker", 4.747222), ("matrix_rps", 0)])
def test_uniform_play_has_its_known_exploitability(id, nash_conv):
    tree = spiel_tree(id)
    assert exploitability(tree, uniform(tree.sets)).nash_conv == pytest.approx(nash_conv, abs=1e-6)


@pytest.mark.parametrize("alpha", [0, 0.2, 1 / 3])
def test_every_equilibrium_of_kuhn_poker_has_its_value_and_no_exploitability(alpha):
    tree = spiel_tree("kuhn_poker")
    bet = {  # the probability to bet or call, by card and what was done before (p: pass, b: bet)
        "0": alpha,
        "0pb": 0,
        "1": 0,
        "1pb": alpha + 1 / 3,
        "2": 3 * alpha,
        "2pb": 1,
        "0p": 1 / 3,
        "0b": 0,
        "1p": 0,
        "1b": 1 / 3,
        "2p": 1,
        "2b": 1,
    }
    chances = np.array([bet[name] for name in tree.sets.names])
    found = exploitability(tree, np.stack([1 - chances, chances], axis=1))
    assert found.value == pytest.approx(-1 / 18)
    assert found.responses == pytest.approx((-1 / 18, 1 / 18))
    assert found.nash_conv == pytest.approx(0, abs=1e-12)


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_any_policy_for_kuhn_poker_has_the_figures_of_openspiel(seed):
    tree, game = spiel_tree("kuhn_poker"), pyspiel.load_game("kuhn_poker")
    policy = random_policy(tree, np.random.default_rng(seed))
    assert exploitability(tree, policy).nash_conv == pytest.approx(pyspiel.nash_conv(game, as_tabular(tree, policy)))


@pytest.mark.parametrize("id", ["leduc_poker", "goofspiel(num_cards=3,imp_info=True)", "liars_dice(dice_sides=2)"])
def test_policies_for_other_games_have_the_figures_of_openspiel(id):
    tree, game = spiel_tree(id), pyspiel.load_game(id)
    turn_based = pyspiel.convert_to_turn_based(game) if id.startswith("goofspiel") else game
    policy = random_policy(tree, np.random.default_rng(1))
    if turn_based is game:
        assert exploitability(tree, policy).nash_conv == pytest.approx(
            pyspiel.nash_conv(game, as_tabular(tree, policy))
        )
    theirs = pyspiel.nash_conv(turn_based, pyspiel.UniformRandomPolicy(turn_based))
    assert exploitability(tree, uniform(tree.sets)).nash_conv == pytest.approx(theirs)


def test_the_average_of_cfr_is_nearly_an_equilibrium():
    tree, solver = spiel_tree("kuhn_poker"), pyspiel.CFRSolver(pyspiel.load_game("kuhn_poker"))
    for _ in range(200):
        solver.evaluate_and_update_policy()
    found = exploitability(tree, from_tabular(tree, solver.average_policy()))
    assert found.nash_conv == pytest.approx(0.006659, abs=1e-6)
    assert found.value == pytest.approx(-1 / 18, abs=0.01)


@given(st.integers(0, 2**32), st.sampled_from(["kuhn_poker", "matrix_rps"]))
@settings(max_examples=25, deadline=None)
def test_a_best_response_earns_what_it_promises_and_no_other_policy_earns_more(seed, id):
    tree, rng = spiel_tree(id), np.random.default_rng(seed)
    policy, other = random_policy(tree, rng), random_policy(tree, rng)
    for seat in (0, 1):
        found, mine = best_response(tree, policy, seat), tree.sets.seat == seat
        actions = np.eye(tree.sets.mask.shape[1])[found.actions]
        sign = 1 - 2 * seat
        assert sign * profile_value(tree, np.where(mine[:, None], actions, policy)) == pytest.approx(found.value)
        assert sign * profile_value(tree, np.where(mine[:, None], other, policy)) <= found.value + 1e-9


@pytest.mark.parametrize(("rounds", "whole"), [(1, True), (4, True), (15, False)])
def test_rock_paper_scissors_pays_a_point_for_each_round_and_seat_to_who_knows_the_action(rounds, whole):
    tree = rps(rounds, whole)
    assert exploitability(tree, always(tree, 0)).nash_conv == pytest.approx(2 * rounds)
    assert exploitability(tree, uniform(tree.sets)).nash_conv == pytest.approx(0, abs=1e-12)


def test_merged_positions_have_the_same_figures_as_whole_episodes():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(4, 3))
    figures = []
    for whole in (False, True):
        tree = rps(4, whole)
        chances = np.exp(tree.sets.observation @ weights)
        figures.append(exploitability(tree, chances / chances.sum(axis=1, keepdims=True)))
    assert figures[0].responses == pytest.approx(figures[1].responses)
    assert figures[0].nash_conv > 0.5


def test_what_is_no_policy_is_refused():
    tree = spiel_tree("kuhn_poker")
    with pytest.raises(InputError, match=r"a policy has shape \(12, 2\)"):
        exploitability(tree, np.ones((3, 2)))
    for wrong in (np.full((12, 2), np.nan), np.full((12, 2), 0.4), np.array([[2.0, -1.0]] * 12)):
        with pytest.raises(InputError, match="probabilities with a sum of one"):
            exploitability(tree, wrong)
