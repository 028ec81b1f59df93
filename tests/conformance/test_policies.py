"""Every network passes this suite, acting in numpy as in torch."""

import numpy as np
import pytest
import torch
from scipy import stats

from league.policies.layout import NETWORKS, PolicyConfig, describe
from league.policies.numpy_actor import NumpyActor
from league.policies.torch_policy import TorchPolicy
from league.spec import Array, EnvSpec, Seat

SPEC = EnvSpec(
    name="board",
    agents=("a",),
    seats=(Seat(agents=(0,)),),
    observation=Array(shape=(6, 7, 2), dtype="int8"),
    actions=7,
)
CONFIGS = [PolicyConfig(name=name, activation=act) for name in NETWORKS for act in ("tanh", "relu")]


@pytest.fixture(params=CONFIGS, ids=lambda c: f"{c.name}-{c.activation}")
def config(request):
    return request.param


def weights(config, seed=0):
    size = describe(config, SPEC).size
    return (np.random.default_rng(seed).standard_normal(size) * 0.1).astype(np.float32)


def positions(rows, seed=1):
    rng = np.random.default_rng(seed)
    mask = rng.random((rows, 7)) < 0.5
    mask[np.arange(rows), rng.integers(0, 7, rows)] = True
    return rng.integers(0, 2, (rows, 6, 7, 2)).astype(np.int8), mask


def torch_policy(config, flat):
    policy = TorchPolicy(config, SPEC)
    policy.write(flat)
    return policy


def test_numpy_equals_torch(config):
    flat, (observation, mask) = weights(config), positions(64)
    actions, log_probs = NumpyActor(config, SPEC, flat).act(observation, mask, np.random.default_rng(5))
    with torch.no_grad():
        expected, _ = torch_policy(config, flat)(torch.from_numpy(observation), torch.from_numpy(mask))
    np.testing.assert_allclose(log_probs, expected.numpy()[np.arange(64), actions], atol=1e-5)


def test_value_needs_no_mask(config):
    flat, (observation, mask) = weights(config), positions(9)
    policy = torch_policy(config, flat)
    _, value = policy(torch.from_numpy(observation), torch.from_numpy(mask))
    torch.testing.assert_close(policy.value(torch.from_numpy(observation)), value)
    assert value.shape == (9,)


def test_actions_are_legal_and_typed(config):
    actor, (observation, mask) = NumpyActor(config, SPEC, weights(config)), positions(256)
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions, log_probs = actor.act(observation, mask, rng)
        assert mask[np.arange(256), actions].all()
    assert actions.dtype == np.int32
    assert log_probs.dtype == np.float32
    assert (log_probs <= 1e-6).all()


class ZeroDraws(np.random.Generator):
    """The worst luck: every draw is exactly zero."""

    def standard_exponential(self, size=None, dtype=np.float64, *_):
        return np.zeros(size, dtype=dtype)


def test_a_zero_draw_chooses_no_illegal_action(config):
    actor, (observation, mask) = NumpyActor(config, SPEC, weights(config)), positions(64)
    actions, _ = actor.act(observation, mask, ZeroDraws(np.random.PCG64(0)))
    assert mask[np.arange(64), actions].all()


def test_actions_are_sampled_from_the_masked_softmax(config):
    flat, (observation, mask) = weights(config), positions(1)
    draws = 20_000
    actor = NumpyActor(config, SPEC, flat)
    many = np.repeat(observation, draws, axis=0), np.repeat(mask, draws, axis=0)
    actions, _ = actor.act(*many, np.random.default_rng(3))
    logits = np.where(mask[0], actor.logits(observation)[0].astype(np.float64), -np.inf)
    expected = np.exp(logits - logits.max())
    expected /= expected.sum()
    legal = mask[0]
    counts = np.bincount(actions, minlength=7)[legal]
    assert stats.chisquare(counts, expected[legal] * draws).pvalue > 1e-4


def test_greedy_takes_the_best_legal_action(config):
    flat, (observation, mask) = weights(config), positions(64)
    actor = NumpyActor(config, SPEC, flat, greedy=True)
    actions, log_probs = actor.act(observation, mask, np.random.default_rng(0))
    best = np.where(mask, actor.logits(observation), -np.inf).argmax(axis=1)
    np.testing.assert_array_equal(actions, best)
    assert not log_probs.any()


def test_the_actor_keeps_its_own_weights(config):
    flat, (observation, _) = weights(config), positions(8)
    actor = NumpyActor(config, SPEC, flat)
    before = actor.logits(observation).copy()
    flat[:] = 0
    np.testing.assert_array_equal(actor.logits(observation), before)


def test_torch_weights_are_copied_both_ways(config):
    flat = weights(config)
    policy = torch_policy(config, flat)
    read = policy.read()
    np.testing.assert_array_equal(read, flat)
    read[:] = 0
    np.testing.assert_array_equal(policy.read(), flat)
    with pytest.raises(ValueError, match="another policy config"):
        policy.write(flat[:-1])


def test_every_parameter_gets_a_gradient(config):
    policy, (observation, mask) = torch_policy(config, weights(config)), positions(64)
    log_probs, value = policy(torch.from_numpy(observation), torch.from_numpy(mask))
    (log_probs[torch.from_numpy(mask)].pow(2).mean() + value.pow(2).mean()).backward()
    for name, gradient in describe(config, SPEC).views(policy.flat.grad.numpy()).items():
        assert gradient.any(), name
