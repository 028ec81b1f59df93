"""DQN: its loss against a slow loop written from the papers, its machinery, and that it learns."""

import numpy as np
import pytest
import torch
from fixed_samples import fixed_sample
from small_dqn import batch_of, make

from learners.algorithms.dqn import dqn_loss, duel, rescaled, restored
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.values import minibatch

CPU = torch.device("cpu")


@pytest.mark.parametrize("double", [True, False])
def test_the_loss_is_that_of_the_papers(double):
    sample, rng = fixed_sample(), np.random.default_rng(1)
    value, following, judged = (3 * rng.standard_normal((6, 4)).astype(np.float32) for _ in range(3))
    weight = rng.random(6).astype(np.float32)
    total, errors = 0.0, []
    for i in range(6):
        legal = [a for a in range(4) if sample.after["mask"][i, a]]
        # van Hasselt et al. 2016: Y = R + gamma Q(S', argmax_a Q(S', a; online); target)
        chooser = following if double else judged
        best = max(legal, key=lambda a: chooser[i, a])
        target = sample.reward[i] + sample.discount[i] * judged[i, best]
        error = value[i, sample.action[i]] - target
        errors.append(error)
        total += weight[i] * (0.5 * error**2 if abs(error) <= 1 else abs(error) - 0.5)
    data = minibatch(sample, weight, CPU)
    found = dqn_loss(*map(torch.from_numpy, (value, following, judged)), data, DQNConfig(double=double))
    assert float(found.loss) == pytest.approx(total / 6, rel=1e-5)
    np.testing.assert_allclose(found.error.numpy(), errors, rtol=1e-5, atol=1e-6)
    assert max(map(abs, errors)) > 1 > min(map(abs, errors)), "both parts of the loss are met"


def test_targets_get_no_gradient():
    values = [torch.randn(6, 4, requires_grad=True) for _ in range(3)]
    dqn_loss(*values, minibatch(fixed_sample(), np.ones(6, np.float32), CPU), DQNConfig()).loss.backward()
    assert values[0].grad is not None
    assert values[1].grad is None
    assert values[2].grad is None


def test_a_duel_adds_what_an_action_is_better_than_the_mean_of_the_legal_ones():
    mask = torch.tensor([[True, True, False], [True, True, True]])
    advantage = torch.tensor([[1.0, 3.0, 100.0], [0.0, 3.0, 6.0]])
    found = duel(advantage, torch.tensor([10.0, -1.0]), mask)
    torch.testing.assert_close(found[0, :2], torch.tensor([9.0, 11.0]))
    torch.testing.assert_close(found[1], torch.tensor([-4.0, -1.0, 2.0]))


def test_it_learns_what_actions_are_worth(hints, spec):
    algorithm, rng = make(spec), np.random.default_rng(0)
    for seed in range(40):
        metrics = algorithm.update(batch_of(hints(seed)), rng)
    assert metrics["losses/td_loss"] < 0.02
    seen = {"observation": torch.eye(4), "mask": torch.ones(4, 4, dtype=torch.bool), "place": torch.zeros(4)}
    with torch.no_grad():
        values = algorithm._values(algorithm.network, seen).numpy()
    np.testing.assert_allclose(values, np.eye(4), atol=0.25)


def test_a_rescaled_loss_is_that_of_r2d2():
    """Kapturowski et al. 2019, section 2.3: the target is h(r + gamma^n h^-1(Q'))."""
    sample, rng = fixed_sample(), np.random.default_rng(1)
    value, judged = (9 * rng.standard_normal((6, 4)).astype(np.float32) for _ in range(2))

    def h(x):
        return np.sign(x) * (np.sqrt(abs(x) + 1) - 1) + 1e-3 * x

    def inverse(y):
        low, high = -1e6, 1e6
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if h(middle) < y else (low, middle)
        return low

    errors = []
    for i in range(6):
        best = max((a for a in range(4) if sample.after["mask"][i, a]), key=lambda a: judged[i, a])
        target = h(sample.reward[i] + sample.discount[i] * inverse(float(judged[i, best])))
        errors.append(value[i, sample.action[i]] - target)
    config = DQNConfig(double=False, rescale=True)
    data = minibatch(sample, np.ones(6, np.float32), CPU)
    found = dqn_loss(*map(torch.from_numpy, (value, judged, judged)), data, config)
    np.testing.assert_allclose(found.error.numpy(), errors, rtol=1e-3, atol=1e-3)


def test_rescaling_can_be_undone():
    returned = torch.tensor([-300.0, -1, 0, 0.5, 1, 40, 5000], dtype=torch.float64)
    torch.testing.assert_close(restored(rescaled(returned)), returned)
    assert rescaled(returned)[-1] < 80
