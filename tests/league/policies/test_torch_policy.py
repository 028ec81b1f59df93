"""Networks in torch: what they see beside the observation, and which decisions of lanes they learn from."""

import numpy as np
import torch
from team_spec import TEAM, random_weights

from league.policies.flat_policy import Lanes, Observed
from league.policies.layout import PolicyConfig
from league.policies.numpy_actor import NumpyActor
from league.policies.torch_policy import TorchPolicy
from league.spec import Array, EnvSpec, Seat


def test_the_agent_of_a_seat_is_told_apart_in_numpy_as_in_torch():
    config = PolicyConfig(agent_id=True)
    flat, rng = random_weights(config, TEAM), np.random.default_rng(1)
    seen, place = np.repeat(rng.standard_normal((1, 5)).astype(np.float32), 3, axis=0), np.arange(3)
    outputs = NumpyActor(config, TEAM, flat).outputs(seen, place)
    assert len(np.unique(outputs[:, 0])) == 3
    policy = TorchPolicy(config, TEAM)
    policy.write(flat)
    with torch.no_grad():
        found, _ = policy(Observed(torch.from_numpy(seen), torch.from_numpy(place)), torch.ones(3, 4, dtype=torch.bool))
    expected = outputs - np.log(np.exp(outputs).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found.log_probs.numpy(), expected, atol=1e-5)


def test_a_central_critic_sees_all_agents_and_the_actor_does_not():
    config = PolicyConfig(critic="central")
    policy, rng = TorchPolicy(config, TEAM), np.random.default_rng(0)
    policy.write(random_weights(config, TEAM))
    joint = torch.from_numpy(rng.standard_normal((1, 3, 5)).astype(np.float32))
    other = joint.clone()
    other[0, 2] += 1
    mask = torch.ones(1, 4, dtype=torch.bool)
    with torch.no_grad():
        results = [policy(Observed(joint[:, 0], torch.tensor([0]), seen), mask) for seen in (joint, other)]
    torch.testing.assert_close(results[0][0].log_probs, results[1][0].log_probs)
    assert float((results[0][1] - results[1][1]).abs()) > 1e-3


def test_bytes_of_images_are_scaled():
    config = PolicyConfig(name="cnn", hidden=[8])
    byte, real = (
        EnvSpec("image", ("a",), (Seat((0,)),), Array((9, 8, 3), dtype), actions=3) for dtype in ("uint8", "float32")
    )
    flat = random_weights(config, byte) * 0.1
    images = np.random.default_rng(0).integers(0, 256, (5, 9, 8, 3)).astype(np.uint8)
    found = NumpyActor(config, byte, flat).outputs(images)
    np.testing.assert_allclose(found, NumpyActor(config, real, flat).outputs(images / np.float32(255)), atol=1e-5)
    policy = TorchPolicy(config, byte)
    policy.write(flat)
    with torch.no_grad():
        actions, _ = policy(Observed(torch.from_numpy(images)), torch.ones(5, 3, dtype=torch.bool))
    np.testing.assert_allclose(
        actions.log_probs.numpy(), found - np.log(np.exp(found).sum(axis=1, keepdims=True)), atol=1e-5
    )


def test_decisions_that_only_warm_a_memory_up_are_not_learned_from():
    present = torch.tensor([[[True], [True], [False]]])
    lanes = Lanes(present, torch.zeros_like(present), torch.zeros(1, 1, 4))
    assert lanes.learned is None
    warm = torch.tensor([[[True], [False], [False]]])
    some = Lanes(lanes.present, lanes.restart, lanes.memory, warm)
    assert some.learned.tolist() == [False, True]
    assert some[torch.tensor([0])].learned.tolist() == [False, True]
    assert Lanes(lanes.present, lanes.restart, lanes.memory, present).learned is None, "all: then none is left out"
