"""Learning action values from a replay: reuse, the target network, and rollbacks."""

import numpy as np
import pytest
import torch
from small_dqn import batch_of, make


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
