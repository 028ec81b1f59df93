"""A2C, APPO and IMPALA against slow loops written from their papers; and what all actor-critics share."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from league.policies.layout import PolicyConfig, describe, initial
from league.policies.normalising import MEAN, VARIANCE
from league.policies.torch_policy import Observed
from league.segment import CONTINUES, CUT, TERMINATED
from learners.algorithms.a2c import A2C
from learners.algorithms.a2c_config import A2CConfig
from learners.algorithms.appo import APPO
from learners.algorithms.appo_config import APPOConfig
from learners.algorithms.impala import IMPALA
from learners.algorithms.impala_config import IMPALAConfig
from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import Batch

ENTROPY = 0.03
LANES, TICKS = 6, 7


@pytest.fixture
def stale(play, spec, policy):
    """Segments that other weights decided: episodes of several lengths, ends of all kinds."""
    segments = play(initial(policy, spec, seed=7), lanes=LANES, ticks=TICKS)
    rng = np.random.default_rng(3)
    segments.end[:, :-1] = rng.choice([CONTINUES, CONTINUES, TERMINATED], (LANES, TICKS - 1, 1))
    segments.reward[:] = rng.standard_normal(segments.reward.shape)
    return segments


@pytest.fixture
def fresh(fresh):
    """Weights that are far from those that decided."""
    return fresh + np.random.default_rng(2).normal(0, 0.5, fresh.shape).astype(np.float32)


class Told:
    """What a network says of the decisions of one lane, one at a time, in Python's numbers."""

    def __init__(self, algorithm, segments, lane):
        self.segments, self.lane = segments, lane
        with torch.no_grad():
            observation = torch.from_numpy(segments.observation[lane, :, 0])
            actions, values = algorithm.policy(Observed(observation), torch.from_numpy(segments.mask[lane, :, 0]))
            tail = torch.from_numpy(segments.tail_observation[lane : lane + 1])
            self.tail = float(algorithm.policy.values(Observed(tail))[0][0])
        self.log_probs, self.values = actions.log_probs.tolist(), values.tolist()
        self.actions = segments.action[lane, :, 0].tolist()
        self.log_prob = [row[action] for row, action in zip(self.log_probs, self.actions, strict=True)]
        self.ratio = [math.exp(new - old) for new, old in zip(self.log_prob, self.decided, strict=True)]
        self.entropy = [-sum(math.exp(p) * p for p in row if p > -1e8) for row in self.log_probs]

    @property
    def decided(self):
        return self.segments.log_prob[self.lane, :, 0].tolist()

    def reward(self, t):
        return float(self.segments.reward[self.lane, t, 0])

    def end(self, t):
        return self.segments.end[self.lane, t, 0]

    def following(self, t, values):
        """What comes after decision t, if these are the values of all of them."""
        return {TERMINATED: 0.0, CUT: self.tail}.get(self.end(t)) if self.end(t) != CONTINUES else values[t + 1]


def n_step(told, gamma):
    """Returns until the end of the episode or of the segment (Mnih et al. 2016, algorithm S3)."""
    returns = [0.0] * TICKS
    for t in range(TICKS):
        total, discount, here = 0.0, 1.0, t
        while True:
            total += discount * told.reward(here)
            discount *= gamma
            if told.end(here) != CONTINUES:
                break
            here += 1
        returns[t] = total + discount * told.following(here, None)
    return returns


def v_trace(told, config, lambda_):
    """Equation 1 of Espeholt et al. 2018, with its lambda of remark 2, and the advantages of section 4.2."""
    rho = [min(config.rho_max, ratio) for ratio in told.ratio]
    c = [lambda_ * min(config.c_max, ratio) for ratio in told.ratio]
    targets = []
    for s in range(TICKS):
        target, weight = told.values[s], 1.0
        for t in range(s, TICKS):
            error = rho[t] * (told.reward(t) + config.gamma * told.following(t, told.values) - told.values[t])
            target += weight * error
            weight *= config.gamma * c[t]
            if told.end(t) != CONTINUES:
                break
        targets.append(target)
    after = [told.following(t, targets) for t in range(TICKS)]
    return targets, [rho[t] * (told.reward(t) + config.gamma * after[t] - told.values[t]) for t in range(TICKS)]


