import numpy as np
import torch
from bound_networks import SPEC, bound, rows

from league.policies.flat_policy import Lanes, Observed
from league.policies.layout import PolicyConfig, initial
from league.policies.module_policy import make_policy


def test_a_settled_network_computes_the_same():
    observation, mask = (torch.from_numpy(array) for array in rows(7))
    for policy in (PolicyConfig(hidden=[8]), bound("BatchNormed")):
        network = make_policy(policy, SPEC)
        network.write(initial(policy, SPEC, 0))
        before = network.judge(Observed(observation), mask)
        network.settle()
        with torch.no_grad():
            after = network.judge(Observed(observation), mask)
        torch.testing.assert_close(after.actions.log_probs, before.actions.log_probs.detach())
        torch.testing.assert_close(after.value, before.value.detach())


def test_warm_decisions_are_not_learned_from():
    there = torch.ones(1, 3, 1, dtype=torch.bool)
    warm = torch.tensor([True, False, False]).view(1, 3, 1)
    lanes = Lanes(there, ~there, torch.zeros(1, 1, 2), warm)
    assert lanes.learned.tolist() == [False, True, True]
    assert Lanes(there, ~there, torch.zeros(1, 1, 2)).learned is None


def test_exploration_rates_are_part_of_the_weights():
    policy = bound("BatchNormed", head="values")
    network = make_policy(policy, SPEC)
    network.explore(0.25, 7)
    assert network.layout.views(network.read())["exploration"].tolist() == [np.float32(0.25), 7]
