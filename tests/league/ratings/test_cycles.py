"""Cycles: their share without what chance adds, and who is in the one at the top."""

import numpy as np
import pytest
from simulated_league import SimulatedLeague, antisymmetric, spaced

from league.ratings.bradley_terry import fit_outcomes
from league.ratings.cycles import CyclicPart, decompose, surely_beats, top_cycle
from league.ratings.return_ratings import fit_returns

CIRCLE = 200.0 * np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])


def circle_above(weak, pairs=200, seed=0):
    """Return a league in which the first three beat each other in a circle, and some weak players lose to them."""
    residual = np.zeros((3 + weak, 3 + weak))
    residual[:3, :3] = CIRCLE
    strength = np.append(np.zeros(3), -300.0 - 60 * np.arange(weak))
    return SimulatedLeague(strength, residual=residual, pairs=pairs).play(np.random.default_rng(seed))


@pytest.mark.parametrize("fit", [fit_outcomes, fit_returns])
def test_a_pure_circle_is_all_cyclic(fit):
    found = fit(circle_above(0), {0: 0.0})
    assert decompose(found).strength > 0.97
    assert top_cycle(found).tolist() == [0, 1, 2]


def test_few_games_of_a_transitive_league_do_not_look_cyclic():
    rng, shares = np.random.default_rng(1), []
    for _ in range(60):
        shares.append(decompose(fit_outcomes(SimulatedLeague(spaced(8, rng), pairs=5).play(rng), {0: 0.0})).strength)
    assert np.median(shares) < 0.05
    assert decompose(fit_outcomes(SimulatedLeague(spaced(8, rng), pairs=5000).play(rng), {0: 0.0})).strength < 0.01


def test_the_share_is_that_of_the_squares_that_were_planted():
    rng, found = np.random.default_rng(2), []
    for _ in range(20):
        strength, own = rng.normal(0, 100, 12), antisymmetric(12, 80.0, rng)
        fit = fit_outcomes(SimulatedLeague(strength, residual=own, pairs=150).play(rng), {0: strength[0]})
        gaps = np.triu(strength[:, None] - strength[None, :], 1)
        found.append((decompose(fit).strength, (np.triu(own) ** 2).sum() / ((gaps + np.triu(own)) ** 2).sum()))
    seen, planted = np.mean(found, axis=0)
    assert seen == pytest.approx(planted, rel=0.25), "some of what was planted looks like ratings"


def test_the_top_is_one_player_where_nobody_beats_it():
    found = fit_outcomes(
        SimulatedLeague(np.array([0.0, 300.0, 150.0]), pairs=200).play(np.random.default_rng(3)), {0: 0.0}
    )
    assert top_cycle(found).tolist() == [1]
    beats = surely_beats(found)
    assert beats[1, 0]
    assert beats[1, 2]
    assert not beats[0, 1]


def test_a_circle_at_the_top_leaves_out_who_loses_to_it():
    found = fit_outcomes(circle_above(3), {3: -300.0})
    assert top_cycle(found).tolist() == [0, 1, 2]


def test_whoever_beats_the_best_by_rating_is_above_it():
    """The best by rating beats the weak more clearly, and loses to one that seldom plays them."""
    residual = np.zeros((4, 4))
    residual[1, 0], residual[0, 1] = 400.0, -400.0
    residual[1, 2:], residual[2:, 1] = -150.0, 150.0
    league = SimulatedLeague(np.array([200.0, 150.0, 0.0, -60.0]), residual=residual, pairs=400)
    found = fit_outcomes(league.play(np.random.default_rng(4)), {2: 0.0})
    assert found.ratings.rating[0] > found.ratings.rating[2]
    assert 1 in top_cycle(found)


def test_games_that_prove_nothing_are_no_edges():
    found = fit_outcomes(circle_above(0, pairs=2), {0: 0.0})
    assert not surely_beats(found).any()
    assert len(top_cycle(found)) == 1
    nobody = fit_outcomes(SimulatedLeague(np.zeros(2), pairs=0).play(np.random.default_rng(5)), {})
    assert len(top_cycle(nobody)) == 0
    assert decompose(nobody) == CyclicPart(potential=0.0, cyclic=0.0)
    assert decompose(nobody).strength == 0.0
