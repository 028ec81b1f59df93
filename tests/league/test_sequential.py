"""Bounds and tests that stay right although somebody looks after every game: error rates, power and known values."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.interval import wilson
from league.sequential import (
    OUTCOMES,
    PAIRS,
    PairTest,
    anytime_interval,
    average_at_least,
    kept_starts,
    log_evidence,
    lower_bound,
    moments,
    start_shares,
    surely_above,
    upper_bound,
)

NOMINAL = 0.025


def cumulated(rng, runs, games, score, draws=0.0):
    """Return [runs, games, 3] the wins, draws and losses after each game, of a player with this score."""
    sample = rng.random((runs, games))
    won, not_lost = sample < score - draws / 2, sample < score + draws / 2
    return np.stack([won, not_lost & ~won, ~not_lost], axis=-1).cumsum(axis=1)


def refuted_at(counts, threshold):
    """Return for each run after how many games the score is surely above the threshold; inf: never."""
    hit = log_evidence(counts, threshold) >= math.log(1 / NOMINAL)
    return np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, np.inf)


# --- bounds --------------------------------------------------------------------------------------------------


def beta_mixture_bound(won, games, alpha):
    """Return the lower bound by the e-value with a Beta(1/2, 1/2) mixture of the chance to win, by bisection."""
    mixture = math.lgamma(won + 0.5) + math.lgamma(games - won + 0.5) - math.lgamma(games + 1) - math.log(math.pi)
    low, high = 0.0, won / games
    for _ in range(50):
        middle = (low + high) / 2
        single = won * math.log(middle) + (games - won) * math.log1p(-middle)
        low, high = (middle, high) if mixture - single >= math.log(1 / alpha) else (low, middle)
    return low


@pytest.mark.parametrize(("won", "games"), [(10, 10), (35, 50), (80, 100), (240, 300), (5000, 10_000), (961, 1000)])
def test_the_bound_is_as_close_as_that_of_the_beta_mixture(won, games):
    mine, theirs = float(lower_bound([won, 0, games - won])), beta_mixture_bound(won, games, NOMINAL)
    assert mine > theirs - 0.01
    assert games < 100 or mine > theirs


def test_known_values():
    """By hand: after n wins out of n the bound solves mean_k ((1 + k) / (1 + k p))^n = 40."""
    assert lower_bound([14, 0, 0]).round(4) == 0.7127
    bets = 2.0 ** np.arange(-7, 8.5, 0.5)
    assert (((1 + bets) / (1 + bets * lower_bound([14, 0, 0]))) ** 14).mean() == pytest.approx(40, rel=1e-6)
    low, high = anytime_interval(np.array([0.0, 50.0, 80.0]), np.array([0.0, 100.0, 100.0]))
    assert low.round(3).tolist() == [0.0, 0.332, 0.644]
    assert high.round(3).tolist() == [1.0, 0.668, 0.912]


def test_draws_make_the_bound_closer_than_points_alone_do():
    points_only = float(anytime_interval(70.0, 100.0)[0])
    assert float(lower_bound([50, 40, 10])) > points_only + 0.02


@settings(deadline=None)
@given(st.lists(st.integers(0, 300), min_size=3, max_size=3).filter(any), st.sampled_from([0.2, 0.025, 1e-4]))
def test_bounds_enclose_the_score_and_refute_exactly_what_is_outside(counts, alpha):
    score = (counts[0] + counts[1] / 2) / sum(counts)
    low, high = float(lower_bound(counts, alpha)), float(upper_bound(counts, alpha))
    assert 0 <= low <= score <= high <= 1
    assert high == 1 - float(lower_bound(counts[::-1], alpha))
    if low > 0:
        assert log_evidence(counts, max(0, low - 1e-6)) >= -math.log(alpha) - 1e-9
    assert log_evidence(counts, min(1, low + 1e-6)) < -math.log(alpha) + 1e-9


@settings(deadline=None)
@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200))
def test_one_more_win_never_lowers_the_bound(won, drawn, lost):
    assert lower_bound([won + 1, drawn, lost]) >= lower_bound([won, drawn, lost]) - 1e-9


def test_all_opponents_at_once_are_the_same_as_one_by_one():
    counts = np.random.default_rng(0).integers(0, 50, (7, 2, 3))
    each = [[float(lower_bound(counts[i, j])) for j in range(2)] for i in range(7)]
    assert np.allclose(lower_bound(counts), each)


@pytest.mark.parametrize("counts", [[1, 2], [1, -1, 0], [math.nan, 0, 0], [math.inf, 0, 0]])
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(ValueError, match="counts must be"):
        lower_bound(counts)


def test_scores_outside_of_the_range_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        lower_bound([1, 1], values=(1.5, 0.0))
    with pytest.raises(ValueError, match="confidence"):
        anytime_interval(1.0, 2.0, 1.0)


@pytest.mark.parametrize("draws", [0.0, 0.4])
def test_looked_at_after_every_game_a_true_score_is_seldom_surely_exceeded(draws, figure):
    counts = cumulated(np.random.default_rng(4), 600, 600, 0.7, draws)
    wrong = float(np.isfinite(refuted_at(counts, 0.7)).mean())
    points = counts[..., 0] + counts[..., 1] / 2
    once = wilson(points, counts.sum(axis=-1))[0][:, 19:] > 0.7  # from the 20th game on
    assert wrong <= NOMINAL
    wilsons = float(once.any(axis=1).mean())
    figure(f"a true .70 ({draws:.0%} draws), 600 looks: surely above .70 in {wrong:.1%}; by Wilson {wilsons:.1%}")


def test_power(figure):
    rng = np.random.default_rng(5)
    median = {
        score: float(np.median(refuted_at(cumulated(rng, 200, 900, score), 0.7))) for score in (0.8, 0.85, 0.9, 1.0)
    }
    assert median[0.8] < 220
    assert median[0.85] < 100
    assert median[0.9] < 50
    assert median[1.0] == 14
    figure(f"games until a score is surely above .70, median: {median}")


@pytest.mark.parametrize("score", [0.1, 0.5, 0.96])
def test_the_interval_covers_the_score_at_all_times(score):
    counts = cumulated(np.random.default_rng(6), 400, 400, score)
    both = [log_evidence(counts, score), log_evidence(counts[..., ::-1], 1 - score)]
    outside = np.maximum(*both).max(axis=1) >= math.log(1 / NOMINAL)
    assert outside.mean() <= 0.05


def test_the_bound_covers_the_average_of_a_score_that_goes_up_and_down():
    """The player is strong, then weak, then strong: no game has the average score."""
    rng, games = np.random.default_rng(7), 500
    path = 0.5 + 0.4 * np.sin(np.arange(games) / 40)
    counts = cumulated(rng, 500, games, path)
    average = path.cumsum() / np.arange(1, games + 1)
    exceeded = (log_evidence(counts, average) >= math.log(1 / NOMINAL)).any(axis=1)
    assert exceeded.mean() <= NOMINAL


# --- a learning player ---------------------------------------------------------------------------------------


def declared_at(rng, path, games, runs, starts_at=kept_starts):
    """Return at which candidate each run is surely above .7, with this score and so many games for each candidate."""
    total, before = np.zeros((runs, 3)), {}
    when = np.full(runs, np.inf)
    for now, score in enumerate(path):
        before = {s: c for s, c in {**before, now: total}.items() if s in starts_at(now)}
        won = rng.binomial(games, score, runs)
        total = total + np.stack([won, np.zeros(runs), games - won], axis=-1)
        since = np.stack([total - counts for counts in before.values()], axis=1)
        when = np.where(np.isinf(when) & surely_above(since, 0.7, list(before)), now, when)
    return when


def test_a_player_that_improves_slowly_is_declared_after_it_passed_the_threshold_not_before(figure):
    path = np.linspace(0.5, 0.9, 60)  # .7 is passed at candidate 30
    rng = np.random.default_rng(8)
    when = declared_at(rng, path, 30, 200)
    assert (when < 30).mean() <= NOMINAL
    assert np.isfinite(when).mean() > 0.95
    since_freeze = declared_at(rng, path, 30, 200, lambda now: [0])
    assert np.isfinite(since_freeze).mean() < 0.05  # its first games would weigh it down
    figure(
        f"a player that goes from .5 to .9 in 60 candidates of 30 games: declared at candidate {np.median(when):.0f} "
        f"(score {path[int(np.median(when))]:.2f}), never before it passed .70 at 30"
    )


@pytest.mark.parametrize("path", [np.full(80, 0.7), 0.6 + 0.1 * np.sin(np.arange(80) / 5)])
def test_a_player_that_never_passes_the_threshold_is_seldom_declared(path):
    assert np.isfinite(declared_at(np.random.default_rng(9), path, 10, 400)).mean() <= NOMINAL


def test_many_targets_do_not_make_a_promotion_impossible_nor_easy(figure):
    """Each target at alpha: right for all (an intersection-union test), and no division by the number of targets."""
    rng, runs, games, targets = np.random.default_rng(10), 150, 400, 30
    strong = rng.binomial(games, 0.85, (runs, targets))
    strong[:, 0] = games  # one target is easy
    equal = strong.copy()
    equal[:, 1] = rng.binomial(games, 0.7, runs)  # one target is not beaten
    shares = []
    for won in (strong, equal):
        counts = np.stack([won, 0 * won, games - won], axis=-1)[:, :, None, :]
        shares.append(np.mean([surely_above(each, 0.7).all() for each in counts]))
    assert shares[1] <= NOMINAL
    assert shares[0] > 0.9
    figure(f"30 targets, 400 games each: all of a true .85 declared in {shares[0]:.0%}, one true .7 in {shares[1]:.1%}")


def test_surely_above_and_the_bound_agree():
    counts = np.random.default_rng(11).integers(0, 60, (40, 3, 3)) + np.array([60, 0, 0])
    starts = [0, 4, 6]
    bounds = average_at_least(counts, starts)
    assert ((bounds > 0.7) == surely_above(counts, 0.7, starts)).all()
    assert 0 < surely_above(counts, 0.7, starts).sum() < 40


def test_counts_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"shape \[targets, 2, 3\]"):
        surely_above(np.zeros((4, 1, 3)), 0.7, [0, 1])


def test_the_shares_of_all_starts_add_up_to_one():
    assert start_shares(range(9999)).sum() == pytest.approx(1 - 1e-4)


@settings(deadline=None)
@given(st.integers(0, 3000))
def test_starts_are_dropped_for_ever_and_few_are_kept(now):
    before, after = kept_starts(now), kept_starts(now + 1)
    assert set(after) - {now + 1} <= set(before)
    assert {0, now, max(0, now - 1)} <= set(before)
    assert len(before) <= 3 * math.log2(now + 1) + 4


# --- pairs ---------------------------------------------------------------------------------------------------


def pairs_of(first, second, draws=0.0):
    """Return the chances of the five scores of a pair, from the chance to win without draws in either seat."""
    seats = [np.array([p * (1 - draws), draws, (1 - p) * (1 - draws)]) for p in (first, second)]
    return np.convolve(*seats)


def test_the_variance_of_a_pair():
    chances = pairs_of(0.8, 0.3)
    pairs, mean, variance = moments(1e9 * chances)
    assert (float(pairs), float(mean)) == (pytest.approx(1e9), pytest.approx(0.55))
    assert float(variance) == pytest.approx(0.0925)
    assert moments([0, 0, 0, 0, 0])[2] == 0.125


def test_the_log_ratio_of_close_hypotheses():
    """Known answer: N (s1 - s0)(2 m - s0 - s1) / (2 v) where score0 and score1 are close and pairs are many."""
    test, counts = PairTest(0.5, 0.51), np.array([250, 300, 250, 120, 80]) * 100
    pairs, mean, variance = moments(counts)
    known = pairs * 0.01 * (2 * mean - 1.01) / (2 * (variance + (mean - 0.505) ** 2))
    assert float(test.log_ratio(counts)) == pytest.approx(float(known), rel=1e-3)
    assert test.stops == (pytest.approx(-2.944, abs=1e-3), pytest.approx(2.944, abs=1e-3))
    assert PairTest(0.5, 0.6, alpha=0.01, beta=0.1).stops == (math.log(0.1 / 0.99), math.log(0.9 / 0.01))


def ends(rng, test, chances, runs=700, most=450):
    """Return the shares of runs that end for score1 and for score0, looked at after every pair, and the mean length."""
    ratio = test.log_ratio(rng.multinomial(1, chances, size=(runs, most)).cumsum(axis=1))
    low, high = test.stops
    first = [np.where(hit.any(1), hit.argmax(1), most) for hit in (ratio >= high, ratio <= low)]
    return (first[0] < first[1]).mean(), (first[1] < first[0]).mean(), np.minimum(*first).mean()


LEAGUES = {
    "equal seats": (0.5, 0.6, lambda s: pairs_of(s, s)),
    "a favoured seat": (0.5, 0.6, lambda s: pairs_of(s + 0.3, s - 0.3)),
    "70 % draws": (0.5, 0.55, lambda s: pairs_of((s - 0.35) / 0.3, (s - 0.35) / 0.3, 0.7)),
    "high scores": (0.7, 0.8, lambda s: pairs_of(s, s)),
}


@pytest.mark.parametrize("name", LEAGUES)
def test_errors_stay_within_alpha_and_beta(name, figure):
    score0, score1, chances = LEAGUES[name]
    rng, test = np.random.default_rng(12), PairTest(score0, score1)
    wrong, _, pairs0 = ends(rng, test, chances(score0))
    _, missed, pairs1 = ends(rng, test, chances(score1))
    noise = 2 * (0.05 * 0.95 / 700) ** 0.5
    assert wrong <= 0.05 + noise
    assert missed <= 0.05 + noise
    assert pairs0 < 200
    figure(
        f"{name}: ends wrongly in {wrong:.1%} and {missed:.1%}, after {pairs0:.0f} and {pairs1:.0f} pairs on average"
    )


@pytest.mark.parametrize("arguments", [(0.6, 0.5), (0.5, 0.5), (0.0, 0.5), (0.5, 1.0), (math.nan, 0.6)])
def test_hypotheses_that_cannot_be_told_apart_are_refused(arguments):
    with pytest.raises(ValueError, match="score0 < score1"):
        PairTest(*arguments)


@pytest.mark.parametrize("error", [0.0, 0.5, math.nan])
def test_errors_that_are_none_are_refused(error):
    with pytest.raises(ValueError, match="alpha and beta"):
        PairTest(0.5, 0.6, alpha=error)


def test_the_values_are_those_of_games_and_pairs():
    assert OUTCOMES == (1.0, 0.5, 0.0)
    assert tuple(sorted({(a + b) / 2 for a in OUTCOMES for b in OUTCOMES}, reverse=True)) == PAIRS
