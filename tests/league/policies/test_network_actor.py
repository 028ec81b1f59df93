from dataclasses import dataclass

import numpy as np
import pytest
from bound_networks import SPEC, bound, rows

from league.policies.layout import PolicyConfig, initial, plain_policy
from league.policies.network_actor import Bystanders, actor_from_snapshot, make_actor
from league.policies.numpy_actor import NumpyActor
from league.policies.torch_actor import TorchActor


@dataclass
class Paper:
    policy: dict
    signature: str


def test_builtin_networks_act_in_numpy_unless_told_otherwise():
    config = PolicyConfig(hidden=[8])
    flat = initial(config, SPEC, 0)
    assert isinstance(make_actor(config, SPEC, flat), NumpyActor)
    assert isinstance(make_actor(config, SPEC, flat, act_in="torch"), TorchActor)


def test_a_snapshot_of_another_package_needs_leave():
    policy = bound("BatchNormed")
    flat, paper = initial(policy, SPEC, 3), Paper(plain_policy(policy), SPEC.signature)
    with pytest.raises(ValueError, match="not allowed"):
        actor_from_snapshot({"flat": flat}, paper, SPEC)
    actor = actor_from_snapshot({"flat": flat}, paper, SPEC, allow=["foreign_networks"])
    observation, _ = rows(4)
    mine = make_actor(policy, SPEC, flat)
    np.testing.assert_array_equal(actor.outputs(observation), mine.outputs(observation))


def test_team_mates_are_seen():
    policy = bound("BatchNormed")
    actor = make_actor(policy, SPEC, initial(policy, SPEC, 3))
    observation, mask = rows(1)
    place, alone, both = np.array([0]), np.array([[True, False]]), np.array([[True, True]])
    found = [actor.outputs(observation, place, None, Bystanders(mask, team)) for team in (None, alone, both)]
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_values_explore_and_the_frozen_ones_follow_their_config():
    policy = bound("BatchNormed", head="values", epsilon=0.1)
    flat = initial(policy, SPEC, 0)
    assert make_actor(policy, SPEC, flat).exploration.tolist() == [1, 0]
    assert make_actor(policy, SPEC, flat, frozen=True).exploration.tolist() == [np.float32(0.1), 0]
