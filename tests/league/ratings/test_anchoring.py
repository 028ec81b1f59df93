"""Anchors: the first one is the origin, and games can refute the others."""

import numpy as np
import pytest
from simulated_league import SimulatedLeague

from league.ratings.anchoring import fit_anchored

STRENGTH = np.array([0.0, 300.0, 100.0, 200.0])


def played(seed=0, pairs=300):
    return SimulatedLeague(STRENGTH, pairs=pairs).play(np.random.default_rng(seed))


def test_pins_that_the_games_agree_with_stay():
    found = fit_anchored(played(), {0: 0.0, 1: 300.0})
    assert found.refuted == ()
    assert found.fit.ratings.rating[1] == found.fit.ratings.low[1] == 300.0


def test_a_wrong_pin_is_named_and_bends_nothing():
    found = fit_anchored(played(), {0: 0.0, 1: 450.0})
    (refuted,) = found.refuted
    assert (refuted.player, refuted.pinned) == (1, 450.0)
    assert refuted.low < 300 < refuted.high
    assert found.fit.ratings.rating == pytest.approx(STRENGTH, abs=40)
    assert dict(found.fit.anchors) == {0: 0.0}


def test_the_first_anchor_is_the_origin_whatever_the_others_say():
    found = fit_anchored(played(), {0: 150.0, 1: 300.0, 2: 100.0})
    assert {refuted.player for refuted in found.refuted} == {1, 2}
    assert found.fit.ratings.rating[0] == 150.0
    assert found.fit.ratings.rating - 150 == pytest.approx(STRENGTH, abs=40)


def test_an_anchor_that_no_game_joins_to_the_first_keeps_its_pin():
    pairs = np.zeros((4, 4), dtype=int)
    pairs[0, 2] = pairs[2, 0] = pairs[1, 3] = pairs[3, 1] = 300
    found = fit_anchored(played(pairs=pairs), {0: 0.0, 1: 999.0})
    assert found.refuted == ()
    assert found.fit.ratings.rating[3] == pytest.approx(899, abs=60)


def test_games_that_no_ratings_fit_refute_no_pin():
    """Two lineages beat one anchor far more, and the other far less, than any ratings say: that is style."""
    style = np.zeros((6, 6))
    style[2:, 0], style[2:, 1] = 150.0, -150.0
    strength = np.array([0.0, 300.0, 150.0, 200.0, 250.0, 300.0])
    counts = SimulatedLeague(strength, residual=style - style.T, pairs=300).play(np.random.default_rng(0))
    found = fit_anchored(counts, {0: 0.0, 1: 300.0})
    assert found.fit.dispersion.surprise > 3
    assert found.refuted == ()
