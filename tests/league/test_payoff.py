"""Payoff: counts in both orders, decay, prior, intervals, and a way to a file and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.ids import PlayerId
from league.payoff import Payoff, PayoffConfig, meetings, record_ranks

A, B, C = PlayerId("a"), PlayerId("b"), PlayerId("c")
PLAYERS = [PlayerId(f"p{i}") for i in range(5)]

games = st.lists(
    st.tuples(st.sampled_from(PLAYERS), st.sampled_from(PLAYERS), st.sampled_from([0.0, 0.5, 1.0])).filter(
        lambda game: game[0] != game[1]
    ),
    max_size=60,
)


def played(results, config=None):
    payoff = Payoff(config)
    for a, b, outcome in results:
        payoff.record(a, b, outcome)
    return payoff


def test_a_win_counts_in_both_orders():
    payoff = played([(A, B, 1.0)])
    assert payoff.raw(A, B) == (1, 0, 0)
    assert payoff.raw(B, A) == (0, 0, 1)
    assert payoff.score(A, B) > 0.5 > payoff.score(B, A)


def test_a_draw_is_half_a_point_and_no_loss():
    payoff = played([(A, B, 0.5)] * 10, PayoffConfig(decay=1.0))
    assert payoff.raw(A, B) == payoff.raw(B, A) == (0, 10, 0)
    assert payoff.score(A, B) == 0.5
    assert payoff.games(A, B) == 10
    assert payoff.points([A, B])[0, 1] == 5


def test_decay_remembers_about_a_hundred_games():
    payoff = played([(A, B, 1.0)] * 3000)
    assert payoff.games(A, B) == pytest.approx(100, rel=1e-6)
    assert payoff.raw(A, B) == (3000, 0, 0)


def test_decay_has_a_half_life_of_69_games():
    payoff = played([(A, B, 1.0)] * 2000 + [(A, B, 0.0)] * 69, PayoffConfig(prior_games=1e-9))
    assert payoff.score(A, B) == pytest.approx(0.5, abs=0.001)


def test_a_call_can_bring_its_own_decay():
    payoff = Payoff(PayoffConfig(decay=0.5))
    for _ in range(10):
        payoff.record(A, B, 1.0, decay=1.0)
    assert payoff.games(A, B) == 10


def test_few_games_move_the_score_little():
    config = PayoffConfig(prior_games=4.0, decay=1.0)
    assert played([], config).score(A, B) == 0.5
    assert played([(A, B, 1.0)], config).score(A, B) == pytest.approx(3 / 5)
    assert played([(A, B, 1.0)] * 96, config).score(A, B) == pytest.approx(0.98)


@settings(deadline=None, max_examples=60)
@given(games)
def test_scores_of_a_pair_sum_to_one_and_never_reach_the_ends(results):
    payoff = played(results)
    for a in PLAYERS:
        row = payoff.scores(a, PLAYERS)
        assert ((row > 0) & (row < 1)).all()
        for b, score in zip(PLAYERS, row, strict=True):
            assert payoff.score(a, b) == pytest.approx(score, abs=1e-12)
            assert score + payoff.score(b, a) == pytest.approx(1.0, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(games)
def test_raw_totals_equal_a_plain_count(results):
    payoff = played(results)
    for a in PLAYERS:
        for b in PLAYERS:
            seen = [o for x, y, o in results if (x, y) == (a, b)]
            seen += [1 - o for x, y, o in results if (x, y) == (b, a)]
            assert payoff.raw(a, b) == (seen.count(1.0), seen.count(0.5), seen.count(0.0))


@settings(deadline=None, max_examples=60)
@given(games)
def test_without_decay_the_counts_are_the_raw_totals(results):
    payoff = played(results, PayoffConfig(decay=1.0))
    for a in PLAYERS:
        for b in PLAYERS:
            assert payoff.games(a, b) == sum(payoff.raw(a, b))
            low, high = payoff.interval(a, b)
            assert 0 <= low <= high <= 1
            assert payoff.lower(a, b) == low == payoff.lowers(a, [b])[0]


def test_virtual_games_are_no_evidence():
    payoff = Payoff()
    assert payoff.interval(A, B) == (0.0, 1.0)
    payoff.record(A, B, 1.0)
    payoff.inherit(C, A)
    assert payoff.score(C, B) > 0.5
    assert payoff.interval(C, B) == (0.0, 1.0)
    assert payoff.games(C, B) == 0


def test_a_child_begins_with_the_scores_of_its_parent():
    payoff = played([(A, B, 1.0)] * 50)
    payoff.inherit(C, A)
    assert payoff.score(C, B) == pytest.approx(payoff.score(A, B))
    assert payoff.score(B, C) == pytest.approx(payoff.score(B, A))
    assert payoff.score(C, A) == payoff.score(A, C) == payoff.score(C, C) == 0.5
    assert payoff.raw(C, B) == (0, 0, 0)


def test_a_childs_own_games_outweigh_what_it_inherited():
    payoff = played([(A, B, 1.0)] * 50)
    payoff.inherit(C, A)
    for _ in range(60):
        payoff.record(C, B, 0.0)
    assert payoff.score(C, B) < 0.1
    assert payoff.score(A, B) > 0.9


def test_parent_and_child_begin_as_equals_though_they_have_met():
    payoff = played([(A, C, 1.0)] * 50 + [(A, B, 1.0)])
    payoff.inherit(C, A)
    payoff.scale_row(C, 0.0)
    assert payoff.score(C, A) == payoff.score(A, C) == payoff.score(C, C) == 0.5


def test_the_childs_prior_does_not_follow_its_parent_any_more():
    payoff = played([(A, B, 1.0)] * 50)
    payoff.inherit(C, A)
    before = payoff.score(C, B)
    for _ in range(50):
        payoff.record(A, B, 0.0)
    assert payoff.score(C, B) == before


def test_an_old_cell_is_estimated_anew_once_its_player_has_changed():
    payoff = played([(A, B, 1.0)] * 100 + [(C, B, 1.0)] * 100)
    sure = payoff.score(A, B)
    for _ in range(20):
        payoff.scale_row(A, 0.8)
    assert payoff.score(A, B) < 0.7 < 0.9 < sure
    assert payoff.lower(A, B) < 0.5
    assert payoff.raw(A, B) == (100, 0, 0)
    assert payoff.score(C, B) == sure  # others keep theirs


def test_scaling_leaves_both_views_of_a_pair_in_step():
    payoff = played([(A, B, 1.0), (A, B, 0.0), (A, B, 0.5), (B, C, 1.0)], PayoffConfig(decay=1.0))
    payoff.scale_row(A, 0.5)
    assert payoff.games(A, B) == payoff.games(B, A) == 1.5
    assert payoff.score(A, B) == payoff.score(B, A) == 0.5
    assert payoff.games(B, C) == 1.0


def test_scaling_to_nothing_forgets_everything_but_the_totals():
    payoff = played([(A, B, 1.0), (A, C, 0.5)])
    payoff.scale_row(A, 0.0)
    assert payoff.games(A, B) == payoff.games(B, A) == payoff.games(A, C) == 0
    assert payoff.score(A, B) == 0.5
    with pytest.raises(ValueError, match="0 to 1"):
        payoff.scale_row(A, 1.5)


def test_reading_adds_nobody():
    payoff = played([(A, B, 1.0)])
    before = payoff.to_arrays()[0]
    stranger = PlayerId("stranger")
    assert payoff.score(stranger, A) == payoff.score(A, stranger) == 0.5
    assert payoff.scores(stranger, [A, stranger]).tolist() == [0.5, 0.5]
    assert payoff.games(A, stranger) == 0
    assert payoff.raw(A, stranger) == (0, 0, 0)
    assert payoff.interval(A, stranger) == (0.0, 1.0)
    assert payoff.to_arrays()[0] == before == [A, B]


def test_cross_play_holds_mean_returns():
    payoff = Payoff(PayoffConfig(decay=1.0))
    for value in (1.0, 2.0, 6.0):
        payoff.record_return(A, B, value)
    payoff.record_return(A, A, 7.0)
    table = payoff.mean_returns([A, B])
    assert table[0].tolist() == [7.0, 3.0]
    assert np.isnan(table[1]).all()
    payoff.scale_row(A, 0.5)
    assert payoff.mean_returns([A, B])[0].tolist() == [7.0, 3.0]  # fewer games, the same mean
    assert payoff.matrix["return_games"][payoff.index(A), payoff.index(A)] == 0.5
    with pytest.raises(ValueError, match="finite"):
        payoff.record_return(A, B, float("nan"))


@settings(deadline=None, max_examples=60)
@given(games, games)
def test_arrays_there_and_back_are_the_same_table(before, after):
    payoff = played(before)
    payoff.inherit(A, PLAYERS[0])
    payoff.record_return(A, B, 0.1)
    players, arrays = payoff.to_arrays()
    restored = Payoff.from_arrays(players, arrays, payoff.config)
    assert restored == payoff
    for table in (restored, payoff):
        for a, b, outcome in after:
            table.record(a, b, outcome)
    assert restored == payoff  # and it goes on in the same way


def test_ranks_give_one_game_for_each_pair():
    payoff = Payoff()
    record_ranks(payoff, [A, B, C], [[2, 0, 0]])
    assert payoff.raw(A, B) == payoff.raw(A, C) == (0, 0, 1)
    assert payoff.raw(B, C) == (0, 1, 0)


def test_ranks_skip_a_player_against_itself():
    payoff = Payoff()
    record_ranks(payoff, [A, A, B], [[0, 2, 1]], decay=1.0)
    assert payoff.raw(A, B) == (1, 0, 1)
    assert payoff.raw(A, A) == (0, 0, 0)


def test_bad_results_are_refused_and_leave_no_count():
    payoff = Payoff()
    with pytest.raises(ValueError, match="against itself"):
        payoff.record(A, A, 1.0)
    with pytest.raises(ValueError, match=r"1, 0\.5 or 0"):
        payoff.record(A, B, 0.7)
    with pytest.raises(ValueError, match="one rank for each entry"):
        record_ranks(payoff, [A, B], [[0]])
    assert payoff.games(A, B) == 0


@pytest.mark.parametrize("wrong", [{"decay": 0.0}, {"decay": 1.1}, {"prior_games": 0.0}, {"prior_games": -1.0}])
def test_a_senseless_config_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PayoffConfig(**wrong)


# --- teams -------------------------------------------------------------------------------------------------


def test_a_team_of_one_player_plays_one_game():
    assert meetings([A, A, B, B], [0, 0, 1, 1]) == [(0, 2)]
    assert meetings([A, B, B, C], [0, 0, 1, 1]) == [(0, 2), (0, 3), (1, 3)], "B is not its own opponent"
    assert meetings([A, B], [0, 0]) == []


def test_four_for_themselves_play_six_games():
    assert meetings([A, B, C, "d"], range(4)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_the_interval_of_a_mean_return_is_that_of_students_without_the_tails():
    payoff = Payoff()
    for value in (1.0, 2.0, 3.0, 4.0):
        payoff.record_return(A, B, value, 1.0)
    mean, low, high = payoff.return_interval(A, B)
    reach = 1.959964 * np.std([1, 2, 3, 4], ddof=1) / 2  # the standard error of four numbers
    assert (mean, low, high) == pytest.approx((2.5, 2.5 - reach, 2.5 + reach), rel=1e-5)
    assert payoff.return_interval(B, A) == (0.0, -np.inf, np.inf)
    assert payoff.returns_with(A, [B, C]).tolist() == pytest.approx([2.5, np.nan], nan_ok=True)


# --- by return -----------------------------------------------------------------------------------------------


def by_return(*margins, config=None, largest=2.0):
    """Return a table of games of A against B that were won or lost by these margins."""
    payoff = Payoff(config)
    payoff.go_by_return(largest)
    payoff.record_games(A, B, [(0, 1) if margin > 0 else (1, 0) if margin < 0 else (0, 0) for margin in margins])
    payoff.record_margins(A, B, margins)
    return payoff


EXACT = PayoffConfig(decay=1.0, prior_games=1e-9)


def test_by_return_a_score_is_the_mean_margin_on_the_scale():
    payoff = by_return(1.0, 1.0, -0.5, 0.5, config=EXACT)
    assert payoff.score(A, B) == pytest.approx(0.5 + 0.5 / (2 * 2.0))
    assert payoff.scores(B, [A]).tolist() == pytest.approx([1 - payoff.score(A, B)])
    assert payoff.margin(A, B)[0] == -payoff.margin(B, A)[0] == 0.5
    assert payoff.raw(A, B) == (3, 0, 1)
    assert payoff.margin(A, C) is None
    assert payoff.lowers(A, [B, C])[1] == pytest.approx(0.0)


def test_where_every_game_is_won_or_lost_by_the_scale_the_score_is_the_share_of_wins():
    by_margin, by_wins = by_return(*[2.0] * 7 + [-2.0] * 3), Payoff()
    by_wins.record_games(A, B, [(0, 1)] * 7 + [(1, 0)] * 3)
    assert by_margin.score(A, B) == pytest.approx(by_wins.score(A, B))
    assert by_margin.lower(A, B) <= by_wins.lower(A, B) == pytest.approx(by_margin.lower(A, B), abs=0.02)


def test_margins_fade_as_games_do():
    config = PayoffConfig(decay=0.9, prior_games=1e-9)
    payoff = by_return(*[2.0] * 100, *[-2.0] * 100, config=config)
    assert payoff.score(A, B) == pytest.approx(0.0, abs=1e-4)
    payoff.scale_row(A, 0.0)
    assert payoff.score(A, B) == 0.5
    assert payoff.interval(A, B) == pytest.approx((0.0, 1.0))


@given(st.lists(st.floats(-2.0, 2.0), min_size=1, max_size=60))
def test_scores_by_return_and_their_bounds_are_scores(margins):
    payoff = by_return(*margins)
    low, high = payoff.interval(A, B)
    assert 0.0 <= low <= high <= 1.0
    assert 0.0 < payoff.score(A, B) < 1.0
    assert payoff.score(A, B) + payoff.score(B, A) == pytest.approx(1.0)
    lows, highs = payoff.intervals([A, B])
    assert (lows[0, 1], highs[0, 1]) == (low, high)


def test_a_score_is_surely_above_a_half_only_when_the_margin_is():
    """Many small wins and a few large losses: more than half of the games, and not surely ahead."""
    assert by_return(*([0.2, 0.2, 0.2, -0.6] * 30), config=EXACT).lower(A, B) < 0.5
    assert by_return(*([0.6, 0.6, -0.2] * 40), config=EXACT).lower(A, B) > 0.5


@pytest.mark.parametrize("wrong", [{"by": "chips"}, {"scale": 0.0}, {"scale": float("inf")}])
def test_a_payoff_that_means_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match=f"payoff.{next(iter(wrong))}"):
        PayoffConfig(**wrong)
