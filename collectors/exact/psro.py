"""PSRO with exact best responses (Lanctot et al. 2017; the double oracle of McMahan et al. 2003) over a game tree.

for step in psro(tree, iterations=12):
    step.nash_conv, step.policy

The pool begins with uniform play. Each iteration solves its meta-game exactly, and the best responses of both seats to
the equilibrium mixture join the pool as one policy, which plays either seat, as a player of a league does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from collectors.envs.game_tree import GameTree, Real
from collectors.exact.best_response import BestResponse, best_response
from collectors.exact.meta_game import equilibrium, payoff_matrix
from collectors.exact.tree_policy import mixed, uniform

GAIN = 1e-9  # below it a best response gains nothing


@dataclass(frozen=True, slots=True)
class PSROStep:
    """The equilibrium of the pool so far."""

    policy: Real  # [sets, actions] of the mixture
    nash_conv: float
    weights: Real  # [pool] how often each policy is played, the uniform one first


def psro(tree: GameTree, iterations: int) -> Iterator[PSROStep]:
    """Yield the equilibrium of the pool after each iteration; end early where nobody can gain any more."""
    pool = [uniform(tree.sets)]
    for _ in range(iterations):
        weights = equilibrium(payoff_matrix(tree, pool))
        policy = mixed(tree.sets, pool, weights.tolist())
        first, second = (best_response(tree, policy, seat) for seat in (0, 1))
        nash_conv = max(0.0, first.value + second.value)
        yield PSROStep(policy, nash_conv, weights)
        if nash_conv < GAIN:
            return
        pool.append(pure(tree, first, second))


def pure(tree: GameTree, first: BestResponse, second: BestResponse) -> Real:
    """Return the best responses of both seats as one policy."""
    found: Real = np.eye(tree.sets.mask.shape[1])[np.where(tree.sets.seat == 0, first.actions, second.actions)]
    return found