def loss_of(algorithm, segments):
    data = algorithm.prepare(segments)
    actions, values = algorithm.policy(data.seen, data.mask)
    return algorithm.loss(actions, values, data, ENTROPY)[0].detach()


def mean(numbers):
    return sum(numbers) / len(numbers)


def total(policy_terms, errors, lanes, config):
    entropy = mean([h for told in lanes for h in told.entropy])
    return -mean(policy_terms) + config.value_coef * 0.5 * mean(errors) - ENTROPY * entropy


def test_the_loss_of_a2c_is_that_of_the_paper(stale, spec, policy, fresh):
    config = A2CConfig(gamma=0.9, value_coef=0.7)
    algorithm = A2C(config, policy, spec, fresh)
    lanes = [Told(algorithm, stale, lane) for lane in range(LANES)]
    terms, errors = [], []
    for told in lanes:
        for t, returned in enumerate(n_step(told, config.gamma)):
            terms.append((returned - told.values[t]) * told.log_prob[t])
            errors.append((returned - told.values[t]) ** 2)
    assert float(loss_of(algorithm, stale)) == pytest.approx(total(terms, errors, lanes, config), abs=1e-5)


@pytest.mark.parametrize(("rho_max", "c_max", "lambda_"), [(1.0, 1.0, 1.0), (2.0, 0.5, 0.9)])
def test_the_loss_of_impala_is_that_of_the_paper(stale, spec, policy, fresh, rho_max, c_max, lambda_):
    config = IMPALAConfig(gamma=0.9, value_coef=0.7, rho_max=rho_max, c_max=c_max, vtrace_lambda=lambda_)
    algorithm = IMPALA(config, policy, spec, fresh)
    lanes = [Told(algorithm, stale, lane) for lane in range(LANES)]
    assert max(abs(ratio - 1) for told in lanes for ratio in told.ratio) > 0.1, "the data does lag"
    terms, errors = [], []
    for told in lanes:
        targets, advantages = v_trace(told, config, lambda_)
        terms += [a * p for a, p in zip(advantages, told.log_prob, strict=True)]
        errors += [(target - value) ** 2 for target, value in zip(targets, told.values, strict=True)]
    assert float(loss_of(algorithm, stale)) == pytest.approx(total(terms, errors, lanes, config), abs=1e-5)


def test_the_loss_of_appo_clips_around_the_proximal_policy(stale, spec, policy, fresh):
    config = APPOConfig(gamma=0.9, clip=0.05, value_coef=0.7, normalise_advantages=False, rho_max=1.2)
    algorithm = APPO(config, policy, spec, fresh)
    lanes = [Told(algorithm, stale, lane) for lane in range(LANES)]
    traces = [v_trace(told, config, config.gae_lambda) for told in lanes]
    data = algorithm.prepare(stale)
    algorithm.policy.write(fresh + np.random.default_rng(1).normal(0, 0.1, fresh.shape).astype(np.float32))
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


def test_without_lag_v_trace_changes_nothing(play, spec, policy, fresh):
    """APPO's targets are PPO's, IMPALA's are A2C's."""
    segments = play(fresh, lanes=LANES, ticks=TICKS)
    segments.end[:, :-2] = CONTINUES
    pairs = [(APPO, APPOConfig(), PPO, PPOConfig()), (IMPALA, IMPALAConfig(), A2C, A2CConfig())]
    for corrected, config, plain, other in pairs:
        one = corrected(config, policy, spec, fresh).prepare(segments)
        two = plain(other, policy, spec, fresh).prepare(segments)
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


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: APPOConfig(c_max=2.0),
        lambda: IMPALAConfig(c_max=0.0),
        lambda: IMPALAConfig(minibatch=0),
        lambda: A2CConfig(accumulate=0),
        lambda: A2CConfig(batch=0),
        lambda: IMPALAConfig(entropy_final=-1.0),
    ],
)
def test_wrong_configs_are_refused(wrong):
    with pytest.raises(ValueError, match="algo"):
        wrong()


def test_what_was_not_finite_has_a_name(play, spec, policy, fresh):
    algorithm, segments = A2C(A2CConfig(), policy, spec, fresh), play(fresh)
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
