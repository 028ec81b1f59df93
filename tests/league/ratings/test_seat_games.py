"""The likelihood of outcomes: its gradient and curvature are its derivatives, priors included."""

import numpy as np
import pytest
from simulated_league import SimulatedLeague

from league.ratings.seat_games import Link, SeatGames

STRENGTH = np.array([0.0, 0.4, -0.3, 1.0])
SEAT = 0.2


@pytest.fixture(scope="module")
def games():
    counts = SimulatedLeague(np.arange(4) * 60.0, pairs=8, nu=0.6, seat=90.0).play(np.random.default_rng(0))
    return SeatGames(counts, prior=0.5, links=[Link(3, 1, 0.25)])


def derivative(function, at, width=1e-5):
    steps = width * np.eye(len(at))
    return np.array([(function(at + s) - function(at - s)) / (2 * width) for s in steps])


def test_the_gradient_is_that_of_the_likelihood(games):
    at = np.append(STRENGTH, SEAT)
    found = derivative(lambda x: games.likelihood(x[:-1], x[-1]), at)
    assert games.gradient(STRENGTH, SEAT) == pytest.approx(found, rel=1e-5, abs=1e-6)


def test_the_curvature_is_that_of_the_likelihood(games):
    at = np.append(STRENGTH, SEAT)
    found = -derivative(lambda x: games.gradient(x[:-1], x[-1]), at)
    assert games.curvature(STRENGTH, SEAT) == pytest.approx(found, rel=1e-4, abs=1e-5)


def test_a_prior_joins_whom_no_game_joins(games):
    first, second = games.edges()
    assert (first[-1], second[-1]) == (3, 1)
    assert len(first) == 6 + 1


def test_the_first_seat_helps_whoever_has_it(games):
    there, back = games.chances(STRENGTH, SEAT)
    assert (there > back).all()
    assert games.chances(STRENGTH, 0.0)[0] == pytest.approx(games.chances(STRENGTH, 0.0)[1])
