"""The payoff of evaluation: pairs are one sample each, and a new candidate leaves its games to its predecessor."""

import numpy as np
import pytest

from league.evaluation_payoff import EvaluationPayoff, RatedGame, predecessor
from league.payoff import PayoffConfig

SEATS = (0.8, 0.3)  # scores of the two seats: the first is favoured


def sampled(rng, pairs, shared=True):
    """Return pairs of games between equals; not shared: two games that know nothing of seats."""
    won = rng.random((pairs, 2)) < (SEATS if shared else np.mean(SEATS))
    return [[RatedGame(float(first), True), RatedGame(float(second), False)] for first, second in won]


def test_the_variance_of_pairs_is_that_of_their_seats():
    """Known answer: .0925 for the mean of a pair with seat scores .8 and .3, .124 for two games on their own."""
    rng, found = np.random.default_rng(1), []
    for shared in (True, False):
        table = EvaluationPayoff()
        table.record_turns("a", "b", sampled(rng, 20_000, shared))
        counts = table.game_counts(("a", "b"))
        mean = table.points(("a", "b"))[0, 1] / table.games("a", "b")
        found.append(counts.pair_squares[0, 1] / counts.pairs[0, 1] - mean**2)
    assert found == pytest.approx([0.0925, 0.12375], abs=0.003)


def test_intervals_follow_the_variance_of_pairs():
    rng, reach = np.random.default_rng(2), []
    for shared in (True, False):
        table = EvaluationPayoff()
        table.record_turns("a", "b", sampled(rng, 5_000, shared))
        low, high = table.interval("a", "b")
        reach.append((high - low) / 2)
    expected = [1.96 * np.sqrt(variance / 5_000) for variance in (0.0925, 0.12375)]
    assert reach == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("pairs", [5, 20, 100])
def test_intervals_by_pairs_cover_the_score(pairs):
    rng, covered, tries = np.random.default_rng(pairs), 0, 600
    for _ in range(tries):
        table = EvaluationPayoff()
        table.record_turns("a", "b", sampled(rng, pairs))
        low, high = table.interval("a", "b")
        covered += low <= 0.55 <= high
    assert covered / tries >= 0.93


def test_one_pair_proves_little_and_games_without_turns_have_the_wilson_interval():
    table = EvaluationPayoff()
    table.record_turns("a", "b", [[RatedGame(1.0, True), RatedGame(1.0, False)]])
    low, high = table.interval("a", "b")
    assert low < 0.5 < high == 1.0
    assert table.interval("a", "c") == (0.0, 1.0)
    table.record_games("c", "d", [(0, 1)] * 8 + [(1, 0)] * 2, 1.0)
    assert table.interval("c", "d") == pytest.approx((0.490, 0.943), abs=1e-3)
    assert table.win_share("c", "d")[0] == 0.8
    assert table.win_share("a", "d") is None


def test_by_return_pairs_cancel_the_luck_of_the_deal():
    """The same deal is worth 5 to the first seat, whoever sits there: a is better by 0.5 on average."""
    rng = np.random.default_rng(3)
    table = EvaluationPayoff()
    table.go_by_return(10.0)
    luck = rng.normal(0.0, 5.0, 400)
    noise = rng.normal(0.5, 1.0, (400, 2))
    turns = [
        [RatedGame(0.5, True, deal + one), RatedGame(0.5, False, -deal + two)]
        for deal, (one, two) in zip(luck, noise, strict=True)
    ]
    table.record_turns("a", "b", turns)
    mean, low, high = table.margin("a", "b")
    assert low < 0.5 < high
    assert high - low < 0.25, "two games on their own would give 0.7"
    assert table.margin("b", "a")[0] == -mean
    assert table.interval("a", "b")[0] > 0.5


def test_a_running_scale_is_the_size_of_a_typical_game():
    """Where every game is won or lost by 3, the score is the share of wins."""
    table = EvaluationPayoff(PayoffConfig(prior_games=1e-9))
    table.go_by_return(None)
    assert table.scale == 1.0
    table.record_turns("a", "b", [[RatedGame(1.0, True, 3.0)]] * 7 + [[RatedGame(0.0, True, -3.0)]] * 3)
    assert table.scale == pytest.approx(3.0)
    assert table.score("a", "b") == pytest.approx(0.7)
    configured = EvaluationPayoff(PayoffConfig(scale=6.0))
    configured.go_by_return(2.0)
    assert configured.scale == 6.0


def test_a_new_candidate_leaves_its_games_to_its_predecessor():
    table = EvaluationPayoff()
    table.record_turns("a", "b", [[RatedGame(1.0, True), RatedGame(0.5, False)]])
    table.record_turns("b", "c", [[RatedGame(1.0, True)]])
    table.record_return("a", "a", 4.0, 1.0)
    before = table.game_counts(("a", "b"))
    table.succeed("a")
    after = table.game_counts((predecessor("a"), "b"))
    for name in before.__slots__:
        assert (getattr(before, name) == getattr(after, name)).all()
    assert not table.game_counts(("a", "b")).pairs.any()
    assert table.return_games(predecessor("a"), predecessor("a")) == 1.0
    assert table.return_games("a", "a") == 0.0
    assert table.games("b", "c") == 1.0
    table.record_turns("a", "b", [[RatedGame(0.0, True)]])
    assert table.recent_share("a", "b") == 0.5, "1.5 points of two games before, none of one now"
    assert table.recent_share("a", "c") is None
    table.restart("a")
    assert table.games(predecessor("a"), "b") == 0.0
