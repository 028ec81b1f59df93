"""Players whose network gives values: what they do, how often, and what they say of it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pytest

from collectors.acting import Acting
from collectors.actors import Actors
from collectors.envs.rows import Rows
from league.per_player import PerPlayer
from league.policies.exploration import epsilon_greedy, rates
from league.policies.layout import PolicyConfig, describe, initial
from league.policies.network_actor import actor_from_snapshot, make_actor
from league.policies.numpy_actor import NumpyActor
from league.spec import Array, EnvSpec, Seat

SPEC = EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=4)
POLICY = PolicyConfig(hidden=[8], head="values", epsilon=0.02)


@dataclass(frozen=True)
class Paper:
    policy: dict[str, Any]
    signature: str


def weights(epsilon=0.25, spread=0.0):
    flat = np.random.default_rng(0).standard_normal(describe(POLICY, SPEC).size).astype(np.float32)
    describe(POLICY, SPEC).views(flat)["exploration"][:] = (epsilon, spread)
    return flat


def positions(rows, seed=0):
    rng = np.random.default_rng(seed)
    mask = rng.random((rows, 4)) < 0.6
    mask[:, 2] = True
    return rng.standard_normal((rows, 3)).astype(np.float32), mask


def test_the_best_is_done_but_for_epsilon_shared_among_the_legal():
    values = np.array([[1.0, 5.0, 3.0, 9.0], [-3.0, -2.0, -1.0, 0.0]], np.float32)
    mask = np.array([[True, True, True, False], [True, False, False, False]])
    chance = np.exp(epsilon_greedy(values, mask, np.array([0.3, 0.5], np.float32)))
    np.testing.assert_allclose(chance, [[0.1, 0.8, 0.1, 0], [1, 0, 0, 0]], atol=1e-6)
    chance = np.exp(epsilon_greedy(values, mask, np.zeros(2, np.float32)))
    np.testing.assert_allclose(chance, [[0, 1, 0, 0], [1, 0, 0, 0]], atol=1e-6)


def test_play_is_drawn_as_told_and_its_log_probability_is_right():
    actor, rng = NumpyActor(POLICY, SPEC, weights(epsilon=0.4)), np.random.default_rng(0)
    seen, mask = (np.repeat(array, 5000, axis=0) for array in positions(3))
    actions, log_probs = actor.act(seen, mask, rng)
    assert mask[np.arange(len(mask)), actions].all()
    told = epsilon_greedy(actor.outputs(seen), mask, np.full(len(mask), 0.4, np.float32))
    np.testing.assert_allclose(log_probs, told[np.arange(len(mask)), actions], atol=1e-5)
    for i in range(3):
        part = slice(5000 * i, 5000 * (i + 1))
        counts = np.bincount(actions[part], minlength=4) / 5000
        np.testing.assert_allclose(counts, np.exp(told[part.start]), atol=0.03)


def test_fresh_weights_do_anything_and_frozen_ones_what_their_config_says():
    seen, mask = positions(2000)
    _, log_probs = NumpyActor(POLICY, SPEC, initial(POLICY, SPEC, 0)).act(seen, mask, np.random.default_rng(0))
    np.testing.assert_allclose(log_probs, -np.log(mask.sum(axis=1)), atol=1e-5)
    frozen = actor_from_snapshot({"flat": weights(0.9)}, Paper(asdict(POLICY), SPEC.signature), SPEC)
    actions, log_probs = frozen.act(seen, mask, np.random.default_rng(0))
    best = NumpyActor(POLICY, SPEC, weights(0.9), greedy=True).act(seen, mask, np.random.default_rng(0))[0]
    assert 0.97 < (actions == best).mean() < 1.0
    assert np.exp(log_probs.max()) > 0.97


def test_slots_spread_their_exploration_as_ape_x_does():
    exploration = np.array([0.4, 7.0], np.float32)
    found = rates(exploration, np.array([0, 0.5, 1], np.float32), 3)
    np.testing.assert_allclose(found, [0.4, 0.4**4.5, 0.4**8], rtol=1e-5)
    np.testing.assert_allclose(rates(exploration, None, 2), 0.4)


@pytest.mark.parametrize("others", [0, 5], ids=["alone", "among others"])
def test_a_collector_tells_each_row_its_slot(others):
    """With epsilon 0.5 and a spread of 99 the first slot explores and the last one never does."""
    slots, rounds = 2, 2000
    actors = Actors(SPEC, PerPlayer(POLICY), None, 0)
    actors.update_live("main", 0, weights(0.5, spread=99.0))
    for other in range(others):
        actors.update_live(f"other-{other}", 0, weights(1.0))
    acting = Acting(SPEC, slots, actors, np.random.default_rng(0))
    seen, _ = positions(1)
    rows = slots * rounds
    numbers = np.arange(rows) // slots % (others + 1)
    acted = acting.act(
        Rows(
            slot=(np.arange(rows) % slots).astype(np.int32),
            agent=np.zeros(rows, np.int32),
            observation=np.repeat(seen, rows, axis=0),
            mask=np.ones((rows, 4), np.bool_),
            reward=np.zeros(rows, np.float32),
            first=np.zeros(rows, np.bool_),
        ),
        numbers.astype(np.int16),
    )
    same = acted.actions == actors[0].outputs(seen).argmax()
    mine = numbers == 0
    assert same[1::2][mine[1::2]].all()
    assert same[::2][mine[::2]].mean() == pytest.approx(0.5 + 0.5 / 4, abs=0.06)
    np.testing.assert_allclose(acted.log_probs[1::2][mine[1::2]], 0, atol=1e-6)


def test_values_need_one_choice():
    several = EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=5, choices=(2, 3), continuous=1)
    with pytest.raises(ValueError, match=r"'toy' has choices \[2, 3\] and 1 continuous numbers. Use algo=ppo"):
        describe(POLICY, several)
    with pytest.raises(ValueError, match=r"policy.head: unknown 'q'"):
        PolicyConfig(head="q")
    with pytest.raises(ValueError, match=r"policy.epsilon must be between 0 and 1"):
        PolicyConfig(epsilon=1.5)


NUMBERS = EnvSpec("reach", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=0, continuous=2)
ACTING = PolicyConfig(hidden=[8], head="actions", critic="none")


def acting(noise, spread=0.0):
    flat = initial(ACTING, NUMBERS, 0)
    views = describe(ACTING, NUMBERS).views(flat)
    views["exploration"][:] = (noise, spread)
    views["policy.bias"][:] = (0.2, -0.4)
    return flat


@pytest.mark.parametrize("act_in", ["numpy", "torch"])
def test_noise_is_added_to_actions_in_collectors_and_nowhere_else(act_in):
    seen, mask = np.zeros((20_000, 3), np.float32), np.ones((20_000, 0), bool)
    wanted = np.tanh([0.2, -0.4])
    actions, _ = make_actor(ACTING, NUMBERS, acting(0.1), act_in=act_in).act(seen, mask, np.random.default_rng(0))
    np.testing.assert_allclose(actions.mean(axis=0), wanted, atol=0.005)
    np.testing.assert_allclose(actions.std(axis=0), 0.1, atol=0.003)
    frozen = actor_from_snapshot(
        {"flat": acting(0.1)}, Paper(asdict(ACTING), NUMBERS.signature), NUMBERS, act_in=act_in
    )
    greedy = make_actor(ACTING, NUMBERS, acting(0.1), greedy=True, act_in=act_in)
    for still in (frozen, greedy):
        found, _ = still.act(seen[:3], mask[:3], np.random.default_rng(0))
        np.testing.assert_allclose(found, np.tile(wanted, (3, 1)), atol=1e-6)


def test_slots_differ_in_their_noise():
    share = np.repeat([0.0, 1.0], 5000).astype(np.float32)
    seen, mask = np.zeros((10_000, 3), np.float32), np.ones((10_000, 0), bool)
    actor = NumpyActor(ACTING, NUMBERS, acting(0.2, spread=1.0))
    actions, _ = actor.act(seen, mask, np.random.default_rng(0), share=share)
    assert actions[:5000].std(axis=0) == pytest.approx([0.2, 0.2], rel=0.05)
    assert actions[5000:].std(axis=0) == pytest.approx([0.04, 0.04], rel=0.05)


def test_a_network_that_outputs_actions_needs_continuous_ones():
    with pytest.raises(ValueError, match=r"policy.head=actions: .* the actions of 'toy' are one choice"):
        describe(ACTING, SPEC)
