"""C51: its loss against a slow loop written from the paper."""

import numpy as np
import pytest
import torch
from fixed_samples import fixed_sample
from paper_distributions import categorical_target, cross_entropy, mean_of_atoms, softmax

from league.policies.layout import PolicyConfig, initial
from learners.algorithms.c51 import C51, c51_loss, projected
from learners.algorithms.c51_config import C51Config
from learners.algorithms.values import minibatch

CPU = torch.device("cpu")
ATOMS = [-2.0, -1.0, 0.0, 1.0, 2.0]


def test_the_loss_is_that_of_the_paper():
    sample, rng = fixed_sample(), np.random.default_rng(1)
    logits, judged = (rng.standard_normal((6, 4, 5)).astype(np.float32) for _ in range(2))
    worth, weight = rng.standard_normal((6, 4)).astype(np.float32), rng.random(6).astype(np.float32)
    total, errors, values = 0.0, [], []
    for i in range(6):
        best = max((a for a in range(4) if sample.after["mask"][i, a]), key=lambda a: worth[i, a])
        target = categorical_target(sample.reward[i], sample.discount[i], softmax(judged[i, best]), ATOMS)
        loss, apart = cross_entropy(target, logits[i, sample.action[i]])
        total += weight[i] * loss
        errors.append(apart)
        values.append(mean_of_atoms(logits[i, sample.action[i]], ATOMS))
    tensors = map(torch.from_numpy, (logits, worth, judged, np.array(ATOMS, np.float32)))
    found = c51_loss(*tensors, minibatch(sample, weight, CPU))
    assert float(found.loss) == pytest.approx(total / 6, rel=1e-5)
    np.testing.assert_allclose(found.error.numpy(), errors, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.value.numpy(), values, rtol=1e-5, atol=1e-6)


def test_a_projection_keeps_the_mean_inside_of_the_support_and_clips_outside():
    atom, chance = torch.tensor(ATOMS), torch.tensor([[0.1, 0.2, 0.3, 0.4, 0.0]])
    inside = projected(0.25 + 0.5 * atom[None], chance, atom)
    assert float(inside.sum()) == pytest.approx(1)
    assert float(inside @ atom) == pytest.approx(0.25 + 0.5 * float(chance @ atom), abs=1e-6)
    torch.testing.assert_close(projected(100 + atom[None], chance, atom), torch.tensor([[0.0, 0, 0, 0, 1]]))


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("duelling", [True, False])
def test_the_network_or_the_target_network_chooses(spec, double, duelling):
    """The whole loss (return_distributions), from observations: with a duel, by hand from the outputs of both heads."""
    policy = PolicyConfig(hidden=[8], head="atoms", atoms=5, support=[-2.0, 2.0], duelling=duelling)
    rng = np.random.default_rng(0)
    algorithm = C51(C51Config(double=double), policy, spec, initial(policy, spec, 0))
    for network in (algorithm.network, algorithm.target):
        size = len(network.policy.flat)
        network.policy.write(rng.standard_normal(size).astype(np.float32))
    sample = fixed_sample(options=spec.actions)
    seen = {"observation": rng.standard_normal((6, *spec.observation.shape)).astype(np.float32)}
    sample.seen.update(seen, mask=np.ones((6, spec.actions), bool))
    sample.after.update({"observation": seen["observation"][::-1].copy()})
    data = minibatch(sample, np.ones(6, np.float32), CPU)

    def slow(network, told):
        with torch.no_grad():
            outputs, state = network.policy.outputs(algorithm.observed(told))
        each = outputs.double().numpy().reshape(6, spec.actions, 5)
        if duelling:
            each = each - each.mean(axis=1, keepdims=True) + state.double().numpy()[:, None]
        return each

    logits, judged = slow(algorithm.network, data.seen), slow(algorithm.target, data.after)
    chooser = slow(algorithm.network, data.after) if double else judged
    total = 0.0
    for i in range(6):
        legal = [a for a in range(spec.actions) if sample.after["mask"][i, a]]
        best = max(legal, key=lambda a: mean_of_atoms(chooser[i, a], ATOMS))
        target = categorical_target(sample.reward[i], sample.discount[i], softmax(judged[i, best]), ATOMS)
        total += cross_entropy(target, logits[i, sample.action[i]])[0]
    assert float(algorithm.loss(data).loss.detach()) == pytest.approx(total / 6, rel=1e-4)
