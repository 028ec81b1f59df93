"""R-NaD: rewards that pull towards the reference, in units of the payoff, and self-play that settles."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_game import POLICY, RPS, SPEC, MatrixGame

from league.policies.layout import describe
from league.segment import CONTINUES
from learners.algorithms.rnad import RNAD, regularised_reward
from learners.algorithms.rnad_config import RNADConfig
from learners.returns import Trajectories

GAME = MatrixGame(RPS)
BIASED = MatrixGame(np.array([[0, -1, 2], [1, 0, -1], [-2, 1, 0]], np.float32))  # its equilibrium is 1/4, 1/2, 1/4


@settings(deadline=None, max_examples=30)
@given(eta=st.floats(0, 1), payoff=st.floats(0.5, 20), seed=st.integers(0, 99))
def test_returns_are_the_payoff_less_the_price_of_the_whole_way(eta, payoff, seed):
    rng = np.random.default_rng(seed)
    reward, log_ratio = (torch.from_numpy(rng.standard_normal((3, 4, 1))) for _ in range(2))
    present, end = torch.ones(3, 4, 1, dtype=torch.bool), torch.full((3, 4, 1), CONTINUES)
    found = regularised_reward(reward, log_ratio, payoff, eta)
    total = Trajectories(found, end, present, torch.zeros(3, 4, 1)).lambda_returns(torch.zeros_like(found), 1.0, 1.0)
    expected = reward.sum(dim=1) / payoff - eta * log_ratio.sum(dim=1)
    torch.testing.assert_close(total[:, 0], expected)


def test_where_policy_and_reference_agree_rewards_only_change_their_scale():
    algorithm, flat = RNAD(RNADConfig(eta=0.3), POLICY, SPEC, GAME.start()), GAME.start()
    batch = MatrixGame(4 * RPS).play(flat, np.random.default_rng(0))
    data = algorithm.prepare(batch.segments)
    torch.testing.assert_close(data.target, torch.from_numpy(batch.segments.reward).flatten() / 4, atol=1e-5, rtol=0)


def test_far_from_the_reference_the_expected_price_is_eta_times_the_divergence():
    flat = GAME.start()
    algorithm = RNAD(RNADConfig(eta=0.3, magnet="uniform", payoff=1.0), POLICY, SPEC, flat)
    still = MatrixGame(0 * RPS).play(flat, np.random.default_rng(0), games=20_000)
    price = -float(algorithm.prepare(still.segments).target.mean())
    p = GAME.chances(flat)
    assert price == pytest.approx(0.3 * float((p * np.log(3 * p)).sum()), rel=0.05)


def test_the_largest_reward_so_far_is_the_payoff_also_after_a_restart():
    flat, rng = GAME.start(), np.random.default_rng(0)
    algorithm = RNAD(RNADConfig(), POLICY, SPEC, flat)
    for scale in (5, 2):
        algorithm.update(MatrixGame(scale * RPS).play(algorithm.flat(), rng), rng)
    other = RNAD(RNADConfig(), POLICY, SPEC, flat)
    other.restore(algorithm.state())
    for one in (algorithm, other):
        assert float(one.regularised(torch.ones(1, 1, 1), torch.zeros(1, 1, 1))) == pytest.approx(1 / 5)
    assert float(RNAD(RNADConfig(), POLICY, SPEC, flat).regularised(torch.zeros(1, 1, 1), torch.zeros(1, 1, 1))) == 0


@pytest.mark.slow
def test_self_play_settles_at_an_equilibrium_that_is_not_uniform():
    config = RNADConfig(batch=1024, minibatch=256, lr=5e-3, lr_schedule="linear", eta=0.2, magnet_every=25)
    algorithm = RNAD(config, POLICY, SPEC, BIASED.start())
    found = list(BIASED.train(algorithm, 100))
    assert found[0] > 1
    assert np.mean(found[-10:]) < 0.25
    np.testing.assert_allclose(BIASED.chances(algorithm.flat()), [0.25, 0.5, 0.25], atol=0.1)


def test_the_state_holds_the_reference():
    flat = GAME.start()
    state = RNAD(RNADConfig(), POLICY, SPEC, flat).state()
    assert state["magnet_flat"].shape == (describe(POLICY, SPEC).size,)
