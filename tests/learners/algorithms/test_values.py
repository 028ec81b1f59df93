"""Learning action values from a replay: reuse, the target network, and rollbacks."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_dqn import ALGO, POLICY, batch_of, make

from league.policies.layout import describe, initial
from league.policies.normalising import COUNT, MEAN, VARIANCE
from learners.algorithms.dqn import DQN
from learners.algorithms.dqn_config import DQNConfig


def test_reuse_is_as_set_and_learning_waits_for_the_warmup(hints, spec):
    algorithm, rng = make(spec, warmup=100, samples_per_insert=2.5), np.random.default_rng(0)
    before = algorithm.flat()
    for seed in range(3):
        metrics = algorithm.update(batch_of(hints(seed)), rng)
        assert metrics["losses/gradient_steps"] == 0
    np.testing.assert_array_equal(algorithm.flat()[:-2], before[:-2])
    for seed in range(40):
        metrics = algorithm.update(batch_of(hints(seed)), rng)
    assert metrics["reuse"] == pytest.approx(2.5, rel=0.1)
    assert metrics["replay"] == 512


def test_the_target_network_follows_in_steps(hints, spec):
    algorithm, rng = make(spec, target_steps=6), np.random.default_rng(0)
    same = []
    for seed in range(6):  # four gradient steps each
        algorithm.update(batch_of(hints(seed)), rng)
        weights = algorithm.network.policy.flat.detach()[:-2]
        same.append(bool(torch.equal(algorithm.target.policy.flat[:-2], weights)))
    assert same == [False, False, True, False, False, True]


def test_a_decision_that_explodes_is_drawn_no_more(hints, spec):
    algorithm, rng = make(spec), np.random.default_rng(0)
    algorithm.update(batch_of(hints(0)), rng)
    bad = hints(1)
    bad.observation[0, 0, 0] = 3e38
    before, tries = algorithm.state(), 0
    algorithm.network.policy.flat.data[0] = 1e6
    before = algorithm.state()
    while algorithm.update(batch_of(bad if not tries else hints(2 + tries)), rng)["losses/rollbacks"]:
        tries += 1
        for name, array in algorithm.state().items():
            np.testing.assert_array_equal(array, before[name])
        assert tries < 10
    assert np.isfinite(algorithm.flat()).all()


def test_network_and_target_normalise_by_what_was_replayed(hints, spec):
    config = replace(POLICY, normalise=True)
    algorithm = DQN(DQNConfig(**{**ALGO, "target_steps": 10**6}), config, spec, initial(config, spec, 0))
    rng = np.random.default_rng(0)
    for seed in range(40):
        metrics = algorithm.update(batch_of(hints(seed)), rng)
    known = describe(config, spec).views(algorithm.flat())
    assert known[COUNT] == 40 * ALGO["minibatch"]
    np.testing.assert_allclose(known[MEAN], 0.25, atol=0.05)  # one of four numbers is 1, the others 0
    np.testing.assert_allclose(known[VARIANCE], 0.25 * 0.75, atol=0.05)
    judged = describe(config, spec).views(algorithm.target.policy.flat.detach().numpy())
    for name in (COUNT, MEAN, VARIANCE):
        np.testing.assert_array_equal(known[name], judged[name])
    assert metrics["losses/rollbacks"] == 0
    again = DQN(DQNConfig(**ALGO), config, spec, initial(config, spec, 1))
    again.restore(algorithm.state())
    np.testing.assert_array_equal(again.flat(), algorithm.flat())


def test_it_learns_from_numbers_of_very_different_scale(hints, spec):
    scale, offset = np.array([1, 100, 1e-1, 1e3], np.float32), np.array([0, 500, 0, -1e4], np.float32)
    errors = {}
    for normalise in (True, False):
        config, rng = replace(POLICY, normalise=normalise), np.random.default_rng(0)
        algorithm = DQN(DQNConfig(**ALGO), config, spec, initial(config, spec, 0))
        for seed in range(60):
            segments = hints(seed)
            segments.observation[:] = segments.observation * scale + offset
            metrics = algorithm.update(batch_of(segments), rng)
        errors[normalise] = metrics["losses/td_error"]
    assert errors[True] < 0.2 < errors[False]
