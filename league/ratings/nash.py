"""Nash averaging: the mixture of players that nobody beats, of all such mixtures the one of most entropy.

view = nash_view(fit, counts)
view.shares, view.entropy, view.diversity

Players that others dominate have no share, and clones share theirs, so copies of a player change nothing. Where two
players have not met, the ratings predict their payoff, and the cell is marked as filled.
"""

from dataclasses import dataclass

import numpy as np

from league.game_counts import FADED, Floats, GameCounts
from league.ratings.fits import Mask, RatingFit

VIRTUAL_GAMES = 4.0  # at the predicted payoff, in each cell: one lucky win makes nobody an equilibrium
SLACK = 1e-8  # payoff, as a share of the largest one, that a mixture may lose: without it there may be no interior
LAST_BARRIER, FADE = 1e-12, 0.1  # weight of the barrier at the end, and what each round leaves of it
ENOUGH = 1e-3  # decrease, by the barrier's weight, below which a round ends
MOST_STEPS, MOST_HALVINGS = 50, 40
BACK = 0.95  # share of the way to the boundary that a step takes at most
DIGITS = 9  # of a payoff: rounding errors of a fit would break the ties of equals
NO_SHARE = 1e-5  # below it, a share is one that the slack allows
FIRST_PLAYERS = 48  # with which a large league begins


@dataclass(frozen=True, slots=True, eq=False)
class NashView:
    """The maximum-entropy Nash mixture, with the payoff that it answers."""

    payoff: Floats  # [i, j] what i gains against j
    filled: Mask  # [i, j] where the two have not met, and ratings predict it
    shares: Floats

    @property
    def entropy(self) -> float:
        """Entropy of the mixture in nats: the logarithm of how many players it spreads over."""
        held = self.shares[self.shares > 0]
        return max(0.0, float(-(held * np.log(held)).sum()))

    @property
    def diversity(self) -> float:
        """Effective diversity: what players of the mixture win from each other; 0 if one player is best."""
        return float(self.shares @ np.maximum(self.payoff, 0.0) @ self.shares)


def nash_view(fit: RatingFit, counts: GameCounts, members: int | None = None) -> NashView:
    """Return the Nash mixture of all rated players with games, or of the first ones; the others have no share."""
    games, predicted = counts.games, fit.advantage()
    gained = counts.points - games / 2 if fit.by == "outcome" else counts.margins
    payoff = (gained + VIRTUAL_GAMES * predicted) / (games + VIRTUAL_GAMES)
    payoff = np.round((payoff - payoff.T) / 2, DIGITS)
    rated = np.flatnonzero((fit.joined & (games.sum(axis=1) >= FADED))[:members])
    shares = np.zeros(len(counts))
    shares[rated] = max_entropy_nash(payoff[np.ix_(rated, rated)], fit.ratings.rating[rated])
    filled = (games < FADED) & fit.joined[:, None] & fit.joined[None, :]
    np.fill_diagonal(filled, False)
    return NashView(payoff=payoff, filled=filled, shares=shares)


def max_entropy_nash(payoff: Floats, rating: Floats | None = None) -> Floats:
    """Return the Nash mixture of most entropy of an antisymmetric payoff.

    In a large league only few players have a share. The solver begins with the best by `rating` and lets in whoever
    gains against the mixture so far, or loses nothing.

    >>> max_entropy_nash(np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], float)).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    size = len(payoff)
    scale = float(np.abs(payoff).max()) if size else 0.0
    if scale == 0:
        return np.full(size, 1 / max(size, 1))
    unit = payoff / scale
    order = np.argsort(-(unit.sum(axis=1) if rating is None else rating), kind="stable")
    inside = np.sort(order[:FIRST_PLAYERS])
    while True:
        shares = np.zeros(size)
        shares[inside] = _solve(unit[np.ix_(inside, inside)])
        gains = unit @ shares
        gains[inside] = -np.inf
        joining = np.flatnonzero(gains > -10 * SLACK)
        if not len(joining):
            return shares
        best = joining[np.argsort(-gains[joining], kind="stable")[:FIRST_PLAYERS]]
        inside = np.sort(np.concatenate([inside, best]))


def _solve(unit: Floats) -> Floats:
    """Return the mixture p of most entropy with unit @ p <= SLACK.

    Its dual has no boundary but that prices are positive: p = softmax(unit @ prices) where the prices minimise
    log sum exp(unit @ prices) + SLACK sum(prices). A logarithmic barrier leads there, and the
    slack fades with it.
    """
    prices = np.ones(len(unit))
    barrier = 1.0
    while barrier > LAST_BARRIER:
        for _ in range(MOST_STEPS):
            p = _mixture(unit, prices)
            slope = SLACK + barrier - unit @ p - barrier / prices  # unit^T is -unit
            shares = p[:, None] * unit
            middle = p @ unit
            curvature = unit.T @ shares - np.outer(middle, middle) + np.diag(barrier / prices**2)
            step: Floats = -np.linalg.solve(curvature, slope).astype(np.float64)
            decrease = -float(slope @ step)
            if decrease < ENOUGH * barrier:
                break
            prices = prices + _length(unit, prices, step, barrier, decrease) * step
        barrier *= FADE
    p = _mixture(unit, prices)
    p = np.where(p < NO_SHARE, 0.0, p)
    held: Floats = p / p.sum()
    return held


def _mixture(unit: Floats, prices: Floats) -> Floats:
    """Return the mixture that these prices make."""
    value = unit @ prices
    weight = np.exp(value - value.max())
    mixture: Floats = weight / weight.sum()
    return mixture


def _length(unit: Floats, prices: Floats, step: Floats, barrier: float, decrease: float) -> float:
    """Return how much of a step to take: prices stay positive, and the value falls."""

    def value(at: Floats) -> float:
        gains = unit @ at
        top = float(gains.max())
        return top + float(
            np.log(np.exp(gains - top).sum()) + (SLACK + barrier) * at.sum() - barrier * np.log(at).sum()
        )

    down = step < 0
    length = min(1.0, BACK * float((prices[down] / -step[down]).min())) if down.any() else 1.0
    here = value(prices)
    for _ in range(MOST_HALVINGS):
        if value(prices + length * step) <= here - 0.1 * length * decrease:
            break
        length /= 2
    return length
