"""The game above the game: who of a pool to play, if the other player chooses from the same pool.

payoff = payoff_matrix(tree, policies)      # exact expected returns, both seats
weights = equilibrium(payoff)               # the Nash mixture of the pool
"""

from collections.abc import Sequence

import numpy as np

from collectors.envs.game_tree import GameTree, Real
from collectors.envs.slots import Index
from collectors.exact.best_response import profile_value

TINY = 1e-12  # what counts as zero in a tableau


def payoff_matrix(tree: GameTree, policies: Sequence[Real]) -> Real:
    """Return the expected return of each policy against each other one, as the mean of both seats: antisymmetric."""
    first = (tree.sets.seat == 0)[:, None]
    earned = np.array([[profile_value(tree, np.where(first, a, b)) for b in policies] for a in policies])
    found: Real = (earned - earned.T) / 2
    return found


def equilibrium(payoff: Real) -> Real:
    """Return the weights of an optimal mixture of the rows of an antisymmetric payoff matrix.

    The simplex method solves max sum(x) with (payoff + shift) x <= 1, x >= 0, whose start x = 0 is feasible.
    Bland's rule for the choice of pivots never cycles.

    >>> equilibrium(np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])).round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    size = len(payoff)
    tableau = np.zeros((size + 1, 2 * size + 1))
    tableau[:size, :size] = payoff - payoff.min() + 1.0
    tableau[:size, size : 2 * size] = np.eye(size)
    tableau[:size, -1] = 1.0
    tableau[-1, :size] = -1.0
    basis = np.arange(size, 2 * size)
    while (tableau[-1, :-1] < -TINY).any():
        column = int((tableau[-1, :-1] < -TINY).argmax())
        _pivot(tableau, basis, column)
    weights = np.zeros(2 * size)
    weights[basis] = tableau[:-1, -1]
    kept = np.maximum(weights[:size], 0.0)
    found: Real = kept / kept.sum()
    return found


def _pivot(tableau: Real, basis: Index, column: int) -> None:
    """Let a variable enter the basis, for the one that limits it most; of several, the one with the lowest number."""
    entries, limits = tableau[:-1, column], tableau[:-1, -1]
    ratios = np.where(entries > TINY, limits / np.where(entries > TINY, entries, 1.0), np.inf)
    tied = np.flatnonzero(ratios <= ratios.min() + TINY)
    row = int(tied[basis[tied].argmin()])
    tableau[row] /= tableau[row, column]
    others = np.arange(len(tableau)) != row
    tableau[others] -= np.outer(tableau[others, column], tableau[row])
    basis[row] = column
