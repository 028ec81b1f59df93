"""Game counts: what every view of ratings reads is consistent in both orders, and refuses what no games give."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_league import SimulatedLeague

from league.evaluation_payoff import EvaluationPayoff, RatedGame
from league.game_counts import GameCounts

NAMES = ("a", "b", "c")
TURNS = st.lists(
    st.tuples(
        st.permutations(NAMES),
        st.lists(
            st.builds(RatedGame, st.sampled_from([0.0, 0.5, 1.0]), st.booleans(), st.floats(-9, 9)),
            min_size=1,
            max_size=4,
        ),
    ),
    max_size=20,
)


def test_points_and_games_are_those_of_both_seats():
    league = SimulatedLeague(np.array([0.0, 100.0, 250.0]), pairs=30, nu=0.5, seat=80.0)
    counts = league.play(np.random.default_rng(0))
    assert (counts.games == counts.games.T).all()
    assert counts.points + counts.points.T == pytest.approx(counts.games)
    assert counts.games == pytest.approx(2 * counts.pairs)
    assert counts.margins == pytest.approx(counts.points - counts.points.T), "a win returns 1, a loss -1"
    both = counts.pairs - 2 * counts.points / 2 + counts.pair_squares  # sum of (1 - mean)^2
    assert pytest.approx(both) == counts.pair_squares.T


def test_games_without_seats_are_split_between_them():
    counts = GameCounts.unpaired([[0, 6], [2, 0]], [[0, 4], [4, 0]])
    assert counts.points[0, 1] == 8
    assert counts.games[0, 1] == counts.pairs[0, 1] == 12
    assert counts.first_games[0, 1] == counts.first_games[1, 0] == 6
    assert counts.pair_squares[0, 1] == 7
    assert counts.margins[0, 1] == -counts.margins[1, 0] == 4


def test_a_selection_has_the_games_among_those_selected():
    counts = SimulatedLeague(np.arange(4) * 50.0, pairs=5).play(np.random.default_rng(1))
    some = counts.select(np.array([3, 1]))
    assert len(some) == 2
    for field in fields(GameCounts):
        assert getattr(some, field.name)[0, 1] == getattr(counts, field.name)[3, 1]


def test_what_no_games_give_is_refused():
    square, flat = np.zeros((2, 2)), np.zeros((2, 3))
    names = [field.name for field in fields(GameCounts)]
    for name in names:
        with pytest.raises(ValueError, match=f"{name}.*square" if name != "wins" else "square"):
            GameCounts(**(dict.fromkeys(names, square) | {name: flat}))
        with pytest.raises(ValueError, match=f"{name}.*nan"):
            GameCounts(**(dict.fromkeys(names, square) | {name: np.full((2, 2), np.nan)}))
    with pytest.raises(ValueError, match="not negative"):
        GameCounts(**(dict.fromkeys(names, square) | {"wins": square - 1}))
    with pytest.raises(ValueError, match="square"):
        GameCounts.unpaired(flat, flat)


@given(TURNS)
def test_both_views_of_a_pair_agree(turns):
    table = EvaluationPayoff()
    table.go_by_return(9.0)
    for (a, b, _), games in turns:
        table.record_turns(a, b, [games])
    counts = table.game_counts(NAMES)
    games = counts.wins + counts.draws + counts.losses
    assert (counts.pairs == counts.pairs.T).all()
    assert (counts.pairs <= games + games.T).all()
    assert (counts.margin_squares == counts.margin_squares.T).all()
    np.testing.assert_allclose(counts.margins, -counts.margins.T)
    points = counts.wins + counts.draws / 2 + (counts.losses + counts.draws / 2).T
    np.testing.assert_allclose(points, table.points(NAMES))
    np.testing.assert_allclose(points + points.T, games + games.T)
    assert (counts.pair_squares <= counts.pairs).all()
