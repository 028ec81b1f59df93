"""Best responses and exploitability by sweeps over the tree of a game.

found = exploitability(tree, policy)        # policy [sets, actions]: both seats, a row for each information set
found.value, found.responses                # of seat 0; and what a best response earns in each seat
found.nash_conv                             # sum over seats of best response minus value: 0 in an equilibrium

A best response chooses in each information set the action with the largest expected return, where each position of the
set weighs as much as chance and the other player make it reached. Sets are decided from the last level back.
"""

from dataclasses import dataclass

import numpy as np

from collectors.envs.game_tree import CHANCE, GameTree, Real
from collectors.envs.slots import Index
from league.errors import InputError

SEATS = (0, 1)
TOTAL = 1e-6  # by which probabilities may miss a sum of one


@dataclass(frozen=True, slots=True)
class Exploitability:
    """How much best responses earn against a profile."""

    value: float  # expected return of seat 0
    responses: tuple[float, float]  # of a best response in each seat, against the other seat's policy

    @property
    def nash_conv(self) -> float:
        """What both seats together could gain by a best response; 0 only in a Nash equilibrium."""
        return max(0.0, sum(self.responses))  # the values of both seats add up to zero


@dataclass(frozen=True, slots=True)
class BestResponse:
    """A best response of one seat."""

    value: float  # its expected return
    actions: Index  # [sets] its action in each set; meaningless in sets of the other seat


def exploitability(tree: GameTree, policy: Real) -> Exploitability:
    """Return the value of a profile, and what a best response to it earns in each seat."""
    check_policy(tree, policy)
    first, second = (best_response(tree, policy, seat) for seat in SEATS)
    return Exploitability(profile_value(tree, policy), (first.value, second.value))


def profile_value(tree: GameTree, policy: Real) -> float:
    """Return the expected return of seat 0."""
    value, chances = np.zeros(tree.size), _chances(tree, policy)
    for edges in reversed(_levels(tree)):
        np.add.at(value, tree.parent[edges], chances[edges] * (tree.reward[edges] + value[tree.child[edges]]))
    return float(value[0])


def best_response(tree: GameTree, policy: Real, seat: int) -> BestResponse:
    """Return the best response of a seat to the other seat's rows of a policy."""
    chances, sign = _chances(tree, policy), 1 - 2 * seat
    own = tree.seat[tree.parent] == seat
    reach = _reach(tree, np.where(own, 1.0, chances))
    value, worth = np.zeros(tree.size), np.zeros(tree.sets.mask.shape)
    actions = np.zeros(len(tree.sets), np.intp)
    for level, edges in reversed(list(enumerate(_levels(tree)))):
        parent, mine = tree.parent[edges], own[edges]
        returns = sign * tree.reward[edges] + value[tree.child[edges]]
        sets, moves = tree.set[parent[mine]], tree.action[edges][mine]
        np.add.at(worth, (sets, moves), (reach[parent] * returns)[mine])
        here = slice(tree.set_levels[level], tree.set_levels[level + 1])
        actions[here] = np.where(tree.sets.mask[here], worth[here], -np.inf).argmax(axis=1)
        taken = chances[edges].copy()
        taken[mine] = actions[sets] == moves
        np.add.at(value, parent, taken * returns)
    return BestResponse(float(value[0]), actions)


def check_policy(tree: GameTree, policy: Real) -> None:
    """Refuse what is no policy: a row of probabilities for each information set."""
    shape = tree.sets.mask.shape
    if policy.shape != shape:
        raise InputError(f"{tree.name}: a policy has shape {shape}, a row for each information set; got {policy.shape}")
    legal = np.where(tree.sets.mask, policy, 0.0)
    if not (np.isfinite(policy).all() and (policy >= 0).all() and (abs(legal.sum(axis=1) - 1) < TOTAL).all()):
        raise InputError(f"{tree.name}: in each information set the legal actions need probabilities with a sum of one")


def _levels(tree: GameTree) -> list[slice]:
    """Return the edges that leave the positions of each level."""
    return [slice(begin, end) for begin, end in zip(tree.edge_levels[:-1], tree.edge_levels[1:], strict=True)]


def _chances(tree: GameTree, policy: Real) -> Real:
    """Return the probability of each edge: that of chance, or of the action in its information set."""
    by_chance = tree.seat[tree.parent] == CHANCE
    found: Real = np.where(by_chance, tree.chance, policy[tree.set[tree.parent], tree.action])
    return found


def _reach(tree: GameTree, chances: Real) -> Real:
    """Return how probable each position is if edges have these probabilities."""
    reach = np.zeros(tree.size)
    reach[0] = 1.0
    for edges in _levels(tree):
        np.add.at(reach, tree.child[edges], reach[tree.parent[edges]] * chances[edges])
    return reach


def action_values(tree: GameTree, policy: Real, seat: int) -> Real:
    """Return what each action earns a seat if everybody then plays the policy: [sets, actions].

    Each position of a set weighs as much as chance and the other player make it reached.
    """
    chances, sign = _chances(tree, policy), 1 - 2 * seat
    own = tree.seat[tree.parent] == seat
    reach = _reach(tree, np.where(own, 1.0, chances))
    value, worth = np.zeros(tree.size), np.zeros(tree.sets.mask.shape)
    for edges in reversed(_levels(tree)):
        parent, mine = tree.parent[edges], own[edges]
        returns = sign * tree.reward[edges] + value[tree.child[edges]]
        np.add.at(worth, (tree.set[parent[mine]], tree.action[edges][mine]), (reach[parent] * returns)[mine])
        np.add.at(value, parent, chances[edges] * returns)
    return worth
