"""Critics in the learner: several at once, for every kind of network."""

import numpy as np
import pytest
import torch

from league.policies.flat_policy import Observed
from league.policies.layout import PolicyConfig
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.critics import Critics

TEAM = (Seat((0, 1)),)
REACH = EnvSpec("reach", ("a", "b"), TEAM, Array((3,), "float32"), actions=0, continuous=2)
BOARD = EnvSpec("board", ("a", "b"), TEAM, Array((6, 7, 2), "int8"), actions=7)
DRIVE = EnvSpec("drive", ("a", "b"), TEAM, Array((12, 12, 3), "uint8"), actions=0, continuous=2)


def critics_of(policy, spec, seed=0):
    return Critics(policy, spec, 2, np.random.default_rng(seed))


def seen_in(spec, rows=5, seed=0):
    rng = np.random.default_rng(seed)
    observation = rng.integers(0, 2, (rows, *spec.observation.shape)).astype(spec.observation.dtype)
    return Observed(torch.from_numpy(observation)), torch.from_numpy(rng.uniform(-1, 1, (rows, 2)).astype(np.float32))


def test_each_critic_is_a_network_of_its_own():
    critics = critics_of(PolicyConfig(hidden=[8, 6]), REACH)
    seen, action = seen_in(REACH)
    value_CBN = critics(seen, action)
    assert value_CBN.shape == (2, 5, 1)
    for number in range(2):
        x = torch.cat((seen.observation, action), dim=1)
        for depth, (weight, bias) in enumerate(zip(critics._weights, critics._biases, strict=True)):
            x = x @ weight[number] + bias[number]
            x = x.relu() if depth < 2 else x
        torch.testing.assert_close(value_CBN[number], x)
    assert not torch.allclose(value_CBN[0], value_CBN[1])


def test_the_same_generator_gives_the_same_critics():
    seen, action = seen_in(REACH)
    first, second, other = (critics_of(PolicyConfig(hidden=[8]), REACH, seed)(seen, action) for seed in (0, 0, 1))
    assert torch.equal(first, second)
    assert not torch.allclose(first, other)


def test_an_agent_with_an_id_has_values_of_its_own():
    critics = critics_of(PolicyConfig(hidden=[8], agent_id=True), REACH)
    seen, action = seen_in(REACH)
    places = [None, torch.zeros(5, dtype=torch.long), torch.ones(5, dtype=torch.long)]
    unsaid, first, second = (critics(Observed(seen.observation, place), action) for place in places)
    torch.testing.assert_close(unsaid, first)
    assert not torch.allclose(first, second)


@pytest.mark.parametrize(
    ("policy", "spec", "options"),
    [
        (PolicyConfig(name="board_conv", hidden=[16], channels=4), BOARD, 7),
        (PolicyConfig(name="resnet", hidden=[], channels=4, blocks=1, agent_id=True), BOARD, 7),
        (PolicyConfig(name="cnn", hidden=[16]), DRIVE, 1),
    ],
    ids=["board_conv", "resnet", "cnn"],
)
def test_critics_of_boards_and_images_have_their_own_convolutions(policy, spec, options):
    critics = critics_of(policy, spec)
    seen, action = seen_in(spec)
    value_CBN = critics(seen, action) if spec.continuous else critics(seen)
    assert value_CBN.shape == (2, 5, options)
    value_CBN.square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in critics.parameters())
