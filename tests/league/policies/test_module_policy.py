import numpy as np
import pytest
import torch
from bound_networks import NAMES, SPEC, bound, rows

from league.policies.flat_policy import Lanes, Observed
from league.policies.layout import PolicyConfig, describe, initial
from league.policies.module_policy import ModulePolicy, make_policy
from league.policies.torch_actor import TorchActor
from league.policies.torch_policy import TorchPolicy


def made(name, seed=0, **settings):
    policy = bound(name, **settings)
    network = make_policy(policy, SPEC)
    network.write(initial(policy, SPEC, seed))
    return policy, network


def seen_by(count, seed=0):
    observation, mask = rows(count, seed)
    place = np.arange(count) % 2
    return Observed(torch.from_numpy(observation), torch.from_numpy(place)), torch.from_numpy(mask)


def test_every_network_is_made_here():
    assert isinstance(made("Window")[1], ModulePolicy)
    assert type(make_policy(PolicyConfig(), SPEC)) is TorchPolicy
    with pytest.raises(ValueError, match="network of another package"):
        TorchPolicy(bound("Window"), SPEC)


@pytest.mark.parametrize("name", NAMES)
def test_the_flat_vector_is_the_only_parameter_and_gets_every_gradient(name):
    policy, network = made(name)
    assert [parameter for parameter, _ in network.named_parameters()] == ["flat"]
    actions, value = network(*seen_by(32))
    (actions.log_prob(torch.zeros(32, dtype=torch.long)).mean() + value.square().mean()).backward()
    layout = describe(policy, SPEC)
    for parameter, gradient in layout.views(network.flat.grad.numpy()).items():
        if parameter.endswith("in_proj_bias"):
            continue  # the bias of keys has no effect
        assert gradient.any() == (parameter not in layout.untrained), parameter


def test_extra_outputs_arrive():
    _, network = made("UnitAttention")
    judged = network.judge(*seen_by(5))
    assert judged.extras["strength"].shape == (5, 4)
    assert judged.memory is None


def test_lanes_are_unrolled_as_an_actor_walks_through_them():
    policy, network = made("Window")
    rng, lanes, ticks, agents = np.random.default_rng(0), 3, 5, 2
    present = rng.random((lanes, ticks, agents)) < 0.7
    restart = np.zeros_like(present)
    restart[:, 3] = present[:, 3]
    start = np.zeros((lanes, agents, policy.state_size), np.float32)
    observation, mask = rows(int(present.sum()))
    number = present.cumsum().reshape(present.shape) - 1
    seen = Observed(
        torch.from_numpy(observation), torch.from_numpy(present.nonzero()[2]),
        lanes=Lanes(*map(torch.from_numpy, (present, restart, start))), mask=torch.from_numpy(mask),
    )  # fmt: skip
    with torch.no_grad():
        found = network.answers(seen)
    actor = TorchActor(policy, SPEC, network.read())
    for lane in range(lanes):
        memory = start[lane].copy()
        for tick in range(ticks):
            memory[restart[lane, tick]] = 0
            for agent in present[lane, tick].nonzero()[0]:
                row, mine = number[lane, tick, agent], memory[agent : agent + 1]
                outputs = actor.outputs(observation[row : row + 1], np.array([agent]), mine)
                np.testing.assert_allclose(outputs[0], found.outputs[row].numpy(), atol=1e-5)
                np.testing.assert_allclose(mine[0], found.memory[row].numpy(), atol=1e-5)


def test_running_statistics_change_only_when_they_are_updated():
    policy, network = made("BatchNormed")
    seen, mask = seen_by(64)
    before = network.read()
    network(seen, mask)
    np.testing.assert_array_equal(network.read(), before)
    network.update_buffers(seen)
    layout = describe(policy, SPEC)
    changed = {name for name, view in layout.views(network.read() - before).items() if view.any()}
    assert changed == {name for name in layout.untrained if "running" in name or "tracked" in name}
    mean = seen.observation[:, -8:].reshape(64, -1).mean(0)
    np.testing.assert_allclose(layout.views(network.read())["body.0.running_mean"][-8:], 0.1 * mean, atol=1e-6)
    assert not made("Window")[1].has_buffers


def test_statistics_of_a_single_decision_are_not_taken():
    _, network = made("BatchNormed")
    before = network.read()
    network.update_buffers(seen_by(1)[0])
    np.testing.assert_array_equal(network.read(), before)
