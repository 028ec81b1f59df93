"""APPO against a slow loop written from its papers."""

import math

import numpy as np
import pytest
from paper_losses import ENTROPY, LANES, TICKS, Told, total, v_trace

from learners.algorithms.appo import APPO
from learners.algorithms.appo_config import APPOConfig


def test_the_loss_of_appo_clips_around_the_proximal_policy(stale, spec, policy, far):
    config = APPOConfig(gamma=0.9, clip=0.05, value_coef=0.7, normalise_advantages=False, rho_max=1.2)
    algorithm = APPO(config, policy, spec, far)
    lanes = [Told(algorithm, stale, lane) for lane in range(LANES)]
    traces = [v_trace(told, config, config.gae_lambda) for told in lanes]
    data = algorithm.prepare(stale)
    algorithm.policy.write(far + np.random.default_rng(1).normal(0, 0.1, far.shape).astype(np.float32))
    moved = [Told(algorithm, stale, lane) for lane in range(LANES)]
    terms, errors, clipped = [], [], 0
    for proximal, present, (targets, advantages) in zip(lanes, moved, traces, strict=True):
        for t in range(TICKS):
            ratio = math.exp(present.log_prob[t] - proximal.log_prob[t])
            kept = min(max(ratio, 1 - config.clip), 1 + config.clip)
            clipped += ratio != kept
            terms.append(min(ratio * advantages[t], kept * advantages[t]))
            errors.append((targets[t] - present.values[t]) ** 2)
    assert 0 < clipped < LANES * TICKS
    actions, values = algorithm.policy(data.seen, data.mask)
    loss, _ = algorithm.loss(actions, values, data, ENTROPY)
    assert float(loss.detach()) == pytest.approx(total(terms, errors, moved, config), abs=1e-5)
