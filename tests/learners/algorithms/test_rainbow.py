"""Rainbow: all six parts take part, and it learns by its noise alone."""

import numpy as np
import torch
from small_dqn import ALGO, batch_of

from league.policies.layout import NOISE, PolicyConfig, describe, initial
from league.policies.numpy_actor import NumpyActor
from learners.algorithms.rainbow import Rainbow
from learners.algorithms.rainbow_config import RainbowConfig

POLICY = PolicyConfig(hidden=[16], head="atoms", atoms=11, support=[-1.0, 2.0], duelling=True, noisy=0.5)


def make(spec, **changes):
    return Rainbow(RainbowConfig(**{**ALGO, **changes}), POLICY, spec, initial(POLICY, spec, 0))


def test_it_learns_what_actions_are_worth_and_how_much_noise_it_needs(hints, spec):
    algorithm, rng = make(spec), np.random.default_rng(0)
    before = describe(POLICY, spec).views(algorithm.flat())
    for seed in range(40):
        metrics = algorithm.update(batch_of(hints(seed)), rng)
    assert metrics["charts/epsilon"] == 0
    after = describe(POLICY, spec).views(algorithm.flat())
    noise = [name for name in after if NOISE in name]
    assert len(noise) == 4
    assert all(not np.array_equal(after[name], before[name]) for name in noise)
    mask = np.ones((4, 4), bool)
    worth = NumpyActor(POLICY, spec, algorithm.flat(), frozen=True).outputs(np.eye(4, dtype=np.float32))
    np.testing.assert_allclose(worth, np.eye(4), atol=0.3)
    greedy, _ = NumpyActor(POLICY, spec, algorithm.flat(), greedy=True).act(np.eye(4, dtype=np.float32), mask, rng)
    assert greedy.tolist() == [0, 1, 2, 3]


def test_each_gradient_step_has_noise_of_its_own(hints, spec):
    algorithm, rng = make(spec), np.random.default_rng(0)
    algorithm.update(batch_of(hints(0)), rng)
    first = {name: noise[0].clone() for name, noise in algorithm.network.policy._noise.items()}
    algorithm.update(batch_of(hints(1)), rng)
    assert set(first) == {"policy", "value"}
    for name, noise in algorithm.network.policy._noise.items():
        assert not torch.equal(noise[0], first[name])
        assert not torch.equal(noise[0], algorithm.target.policy._noise[name][0])


def test_errors_become_priorities(hints, spec):
    odds = {}
    for priority in (0.0, 0.5):
        algorithm, rng = make(spec, priority=priority), np.random.default_rng(0)
        for seed in range(4):
            algorithm.update(batch_of(hints(seed)), rng)
        odds[priority] = algorithm.replay.sample(rng).odds
    assert np.ptp(odds[0.0]) < 1e-9
    assert odds[0.5].max() > 1.3 * odds[0.5].min()
