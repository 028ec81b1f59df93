"""Rules that end a duel: what they decide, and whether their intervals hold where they stop."""

import numpy as np
import pytest

from launch.matches.stopping import UntilSure, UntilWidth, anytime, elo_of, half_width, pair_scores, score_of
from league.errors import InputError
from league.sequential import PairTest
from league.ticket import Episode


def pairs(rng, score, count, seat=0.0):
    """Return the scores of pairs of games without draws, with a favoured seat."""
    return (rng.random((count, 2)) < score + np.array([seat, -seat])).mean(axis=1)


def played(rng, rule, score, batch=32, most=2000, seat=0.0):
    """Return the stop of a contest, and how many pairs it took."""
    scores = pairs(rng, score, batch, seat)
    while (stop := rule.stop(scores)) is None and len(scores) < most:
        scores = np.concatenate([scores, pairs(rng, score, batch, seat)])
    return stop or rule.report(scores), len(scores)


def test_a_strong_player_is_sure_soon_and_the_interval_at_the_stop_holds(figure):
    rng, rule = np.random.default_rng(1), UntilSure(PairTest(0.5, score_of(20.0)))
    found = [played(rng, rule, 0.7) for _ in range(100)]
    assert {stop.decision for stop, _ in found} == {1}
    assert np.mean([stop.low <= 0.7 <= stop.high for stop, _ in found]) >= 0.95
    assert np.median([count for _, count in found]) <= 128
    figure(f"a true .70 is surely stronger after {np.median([count for _, count in found]):.0f} pairs (median)")


def test_equals_are_not_found_to_differ_and_the_interval_holds():
    rng, rule = np.random.default_rng(2), UntilSure(PairTest(0.5, 0.6))
    found = [played(rng, rule, 0.5)[0] for _ in range(200)]
    assert np.mean([stop.decision == 1 for stop in found]) <= 0.05 + 0.03
    assert np.mean([stop.low <= 0.5 <= stop.high for stop in found]) >= 0.95


def test_what_is_not_sure_at_the_end_has_an_interval_and_no_decision():
    stop = UntilSure(PairTest(0.5, 0.51)).report(np.array([0.5, 1.0, 0.0]))
    assert stop.decision == 0
    assert stop.low < 0.5 < stop.high


@pytest.mark.parametrize(("score", "width"), [(0.5, 0.04), (0.8, 0.04), (0.95, 0.02)])
def test_stopping_by_the_width_keeps_the_coverage(score, width, figure):
    rng, rule = np.random.default_rng(3), UntilWidth(width)
    found = [played(rng, rule, score)[0] for _ in range(300)]
    covered = np.mean([stop.low <= score <= stop.high for stop in found])
    assert all(stop.high - stop.low <= 2 * width for stop in found)
    assert 0.92 <= covered <= 0.99
    figure(f"a score of {score}, stopped at ±{width}: the 95 % interval covers it in {covered:.1%}")


def test_pairs_make_the_interval_narrower_where_a_seat_is_favoured():
    rng = np.random.default_rng(4)
    assert half_width(pairs(rng, 0.5, 4000, seat=0.3)) < 0.85 * half_width(pairs(rng, 0.5, 4000))


def test_rules_say_how_far_they_are_and_what_they_found():
    scores = np.array([1.0, 1.0, 0.5, 1.0] * 30)
    sure, width = UntilSure(PairTest(0.5, 0.55, alpha=0.01)), UntilWidth(0.05)
    assert sure.how_far(scores).startswith("log-likelihood ratio +")
    assert sure.verdict(sure.stop(scores), "a", "b") == "sure: a scores more than 50.0% against b (alpha 1.0%)"
    assert sure.verdict(sure.stop(1 - scores), "a", "b") == "sure: a scores less than 55.0% against b (beta 5.0%)"
    assert "--games" in sure.verdict(sure.report(scores), "a", "b")
    assert width.how_far(scores).endswith("of ±5.00%")
    assert width.verdict(width.stop(scores), "a", "b").startswith("the interval of 95% reaches ±4.")
    assert width.stop(scores[:20]) is None


@pytest.mark.parametrize("width", [0.0, 0.5, -1.0, float("nan")])
def test_a_width_that_is_none_is_refused(width):
    with pytest.raises(InputError, match="half-width"):
        UntilWidth(width)


def test_the_score_of_a_pair_is_the_mean_of_its_games_in_all_seats():
    outcomes = [Episode(ranks, (0.0, 0.0), 1) for ranks in ((0, 1), (0, 1), (0, 0), (1, 0), (0, 1), (1, 0))]
    assert pair_scores(outcomes, {0}, [0, 1], turns=2).tolist() == [1.0, 0.25, 0.5]
    assert pair_scores(outcomes, {1}, [0, 1], turns=2).tolist() == [0.0, 0.75, 0.5]
    three = [Episode(ranks, (0.0,) * 3, 1) for ranks in ((0, 1, 2), (1, 0, 2), (2, 0, 1))]
    assert pair_scores(three, {0}, [0, 1, 2], turns=3).tolist() == [0.5]


def test_elo_and_score_are_inverse():
    assert [elo_of(score_of(elo)) for elo in (-300.0, 0.0, 558.0)] == pytest.approx([-300.0, 0.0, 558.0])
    assert (score_of(1e9), elo_of(0.0)) == (pytest.approx(1.0), -np.inf)


def test_the_interval_for_every_look_is_the_wider_one():
    scores = pairs(np.random.default_rng(5), 0.6, 500)
    low, high = anytime(scores)
    assert low < scores.mean() - half_width(scores)
    assert high > scores.mean() + half_width(scores)
