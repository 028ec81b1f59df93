"""QPLEX: its joint value against a slow loop, its best joint action, and what no monotone mixer represents."""

import itertools
import math

import numpy as np
import pytest
import torch
from team_values import CPU, POLICY, SPEC, fixed_sample, shaken

from league.policies.layout import initial
from learners.algorithms.qplex import QPLEX
from learners.algorithms.qplex_config import QPLEXConfig
from learners.algorithms.values import minibatch


def slow_joint(network, each, actions, seen, i):
    """Wang et al. 2021, equations 5 to 10, one joint step at a time; `each` are the values of agents' options."""
    state, taken, mixer = [], [], network.mixer
    for agent in range(3):
        there = bool(seen["present"][i, agent])
        state += [float(number) if there else 0.0 for number in seen["observation"][i, agent]] + [float(there)]
        taken += [float(there and option == actions[agent]) for option in range(4)]

    def layers(module, inputs):
        with torch.no_grad():
            return module(torch.tensor(inputs)).numpy().astype(float).tolist()

    def sigmoid(number):
        return 1 / (1 + math.exp(-number))

    weight, bias, key = (layers(module, state) for module in (mixer.weight, mixer.bias, mixer.key))
    of_agent, of_action = layers(mixer.agent, state), layers(mixer.action, state + taken)
    total = 0.0
    for agent in range(3):
        if not seen["present"][i, agent]:
            continue
        best = max(each[i, agent, option] for option in range(4) if seen["mask"][i, agent, option])
        value = abs(weight[agent]) * best + bias[agent]
        advantage = abs(weight[agent]) * (each[i, agent, actions[agent]] - best)
        places = [agent * len(key) + k for k in range(len(key))]
        importance = sum(abs(key[k]) * sigmoid(of_agent[p]) * sigmoid(of_action[p]) for k, p in enumerate(places))
        total += value + importance * advantage
    return total


def test_the_loss_is_that_of_the_paper():
    algorithm, sample = shaken(QPLEX, QPLEXConfig(kernels=2, mixer_hidden=5)), fixed_sample()
    weight = np.random.default_rng(5).random(5).astype(np.float32)
    data = minibatch(sample, weight, CPU)
    values = [(algorithm.network, data.seen), (algorithm.network, data.after), (algorithm.target, data.after)]
    seen, after, judged = (algorithm._values(network, told).detach().numpy() for network, told in values)
    errors = []
    for i in range(5):
        legal = [[o for o in range(4) if sample.after["mask"][i, a, o]] or [0] for a in range(3)]
        best = [max(legal[a], key=lambda o, a=a, i=i: after[i, a, o]) for a in range(3)]
        follows = slow_joint(algorithm.target, judged, best, sample.after, i)
        now = slow_joint(algorithm.network, seen, sample.action[i], sample.seen, i)
        errors.append(now - (sample.reward[i] + sample.discount[i] * follows))
    found = algorithm.loss(data)
    np.testing.assert_allclose(found.error.numpy(), errors, rtol=1e-3, atol=1e-3)
    assert found.loss.item() == pytest.approx(float(np.mean(weight * 0.5 * np.square(errors))), rel=1e-3)


def test_the_best_joint_action_is_the_best_of_each_agent():
    algorithm = shaken(QPLEX, QPLEXConfig())
    data = minibatch(fixed_sample(), np.ones(5, np.float32), CPU)
    each = algorithm._values(algorithm.network, data.seen).detach()
    joint = {
        actions: algorithm.network.joint_value(each, torch.tensor([actions] * 5), data.seen).detach()
        for actions in itertools.product(range(4), repeat=3)
    }
    best = each.masked_fill(~data.seen["mask"], -math.inf).argmax(2)
    for i in range(5):
        mask, there = data.seen["mask"][i], data.seen["present"][i]
        legal = {a: v[i] for a, v in joint.items() if all(mask[n, o] or not there[n] for n, o in enumerate(a))}
        assert legal[tuple(best[i].tolist())] >= max(legal.values()) - 1e-4


def test_the_gradient_of_the_second_sum_does_not_reach_the_agents():
    algorithm = shaken(QPLEX, QPLEXConfig())
    data = minibatch(fixed_sample(), np.ones(5, np.float32), CPU)
    value, best = torch.randn(5, 3, requires_grad=True), torch.randn(5, 3, requires_grad=True)
    algorithm.network.mixer(value, best, data.action, data.seen).sum().backward()
    assert best.grad is None
    assert (value.grad >= 0).all()
    assert (value.grad > 0).any()


def test_a_joint_value_that_no_monotone_mixer_has_can_be_represented():
    """The matrix game of the paper: 8 if both choose 0, -12 if one does, else 0; in units of 4."""
    mixer = QPLEX(QPLEXConfig(), POLICY, SPEC, initial(POLICY, SPEC, 0)).network.mixer
    action = torch.tensor(list(itertools.product(range(3), range(3), [0])))
    payoff = torch.tensor([2.0 if a == b == 0 else -3.0 if 0 in (a, b) else 0.0 for a, b, _ in action.tolist()])
    seen = {"observation": torch.ones(9, 3, 2), "present": torch.tensor([[True, True, False]] * 9)}
    value, best = -2.0 * (action > 0), torch.zeros(9, 3)
    optimizer = torch.optim.Adam(mixer.parameters(), lr=0.02)
    for _ in range(300):
        error = mixer(value, best, action, seen) - payoff
        optimizer.zero_grad()
        error.square().mean().backward()
        optimizer.step()
    assert float(error.detach().abs().max()) < 0.2


def test_settings_that_cannot_train_are_refused():
    with pytest.raises(ValueError, match="kernels and mixer_hidden must be at least 1"):
        QPLEXConfig(kernels=0)
