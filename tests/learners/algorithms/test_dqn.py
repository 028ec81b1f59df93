"""DQN: its loss against a slow loop written from the papers, its machinery, and that it learns."""

import numpy as np
import pytest
import torch
from small_dqn import batch_of, make

from learners.algorithms.dqn import dqn_loss, duel
from learners.algorithms.values import minibatch
from learners.replay import Sample

CPU = torch.device("cpu")


def fixed_sample(seed=0, decisions=6, options=4):
    rng = np.random.default_rng(seed)
    mask = rng.random((decisions, options)) < 0.5
    mask[:, 1] = True
    return Sample(
        index=np.arange(decisions),
        seen={},
        action=rng.integers(0, options, decisions).astype(np.int32),
        reward=rng.standard_normal(decisions).astype(np.float32),
        discount=np.array([0.0, 0.9, 0.81, 0.729, 0.9, 0.0], np.float32),
        after={"mask": mask},
        odds=np.ones(decisions),
    )


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
    found = dqn_loss(*map(torch.from_numpy, (value, following, judged)), data, double)
    assert float(found.loss) == pytest.approx(total / 6, rel=1e-5)
    np.testing.assert_allclose(found.error.numpy(), errors, rtol=1e-5, atol=1e-6)
    assert max(map(abs, errors)) > 1 > min(map(abs, errors)), "both parts of the loss are met"


def test_targets_get_no_gradient():
    values = [torch.randn(6, 4, requires_grad=True) for _ in range(3)]
    dqn_loss(*values, minibatch(fixed_sample(), np.ones(6, np.float32), CPU)).loss.backward()
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
