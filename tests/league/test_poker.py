"""Known answers on Kuhn and Leduc poker: whoever wins most chips ranks first by return, and not by hands won.

A pool of players, each a step of best response ahead of the one before it, plays evaluation games that are sampled from
the exact game. The exact expected chips against the pool are the truth.
"""

import numpy as np
import pytest

from league.evaluation_payoff import EvaluationPayoff, RatedGame
from league.ratings.return_ratings import fit_returns

pytest.importorskip("pyspiel")
from tests.support.poker import poker

PLAYERS, PAIRS = 10, {"kuhn_poker": 1500, "leduc_poker": 600}


def pool(game, seed):
    """Return policies that get better: each is the softmax of what choices were worth against the last three."""
    rng = np.random.default_rng(seed)
    logits, found = rng.normal(0.0, 0.5, game.none), []
    for _ in range(PLAYERS):
        found.append(game.policy(logits))
        recent = found[-3:]
        worth = sum(game.values(seat, found[-1], other) for other in recent for seat in (0, 1)) / len(recent)
        logits = np.clip(logits + 15.0 * worth / np.abs(worth).max(), -30.0, 30.0)
    return found


def truth(game, policies):
    """Return the exact expected chips of each policy against the others, from both seats."""
    chips = np.array([[game.endings(a, b) @ game.won for b in policies] for a in policies])
    return ((chips - chips.T) / 2).sum(axis=1) / (len(policies) - 1)


def sampled(game, first, second, deals, rng):
    """Return what the first seat wins in a hand of each deal."""
    upto = np.append(0.0, np.cumsum(game.endings(first, second)))
    begin = np.searchsorted(game.deal, deals)
    end = np.searchsorted(game.deal, deals, side="right")
    picked = upto[begin] + rng.random(len(deals)) * (upto[end] - upto[begin])
    return game.won[np.clip(np.searchsorted(upto, picked, side="right") - 1, begin, end - 1)]


def played(game, policies, pairs, seed):
    """Return the evaluation of a pool: pairs of hands with the same cards, seats swapped."""
    rng, table = np.random.default_rng(seed), EvaluationPayoff()
    table.go_by_return(float(np.abs(game.won).max()))
    chances = np.bincount(game.deal, game.endings(policies[0], policies[0]))
    for i, mine in enumerate(policies):
        for j, other in enumerate(policies[:i]):
            deals = rng.choice(len(chances), pairs, p=chances / chances.sum())
            ahead, behind = (sampled(game, *both, deals, rng) for both in ((mine, other), (other, mine)))
            hands = [
                [RatedGame(0.5 + np.sign(one) / 2, True, one), RatedGame(0.5 - np.sign(two) / 2, False, -two)]
                for one, two in zip(ahead.tolist(), behind.tolist(), strict=True)
            ]
            table.record_turns(f"p{i}", f"p{j}", hands)
    return table


def potential(counts):
    """Return the ratings by return, and the standard error of each difference of two."""
    fit = fit_returns(counts, {0: 0.0})
    variance = np.diag(fit.covariance)
    spread = variance[:, None] + variance[None, :] - 2 * fit.covariance
    return fit.ratings.rating, np.sqrt(np.maximum(spread, 0.0))


def spearman(one, other):
    ranks = [np.argsort(np.argsort(values)) for values in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


def apart(rating, error):
    """Return players, the weakest first, each of which is surely better than the one before it."""
    kept = []
    for player in np.argsort(rating):
        if not kept or rating[player] - rating[kept[-1]] > 1.96 * error[player, kept[-1]]:
            kept.append(int(player))
    return kept


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
@pytest.mark.parametrize("seed", [0, 1])
def test_ratings_by_return_rank_players_by_chips_and_win_shares_do_not(name, seed, figure):
    game = poker(name)
    policies = pool(game, seed)
    chips, names = truth(game, policies), [f"p{i}" for i in range(PLAYERS)]
    counts = played(game, policies, PAIRS[name], seed).game_counts(names)
    rating, error = potential(counts)
    points, kept = counts.points, apart(rating, error)
    shares = points.sum(axis=1) / (points + points.T).sum(axis=1)
    by_return, by_wins = spearman(rating[kept], chips[kept]), spearman(shares, chips)
    figure(
        f"{name}, seed {seed}: Spearman with chips {by_return:.2f} ({len(kept)} apart), "
        f"{spearman(rating, chips):.2f} of all, by win share {by_wins:.2f}"
    )
    assert len(kept) >= 3
    assert by_return >= 0.9
    assert spearman(rating, chips) >= 0.8, "of all, though some differ by less than chance"
    assert by_wins < 0.3
    np.testing.assert_allclose(rating - rating.mean(), chips * (PLAYERS - 1) / PLAYERS, atol=4 * error.max())


def test_the_value_of_kuhn_poker_is_known():
    """Uniform play against the best response to it is the known .5 for the first and .417 for the second seat."""
    game = poker("kuhn_poker")
    uniform = game.policy(np.zeros(game.none))
    responses = []
    for seat in (0, 1):
        policy = uniform
        for _ in range(60):
            logits = np.clip(np.log(policy) + 50.0 * game.values(seat, policy, uniform), -30.0, 30.0)
            policy = game.policy(logits)
        both = (policy, uniform) if seat == 0 else (uniform, policy)
        responses.append((1.0 if seat == 0 else -1.0) * float(game.endings(*both) @ game.won))
    assert sum(responses) == pytest.approx(0.9167, abs=1e-3), "NashConv of uniform play"
