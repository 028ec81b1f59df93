"""What all actor-critics share: V-trace without lag, gradients in parts, rollbacks, observation statistics."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from paper_losses import LANES, TICKS

from league.policies.layout import PolicyConfig, describe, initial
from league.policies.normalising import MEAN, VARIANCE
from league.segment import CONTINUES
from learners.algorithms.a2c import A2C
from learners.algorithms.a2c_config import A2CConfig
from learners.algorithms.appo import APPO
from learners.algorithms.appo_config import APPOConfig
from learners.algorithms.impala import IMPALA
from learners.algorithms.impala_config import IMPALAConfig
from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import Batch


def test_without_lag_v_trace_changes_nothing(play, spec, policy, far):
    """APPO's targets are PPO's, IMPALA's are A2C's."""
    segments = play(far, lanes=LANES, ticks=TICKS)
    segments.end[:, :-2] = CONTINUES
    pairs = [(APPO, APPOConfig(), PPO, PPOConfig()), (IMPALA, IMPALAConfig(), A2C, A2CConfig())]
    for corrected, config, plain, other in pairs:
        one = corrected(config, policy, spec, far).prepare(segments)
        two = plain(other, policy, spec, far).prepare(segments)
        torch.testing.assert_close(one.target, two.target, atol=1e-5, rtol=0)
        torch.testing.assert_close(one.old_log_prob, two.old_log_prob, atol=1e-5, rtol=0)


@pytest.mark.parametrize("memory", ["none", "gru"])
@pytest.mark.parametrize("parts", [3, 1000])
def test_a_gradient_in_parts_is_the_same_gradient(play, spec, memory, parts):
    policy = PolicyConfig(hidden=[16], memory=memory, memory_size=8)
    start = initial(policy, spec, 1)
    segments = play(initial(PolicyConfig(hidden=[16]), spec, 1), lanes=16)
    batch = Batch(segments, np.zeros(segments.decisions, np.int64), {})
    ends = []
    for accumulate in (1, parts):
        algorithm = PPO(PPOConfig(batch=64, minibatch=32, lr=1e-2, accumulate=accumulate), policy, spec, start)
        metrics = algorithm.update(batch, np.random.default_rng(0))
        assert metrics["losses/gradient_steps"] == 8
        ends.append(algorithm.flat())
    np.testing.assert_allclose(*ends, atol=1e-5)
    assert np.abs(ends[0] - start).max() > 1e-2


def test_what_was_not_finite_has_a_name(play, spec, policy, far):
    algorithm, segments = A2C(A2CConfig(), policy, spec, far), play(far)
    segments.reward[0, 0, 0] = np.inf
    batch = Batch(segments, np.zeros(segments.decisions, np.int64), {})
    assert algorithm.update(batch, np.random.default_rng(0)) == {"losses/rollbacks": 1.0}
    assert "losses/value_loss" in algorithm.trouble


def test_what_observations_are_like_goes_into_the_next_weights(play, spec, policy):
    config = replace(policy, normalise=True)
    algorithm = PPO(PPOConfig(batch=32, minibatch=16), config, spec, initial(config, spec, 1))
    parts = [play(initial(policy, spec, 1), seed=seed) for seed in (1, 2)]
    for part in parts:
        algorithm.update(Batch(part, np.zeros(part.decisions, np.int64), {}), np.random.default_rng(0))
    seen = np.concatenate([part.observation[part.present] for part in parts])
    known = describe(config, spec).views(algorithm.flat())
    np.testing.assert_allclose(known[MEAN], seen.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(known[VARIANCE], seen.var(axis=0), atol=1e-6)
    again = PPO(PPOConfig(batch=32, minibatch=16), config, spec, initial(config, spec, 2))
    again.restore(algorithm.state())
    np.testing.assert_array_equal(again.flat(), algorithm.flat())
