"""QR-DQN: its loss against a slow loop written from the paper, and that quantiles find the distribution."""

import numpy as np
import pytest
import torch
from fixed_samples import fixed_sample
from paper_distributions import quantile_huber
from small_dqn import ALGO, batch_of

from league.policies.layout import PolicyConfig, initial
from learners.algorithms.qr_dqn import QRDQN, quantile_loss
from learners.algorithms.qr_dqn_config import QRDQNConfig
from learners.algorithms.values import minibatch

CPU = torch.device("cpu")


@pytest.mark.parametrize("kappa", [1.0, 0.25])
def test_the_loss_is_that_of_the_paper(kappa):
    sample, rng = fixed_sample(), np.random.default_rng(1)
    each, judged = (2 * rng.standard_normal((6, 4, 5)).astype(np.float32) for _ in range(2))
    worth, weight = rng.standard_normal((6, 4)).astype(np.float32), rng.random(6).astype(np.float32)
    total, errors = 0.0, []
    for i in range(6):
        best = max((a for a in range(4) if sample.after["mask"][i, a]), key=lambda a: worth[i, a])
        targets = [sample.reward[i] + sample.discount[i] * theta for theta in judged[i, best]]
        mine = each[i, sample.action[i]]
        total += weight[i] * quantile_huber(mine, targets, kappa)
        errors.append(np.mean(mine) - np.mean(targets))
    found = quantile_loss(*map(torch.from_numpy, (each, worth, judged)), minibatch(sample, weight, CPU), kappa)
    assert float(found.loss) == pytest.approx(total / 6, rel=1e-5)
    np.testing.assert_allclose(found.error.numpy(), errors, rtol=1e-4, atol=1e-5)


def test_quantiles_learn_how_returns_are_distributed(hints, spec):
    """Rewards are made random: 0 or 4, equally likely, whatever is done."""
    policy = PolicyConfig(hidden=[16], head="quantiles", atoms=4, support=[-1.0, 3.0])
    algorithm = QRDQN(QRDQNConfig(**ALGO, kappa=0.1), policy, spec, initial(policy, spec, 0))
    rng = np.random.default_rng(0)
    for seed in range(40):
        segments = hints(seed)
        segments.reward[:] = rng.choice([0.0, 4.0], segments.reward.shape)
        algorithm.update(batch_of(segments), rng)
    seen = {"observation": torch.eye(4), "mask": torch.ones(4, 4, dtype=torch.bool)}
    with torch.no_grad():
        found = algorithm.distributions(algorithm.network, seen).mean(dim=(0, 1)).numpy()
    np.testing.assert_allclose(np.sort(found), [0, 0, 4, 4], atol=0.8)


def test_a_kappa_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"algo\.kappa must be positive"):
        QRDQNConfig(kappa=0)
