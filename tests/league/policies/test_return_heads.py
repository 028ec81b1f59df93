"""Distributions of returns: what options are worth, the same in numpy and torch."""

import math

import numpy as np
import pytest
import torch

from league.policies.flat_policy import Observed
from league.policies.layout import PolicyConfig, describe, plain_policy, policy_from
from league.policies.module_policy import make_policy
from league.policies.network_actor import make_actor
from league.policies.torch_return_heads import options_of, worth_of
from league.spec import Array, EnvSpec, Seat

SPEC = EnvSpec(name="toy", agents=("a",), seats=(Seat((0,)),), observation=Array((5,), "float32"), actions=3)
POLICIES = [
    PolicyConfig(hidden=[6], head=head, atoms=4, support=[-1.0, 2.0], duelling=duelling, memory=memory, memory_size=4)
    for head in ("atoms", "quantiles")
    for duelling in (False, True)
    for memory in ("none", "lstm")
]
IDS = [f"{p.head}-{p.duelling}-{p.memory}" for p in POLICIES]


@pytest.mark.parametrize("policy", POLICIES, ids=IDS)
def test_an_option_is_worth_the_mean_of_its_distribution(policy):
    flat = (np.random.default_rng(0).standard_normal(describe(policy, SPEC).size) * 0.5).astype(np.float32)
    seen = np.random.default_rng(1).standard_normal((7, 5)).astype(np.float32)
    network = make_policy(policy, SPEC)
    network.write(flat)
    with torch.no_grad():
        outputs, state = network.outputs(Observed(torch.from_numpy(seen)))
        learned = worth_of(policy, options_of(policy, outputs, state)).numpy()
    outputs, state = outputs.numpy().astype(float), state.numpy().astype(float)
    expected = np.zeros((7, 3))
    for row in range(7):
        for option in range(3):
            each = outputs[row, option * 4 : option * 4 + 4]
            if policy.duelling:
                mean = [sum(outputs[row, o * 4 + k] for o in range(3)) / 3 for k in range(4)]
                each = [state[row, k] + each[k] - mean[k] for k in range(4)]
            if policy.head == "quantiles":
                expected[row, option] = 0.5 + 1.5 * sum(each) / 4  # the middle and half the width of the support
            else:
                odds = [math.exp(one) for one in each]
                expected[row, option] = sum(o * z for o, z in zip(odds, [-1, 0, 1, 2], strict=True)) / sum(odds)
    np.testing.assert_allclose(learned, expected, rtol=1e-4, atol=1e-5)
    for act_in in ("numpy", "torch"):
        found = make_actor(policy, SPEC, flat, act_in=act_in).outputs(seen)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("greedy", [True, False])
def test_actors_choose_by_these_means(greedy):
    policy = PolicyConfig(hidden=[6], head="atoms", atoms=3, support=[0.0, 1.0], epsilon=0.0)
    flat = np.zeros(describe(policy, SPEC).size, np.float32)
    describe(policy, SPEC).views(flat)["policy.bias"][3:6] = [0, 0, 5]  # the second option returns 1
    actor = make_actor(policy, SPEC, flat, greedy, frozen=True)
    mask = np.ones((4, 3), bool)
    mask[3, 1] = False
    actions, _ = actor.act(np.zeros((4, 5), np.float32), mask, np.random.default_rng(0))
    assert actions[:3].tolist() == [1, 1, 1]
    assert actions[3] != 1


def test_manifests_name_what_differs_from_older_networks_only():
    assert not {"atoms", "support", "duelling", "noisy"} & set(plain_policy(PolicyConfig()))
    policy = PolicyConfig(head="atoms", atoms=21, support=[0.0, 5.0], duelling=True, noisy=0.1)
    assert policy_from(plain_policy(policy)) == policy
    assert plain_policy(policy)["support"] == [0.0, 5.0]
