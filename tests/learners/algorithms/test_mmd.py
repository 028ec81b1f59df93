"""Magnetic mirror descent: its loss, one decision at a time, and self-play that settles where PPO's does not."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from matrix_game import POLICY, RPS, SPEC, MatrixGame

from learners.algorithms.mmd import MMD, mmd_loss
from learners.algorithms.mmd_config import MMDConfig
from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig

GAME = MatrixGame(RPS)


def test_the_loss_is_that_of_mirror_descent():
    config = MMDConfig(step_size=0.5, value_coef=0.7)
    algorithm = MMD(config, POLICY, SPEC, GAME.start())
    data = algorithm.prepare(GAME.play(GAME.start(), np.random.default_rng(0), games=20).segments)
    data = replace(data, old_log_prob=data.old_log_prob + 0.3 * torch.randn(len(data)))
    with torch.no_grad():
        actions, value = algorithm.policy(data.seen, data.mask)
        loss, _ = mmd_loss(actions, value, data, config, entropy_coef=0.2)
    total = 0.0
    for b in range(len(data)):
        log_ratio = float(actions.log_prob(data.action)[b] - data.old_log_prob[b])
        ratio, row = math.exp(log_ratio), actions.log_probs[b].tolist()
        total -= ratio * float(data.advantage[b])
        total += (ratio * log_ratio - ratio + 1) / 0.5
        total += 0.7 * 0.5 * float(value[b] - data.target[b]) ** 2
        total += 0.2 * sum(math.exp(p) * p for p in row)
    assert float(loss) == pytest.approx(total / len(data), abs=1e-5)


def test_the_estimate_of_the_divergence_has_its_mean():
    """E_last[r log r - r + 1] = KL(policy || last)."""
    last, present = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.1, 0.3])
    ratio = present / last
    estimate = (last * (ratio * np.log(ratio) - ratio + 1)).sum()
    assert estimate == pytest.approx((present * np.log(present / last)).sum())


@pytest.mark.slow
def test_self_play_settles_where_that_of_ppo_goes_round_in_circles():
    common = {"batch": 1024, "minibatch": 256, "lr": 5e-3, "lr_schedule": "linear", "lr_final": 0.1}
    config = MMDConfig(**common, magnet_coef=0.5, step_size=0.3)
    settled = list(GAME.train(MMD(config, POLICY, SPEC, GAME.start()), 40))
    circling = list(GAME.train(PPO(PPOConfig(**common), POLICY, SPEC, GAME.start()), 40))
    assert settled[0] > 0.9
    assert np.mean(settled[-10:]) < 0.1
    assert np.mean(circling[-20:]) > 0.5
