"""The loss of VDN, which QMIX shares, against a slow loop; and death masking."""

import math

import numpy as np
import pytest
import torch
from team_values import CPU, fixed_sample, shaken

from learners.algorithms.qmix import QMIX, Mixer
from learners.algorithms.qmix_config import QMIXConfig
from learners.algorithms.values import minibatch
from learners.algorithms.vdn import VDN
from learners.algorithms.vdn_config import VDNConfig


def slow_mix(network, values, seen, i):
    """Rashid et al. 2018, section 4, one joint step at a time; VDN adds up."""
    if not isinstance(network.mixer, Mixer):
        return sum(values)
    state = []
    for agent in range(3):
        there = seen["present"][i, agent]
        state += [float(number) if there else 0.0 for number in seen["observation"][i, agent]] + [float(there)]

    def layers(module):
        with torch.no_grad():
            return module(torch.tensor(state)).numpy().astype(float)

    first = np.abs(layers(network.mixer.weight)).reshape(3, -1)
    hidden = [
        sum(values[a] * first[a, e] for a in range(3)) + layers(network.mixer.bias)[e] for e in range(first.shape[1])
    ]
    hidden = [h if h > 0 else math.exp(h) - 1 for h in hidden]
    return sum(h * abs(w) for h, w in zip(hidden, layers(network.mixer.last_weight), strict=True)) + float(
        layers(network.mixer.last_bias)[0]
    )


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("kind", [VDN, QMIX])
def test_the_loss_is_that_of_the_papers(kind, double):
    config = {VDN: VDNConfig, QMIX: QMIXConfig}[kind](double=double)
    algorithm, sample = shaken(kind, config), fixed_sample()
    weight = np.random.default_rng(5).random(5).astype(np.float32)
    data = minibatch(sample, weight, CPU)
    with torch.no_grad():
        seen, after, judged = (
            algorithm._values(network, told).numpy()
            for network, told in (
                (algorithm.network, data.seen),
                (algorithm.network, data.after),
                (algorithm.target, data.after),
            )
        )
    total, errors = 0.0, []
    for i in range(5):
        done = [seen[i, a, sample.action[i, a]] if sample.seen["present"][i, a] else 0.0 for a in range(3)]
        best = []
        for a in range(3):
            legal = [option for option in range(4) if sample.after["mask"][i, a, option]]
            chooser = after if double else judged
            best.append(judged[i, a, max(legal, key=lambda o: chooser[i, a, o])] if legal else 0.0)
        target = sample.reward[i] + sample.discount[i] * slow_mix(algorithm.target, best, sample.after, i)
        error = slow_mix(algorithm.network, done, sample.seen, i) - target
        errors.append(error)
        total += weight[i] * 0.5 * error**2
    found = algorithm.loss(data)
    np.testing.assert_allclose(found.error.numpy(), errors, rtol=1e-3, atol=1e-3)
    assert found.loss.item() == pytest.approx(total / 5, rel=1e-3)


@pytest.mark.parametrize("kind", [VDN, QMIX])
def test_what_the_dead_see_and_do_changes_nothing(kind):
    algorithm, sample = shaken(kind, {VDN: VDNConfig, QMIX: QMIXConfig}[kind]()), fixed_sample()
    before = algorithm.loss(minibatch(sample, np.ones(5, np.float32), CPU))
    for told in (sample.seen, sample.after):
        told["observation"][~told["present"]] += 10
    sample.action[~sample.seen["present"]] = 0
    after = algorithm.loss(minibatch(sample, np.ones(5, np.float32), CPU))
    torch.testing.assert_close(before.error, after.error)
