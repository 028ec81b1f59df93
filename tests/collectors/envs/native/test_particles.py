"""Particle worlds play step for step what mpe2 plays."""

import numpy as np
import pytest

from collectors.envs.adapters.pettingzoo import make
from collectors.envs.native.particles import SimpleSpread, SimpleTag

WORLDS = {"mpe2/simple_spread_v3": SimpleSpread, "mpe2/simple_tag_v3": SimpleTag}


def seek(rows, rng):
    """Choose moves that make agents meet: towards whoever comes last in what they see, and at random."""
    x, y = rows.observation[:, 8], rows.observation[:, 9]
    towards = np.where(np.abs(x) > np.abs(y), np.where(x > 0, 2, 1), np.where(y > 0, 4, 3))
    return np.where(rng.random(len(rows)) < 0.3, rng.integers(5, size=len(rows)), towards).astype(np.int32)


@pytest.mark.parametrize("id", WORLDS)
def test_particles(id):
    """The same seeds and actions: the same observations, rewards and ends, also where agents bump into each other."""
    slots, rng = 12, np.random.default_rng(0)
    native, zoo = WORLDS[id](slots=slots), make(slots=slots, id=id)
    assert (native.spec.agents, native.spec.seats) == (zoo.spec.agents, zoo.spec.seats)
    assert native.spec.signature == zoo.spec.signature
    paid = set()
    for env in (native, zoo):
        env.start(np.arange(slots, dtype=np.int32), np.arange(100, 100 + slots))
    while native.active:
        mine, theirs = native.rows(), zoo.rows()
        for name in ("slot", "agent", "mask", "first"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), strict=True)
        np.testing.assert_allclose(mine.observation, theirs.observation, atol=1e-5)
        np.testing.assert_allclose(mine.reward, theirs.reward, atol=1e-4)
        paid |= set(np.round(mine.reward).tolist())
        actions = seek(mine, rng)
        ends, expected = native.step(actions), zoo.step(actions)
        for name in ("slot", "agent", "truncated", "over"):
            np.testing.assert_array_equal(getattr(ends, name), getattr(expected, name))
        np.testing.assert_allclose(ends.reward, expected.reward, atol=1e-4)
        np.testing.assert_allclose(ends.observation, expected.observation, atol=1e-5)
    assert not zoo.active
    assert id.startswith("mpe2/simple_spread") or 10.0 in paid, "a prey was caught"


def test_the_state_of_particles_is_what_all_see():
    env = SimpleSpread(slots=2, state=True)
    env.start(np.arange(2, dtype=np.int32), np.arange(2))
    rows = env.rows()
    np.testing.assert_array_equal(rows.state[4], rows.observation[3:].reshape(-1))
    np.testing.assert_array_equal(env.spec.state.shape, rows.state.shape[1:])
