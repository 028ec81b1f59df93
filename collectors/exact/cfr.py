"""CFR+ (Tammelin 2014) over a game tree: the yardstick of what is possible in a small game.

for policy in cfr_plus(tree, iterations=100):
    exploitability(tree, policy).nash_conv

In each information set regret matching plays actions in proportion to their positive regrets. Seats update in turn, and
the average policy, weighted by the iteration and by the seat's own reach, approaches an equilibrium.
"""

from collections.abc import Iterator

import numpy as np

from collectors.envs.game_tree import NONE, GameTree, Real
from collectors.exact.best_response import action_values
from collectors.exact.tree_policy import TreePolicyError, uniform


def cfr_plus(tree: GameTree, iterations: int) -> Iterator[Real]:
    """Yield the average policy after each iteration."""
    if tree.sets.before is None:
        raise TreePolicyError(f"{tree.name}: CFR needs positions that are not merged")
    policy, regret, total = uniform(tree.sets), np.zeros(tree.sets.mask.shape), np.zeros(tree.sets.mask.shape)
    for iteration in range(1, iterations + 1):
        for seat in (0, 1):
            mine = tree.sets.seat == seat
            worth = action_values(tree, policy, seat)
            gain = worth - (policy * worth).sum(axis=1, keepdims=True)
            regret[mine] = np.maximum(regret + np.where(tree.sets.mask, gain, 0), 0)[mine]
            policy[mine] = _matched(tree, regret)[mine]
            total[mine] += iteration * (own_reach(tree, policy)[:, None] * policy)[mine]
        yield _matched(tree, total)


def _matched(tree: GameTree, weight: Real) -> Real:
    """Return policies in proportion to weights; uniform where all are zero."""
    whole = weight.sum(axis=1, keepdims=True)
    return np.where(whole > 0, weight / np.where(whole > 0, whole, 1), uniform(tree.sets))


def own_reach(tree: GameTree, policy: Real) -> Real:
    """Return for each information set the probability that its player's own actions lead there."""
    before, action = tree.sets.before, tree.sets.before_action
    assert before is not None
    assert action is not None
    reach = np.ones(len(tree.sets))
    for turn in range(1, int(tree.sets.turn.max()) + 1):
        rows = np.flatnonzero((tree.sets.turn == turn) & (before != NONE))
        reach[rows] = reach[before[rows]] * policy[before[rows], action[rows]]
    return reach
