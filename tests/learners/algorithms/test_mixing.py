"""VDN and QMIX: their losses against slow loops, death masking, and the game that tells them apart."""

import math

import numpy as np
import pytest
import torch

from benchmarks.two_step import earned
from league.policies.layout import PolicyConfig, initial
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.qmix import QMIX, Mixer
from learners.algorithms.qmix_config import QMIXConfig
from learners.algorithms.values import minibatch
from learners.algorithms.vdn import VDN
from learners.algorithms.vdn_config import VDNConfig
from learners.replay import Sample

SPEC = EnvSpec("team", ("a", "b", "c"), (Seat((0, 1, 2)),), Array((2,), "float32"), actions=4)
CPU = torch.device("cpu")
POLICY = PolicyConfig(hidden=[8], head="values", agent_id=True)


def fixed_sample(seed=0, steps=5):
    rng = np.random.default_rng(seed)

    def seen():
        mask = rng.random((steps, 3, 4)) < 0.5
        mask[:, :, 2] = True
        present = rng.random((steps, 3)) < 0.7
        present[:, 0] = True
        observation = rng.standard_normal((steps, 3, 2)).astype(np.float32)
        return {"observation": observation, "mask": mask & present[..., None], "present": present}

    return Sample(
        index=np.arange(steps),
        seen=seen(),
        action=rng.integers(0, 4, (steps, 3)).astype(np.int32),
        reward=rng.standard_normal(steps).astype(np.float32),
        discount=np.array([0.0, 0.9, 0.81, 0.9, 0.0], np.float32),
        after=seen(),
        odds=np.ones(steps),
    )


def shaken(kind, config):
    algorithm = kind(config, POLICY, SPEC, initial(POLICY, SPEC, 0))
    rng = np.random.default_rng(3)
    for network in (algorithm.network, algorithm.target):
        for parameter in network.parameters():
            parameter.data = torch.from_numpy(rng.standard_normal(parameter.shape).astype(np.float32))
    return algorithm


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


def test_the_mixer_never_turns_the_value_of_an_agent_round():
    algorithm, sample = shaken(QMIX, QMIXConfig()), fixed_sample()
    value = torch.randn(5, 3, requires_grad=True)
    algorithm.network.mixer(value, minibatch(sample, np.ones(5, np.float32), CPU).seen).sum().backward()
    assert (value.grad >= 0).all()
    assert (value.grad > 0).any()


def test_the_mixer_goes_on_from_a_checkpoint_and_starts_the_same_from_the_same_weights():
    one, other = (QMIX(QMIXConfig(), POLICY, SPEC, initial(POLICY, SPEC, seed)) for seed in (0, 0))
    torch.testing.assert_close(one.network.state_dict(), other.network.state_dict())
    one = shaken(QMIX, QMIXConfig())
    other.restore(one.state())
    torch.testing.assert_close(one.network.state_dict(), other.network.state_dict())
    torch.testing.assert_close(one.target.state_dict(), other.target.state_dict())


@pytest.mark.slow
def test_only_a_mixer_finds_the_room_in_which_agents_need_each_other():
    assert earned("qmix", seed=0) == 8
    assert earned("vdn", seed=0) == 7
