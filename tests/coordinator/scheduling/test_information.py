"""What a ticket would tell: contenders, and opponents that are worth their games."""

from hypothesis import given
from hypothesis import strategies as st

from coordinator.scheduling.information import BEST, contenders, online_rating, telling


def ratings(elo, games, anchored=()):
    pairs = zip(elo, games, strict=True)
    return [online_rating(float(rating), count, place in anchored) for place, (rating, count) in enumerate(pairs)]


def test_the_uncertainty_falls_with_games_and_anchors_have_none():
    """Known answer: after 399 games and a virtual one with an information of .2 each, 1 / 80."""
    assert [r.variance for r in ratings([0, 0, 0], [0, 399, 0], anchored=[2])] == [5.0, 1 / 80, 0.0]


def test_a_player_with_few_games_is_a_contender_and_one_that_is_surely_weak_is_none():
    elo, games = [900, 880, 860, 840, 820, 500, 500, 0], [400, 400, 400, 400, 400, 400, 2, 0]
    assert contenders(ratings(elo, games, anchored=[7])) == [True] * 5 + [False, True, False]


def test_anchors_alone_are_all_there_is():
    assert contenders(ratings([0, 500], [10, 10], anchored=[0, 1])) == [True, True]


def test_equals_and_anchors_tell_more_than_hopeless_or_uncertain_opponents():
    first, *others = ratings([800, 800, 800, 100, 820], [400, 400, 0, 400, 400], anchored=[4])
    assert telling(first, others, 16) == [True, False, False, True]
    assert telling(first, others[2:3], 16) == [True]  # somebody always does


def test_an_opponent_takes_turns_with_the_best_as_long_as_it_tells_half_as_much():
    """Known answer: p (1 - p) is .1256 at a distance of 305 Elo, .1246 at 307, and .25 between equals."""
    first, level, far, further = ratings([0, 0, 305, 307], [10**6] * 4)
    assert telling(first, [level, far], 1) == [True, True]
    assert telling(first, [level, further], 1) == [True, False]


@given(st.lists(st.tuples(st.floats(-1e5, 1e5), st.integers(0, 10**6), st.booleans()), min_size=2, max_size=40))
def test_there_is_always_a_contender_and_an_opponent(players):
    known = [online_rating(*player) for player in players]
    free = sum(not rating.anchored for rating in known)
    assert sum(contenders(known)) >= min(BEST, free or len(players))
    assert any(telling(known[0], known[1:], 16))
