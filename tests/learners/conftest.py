"""A game to learn from without an environment: a hint is shown, and the action that equals it is rewarded."""

import numpy as np
import pytest
import torch
from learner_world import HERO, World

from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.segment import CONTINUES, CUT, TERMINATED, Segments
from league.spec import Array, EnvSpec, Seat

HINTS = 4


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def spec():
    return EnvSpec(
        name="hints",
        agents=("a",),
        seats=(Seat(agents=(0,)),),
        observation=Array(shape=(HINTS,), dtype="float32"),
        actions=HINTS,
    )


@pytest.fixture
def policy():
    return PolicyConfig(hidden=[16])


@pytest.fixture
def play(spec, policy):
    """Play one-decision episodes with these weights; the last decision of each lane is cut."""

    def run(flat, lanes=8, ticks=4, *, seed=0, version=0, incarnation=0, player="hero"):
        rng = np.random.default_rng(seed)
        hint = rng.integers(0, HINTS, (lanes, ticks, 1))
        observation = np.eye(HINTS, dtype=np.float32)[hint]
        mask = rng.random((lanes, ticks, 1, HINTS)) < 0.7
        np.put_along_axis(mask, hint[..., None], True, axis=-1)
        actor = NumpyActor(policy, spec, flat)
        action, log_prob = actor.act(observation.reshape(-1, HINTS), mask.reshape(-1, HINTS), rng)
        action, log_prob = (array.reshape(lanes, ticks, 1) for array in (action, log_prob))
        end = np.full((lanes, ticks, 1), TERMINATED, dtype=np.uint8)
        end[:, 0] = CONTINUES
        end[:, -1] = CUT
        tails = np.arange(lanes, dtype=np.int32)
        return Segments(
            player=player,
            incarnation=incarnation,
            observation=observation,
            mask=mask,
            action=action,
            log_prob=log_prob,
            reward=(action == hint).astype(np.float32),
            end=end,
            present=np.ones((lanes, ticks, 1), dtype=bool),
            length=np.full(lanes, ticks, dtype=np.int32),
            version=np.full(lanes, version, dtype=np.int32),
            tail_lane=tails,
            tail_tick=np.full(lanes, ticks - 1, dtype=np.int32),
            tail_agent=np.zeros(lanes, dtype=np.int32),
            tail_observation=np.eye(HINTS, dtype=np.float32)[rng.integers(0, HINTS, lanes)],
            tail_mask=np.ones((lanes, HINTS), dtype=bool),
        )

    return run


@pytest.fixture
def fresh(spec, policy):
    return initial(policy, spec, seed=1)


@pytest.fixture
def world(tmp_path, spec, policy):
    return World(tmp_path, spec, policy)


@pytest.fixture
def hero(world):
    """A world in which the hero trains and one collector has its first weights."""
    world.run(HERO, steps=3)
    collector = world.collector()
    collector.pull()
    world.run(HERO)
    collector.hear()
    return world, collector
