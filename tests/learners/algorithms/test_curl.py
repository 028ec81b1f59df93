"""CURL: its loss against a slow loop, its crops, and that the convolutions learn from it without any reward."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from small_dqn import ALGO

from league.policies.layout import PolicyConfig, describe, initial
from league.segment import TERMINATED, Segments
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.curl import contrastive_loss, random_crops
from learners.algorithms.dqn import DQN
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.vdn import VDN
from learners.algorithms.vdn_config import VDNConfig
from learners.batcher import Batch

SPEC = EnvSpec(name="dots", agents=("a",), seats=(Seat((0,)),), observation=Array((8, 8, 1), "uint8"), actions=2)
CNN = PolicyConfig(name="cnn", filters=[[4, 3, 1], [4, 3, 2]], hidden=[8], head="values")


def test_the_loss_is_that_of_the_paper():
    """Laskin et al. 2020, equation 4: each query against the keys of the whole minibatch."""
    rng = np.random.default_rng(0)
    query, key, similarity = (rng.standard_normal(shape) for shape in ((5, 3), (5, 3), (3, 3)))
    total = 0.0
    for i in range(5):
        alike = [sum(query[i, a] * similarity[a, b] * key[j, b] for a in range(3) for b in range(3)) for j in range(5)]
        total -= math.log(math.exp(alike[i]) / sum(math.exp(one) for one in alike))
    found = contrastive_loss(*map(torch.from_numpy, (query, key, similarity)))
    assert float(found) == pytest.approx(total / 5)


@pytest.mark.parametrize("shape", [(6, 7), (6, 7, 2)])
def test_crops_move_pictures_and_repeat_their_edges(shape):
    pictures = torch.from_numpy(np.random.default_rng(0).integers(0, 255, (40, *shape)).astype(np.uint8))
    crops = random_crops(pictures, 2, np.random.default_rng(1))
    assert crops.shape == pictures.shape
    assert crops.dtype == torch.uint8
    moved = set()
    for picture, crop in zip(pictures, crops, strict=True):
        found = [
            (down, right)
            for down in range(-2, 3)
            for right in range(-2, 3)
            if all(
                torch.equal(crop[r, c], picture[min(max(r + down, 0), 5), min(max(c + right, 0), 6)])
                for r in range(6)
                for c in range(7)
            )
        ]
        assert len(found) == 1
        moved |= set(found)
    assert len(moved) > 12


def dots(seed, agents=1, lanes=16, ticks=2):
    """Return pictures of one bright dot each, in which nothing is ever rewarded."""
    rng, shape = np.random.default_rng(seed), (lanes, ticks, agents)
    picture = np.zeros((lanes * ticks * agents, 8, 8, 1), np.uint8)
    picture[np.arange(len(picture)), rng.integers(0, 8, len(picture)), rng.integers(0, 8, len(picture))] = 255
    none = np.zeros(0, np.int32)
    return Segments(
        player="hero",
        incarnation=0,
        observation=picture.reshape(*shape, 8, 8, 1),
        mask=np.ones((*shape, 2), bool),
        action=rng.integers(0, 2, shape).astype(np.int32),
        log_prob=np.zeros(shape, np.float32),
        reward=np.zeros(shape, np.float32),
        end=np.full(shape, TERMINATED, np.uint8),
        present=np.ones(shape, bool),
        length=np.full(lanes, ticks, np.int32),
        version=np.zeros(lanes, np.int32),
        tail_lane=none,
        tail_tick=none,
        tail_agent=none,
        tail_observation=np.zeros((0, 8, 8, 1), np.uint8),
        tail_mask=np.zeros((0, 2), bool),
    )


def learned(algorithm, updates, agents=1):
    rng, losses = np.random.default_rng(0), []
    for seed in range(updates):
        segments = dots(seed, agents)
        losses.append(algorithm.update(Batch(segments, np.zeros(segments.decisions, np.int64), {}), rng)["losses/curl"])
    return losses


def test_pictures_are_told_apart_without_any_reward():
    config = DQNConfig(**ALGO, curl=1.0, curl_shift=1, curl_size=8, duelling=False, target_steps=5)
    algorithm = DQN(config, CNN, SPEC, initial(CNN, SPEC, 0))
    before = describe(CNN, SPEC).views(algorithm.flat())
    losses = learned(algorithm, 24)
    assert np.mean(losses[-6:]) < 0.9 * losses[0]
    after = describe(CNN, SPEC).views(algorithm.flat())
    assert np.abs(after["conv_0.weight"] - before["conv_0.weight"]).max() > 0.01


def test_what_only_the_learner_needs_is_in_its_state_and_not_in_the_weights():
    config = DQNConfig(**ALGO, curl=1.0, curl_shift=1, curl_size=8)
    algorithm = DQN(config, CNN, SPEC, initial(CNN, SPEC, 0))
    learned(algorithm, 2)
    state = algorithm.state()
    assert state["network.contrast.similarity"].shape == (8, 8)
    assert "target.contrast.project.weight" in state
    assert len(state["flat"]) == describe(CNN, SPEC).size
    other = DQN(config, CNN, SPEC, initial(CNN, SPEC, 1))
    other.restore(state)
    for name, array in other.state().items():
        np.testing.assert_array_equal(array, state[name])


def test_a_team_has_it_too():
    spec = EnvSpec("dots", ("a", "b"), (Seat((0, 1)),), Array((8, 8, 1), "uint8"), 2)
    config = VDNConfig(**ALGO, curl=1.0, curl_shift=1, curl_size=8)
    algorithm = VDN(config, CNN, spec, initial(CNN, spec, 0))
    assert all(np.isfinite(loss) and loss > 0 for loss in learned(algorithm, 2, agents=2))


def test_networks_without_convolutions_are_refused():
    with pytest.raises(ValueError, match=r"algo.curl=1 trains the convolutions of policy=cnn and resnet, not mlp"):
        DQNConfig(curl=1.0).refuse(PolicyConfig(head="values"))
    with pytest.raises(ValueError, match="curl_shift and curl_size at least 1"):
        DQNConfig(curl=1.0, curl_shift=0)
    DQNConfig(curl=1.0).refuse(replace(CNN, name="resnet"))
