"""The disc game: one move, a ladder and a circle."""

import numpy as np
import pytest

from collectors.envs.native.disc import DiscGame, disc_payoffs


def test_one_tick_is_an_episode():
    env = DiscGame(slots=2, levels=2, angles=3)
    env.start(np.array([0, 1], np.int32), np.array([1, 2]))
    assert env.rows().first.all()
    ends = env.step(np.array([3, 0, 1, 0], np.int32))
    assert ends.over.tolist() == [0, 1]
    assert not ends.truncated.any()
    turned = np.float32(np.sin(2 * np.pi / 3) / 2)
    assert ends.reward == pytest.approx([0.5, -0.5, turned, -turned])
    assert not env.active


@pytest.mark.parametrize(("levels", "angles", "transitive"), [(1, 3, 0.0), (3, 5, 0.5), (4, 7, 0.2)])
def test_the_equilibrium_is_the_top_level_with_all_angles_equally_often(levels, angles, transitive):
    table = disc_payoffs(levels, angles, transitive)
    assert (table == -table.T).all()
    equilibrium = np.zeros(levels * angles)
    equilibrium[-angles:] = 1 / angles
    gains = table @ equilibrium
    assert gains.max() == pytest.approx(0.0, abs=1e-6)
    for level in range(levels - 1):  # every lower level loses against it
        assert gains[level * angles : (level + 1) * angles].max() < 0


def test_every_pure_action_is_beaten():
    table = disc_payoffs(3, 5, 0.5)
    assert (table.max(axis=0) > 0.4).all()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [({"angles": 4}, "odd"), ({"levels": 0}, "levels must be at least 1"), ({"transitive": 2.0}, "between 0 and 1")],
)
def test_impossible_settings_are_refused(kwargs, message):
    with pytest.raises(ValueError, match=message):
        DiscGame(slots=1, **kwargs)


def test_render():
    env = DiscGame(slots=1)
    env.start(np.array([0], np.int32), np.array([1]))
    assert env.render(0) == "nobody has moved"
    env.step(np.array([14, 2], np.int32))
    assert env.render(0) == "level 2 angle 4 v level 0 angle 2"
