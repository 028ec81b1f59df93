"""CFR+: it approaches the equilibria of Kuhn and Leduc poker."""

import numpy as np
import pytest

from collectors.envs.adapters.openspiel import builder
from collectors.envs.adapters.openspiel_tree import enumerate_openspiel
from collectors.exact.best_response import action_values, exploitability, profile_value
from collectors.exact.cfr import cfr_plus, own_reach
from collectors.exact.tree_policy import uniform


def solved(name, iterations):
    tree = enumerate_openspiel(builder(name)())
    *_, policy = cfr_plus(tree, iterations)
    return tree, policy


@pytest.mark.parametrize(("name", "iterations", "limit"), [("kuhn_poker", 100, 0.005), ("leduc_poker", 60, 0.06)])
def test_it_approaches_an_equilibrium(name, iterations, limit):
    tree, policy = solved(name, iterations)
    assert exploitability(tree, policy).nash_conv < limit


def test_kuhn_poker_has_its_value():
    assert profile_value(*solved("kuhn_poker", 300)) == pytest.approx(-1 / 18, abs=1e-3)


def test_the_values_of_actions_add_up_to_that_of_the_game():
    tree = enumerate_openspiel(builder("kuhn_poker")())
    policy = uniform(tree.sets)
    for seat, first in ((0, 0), (1, 0)):
        rows = (tree.sets.seat == seat) & (tree.sets.turn == first)
        total = (policy * action_values(tree, policy, seat))[rows].sum()
        assert total == pytest.approx((1 - 2 * seat) * profile_value(tree, policy))


def test_reach_is_the_product_of_the_own_actions():
    tree = enumerate_openspiel(builder("kuhn_poker")())
    policy = np.where(tree.sets.mask, [0.9, 0.1], 0)
    reach = own_reach(tree, policy)
    later = tree.sets.turn == 1
    assert later.any()
    np.testing.assert_allclose(reach[later], 0.9)  # only who passed acts again
    np.testing.assert_allclose(reach[~later], 1)
