"""Atari games: the usual preprocessing, and ALE's batches against Gymnasium's wrappers."""

import numpy as np
import pytest
from driving import begin, open_env

from collectors.envs.adapters.adapter import Adapter
from collectors.envs.adapters.atari import Atari, make
from league.plugins import PluginError


def test_atari_has_the_usual_preprocessing():
    env = begin(open_env("atari", "ALE/Pong-v5", kwargs={"max_num_frames_per_episode": 200}), 1)
    assert (env.spec.observation.shape, env.spec.observation.dtype, env.spec.actions) == ((84, 84, 4), "uint8", 6)
    first = env.rows().observation[0]
    env.step(np.array([0], np.int32))
    second = env.rows().observation[0]
    np.testing.assert_array_equal(first[..., 1:], second[..., :-1])  # the newest picture is the last
    env.close()


@pytest.mark.parametrize(
    ("game", "size"),
    [
        ("Pong", 42),
        pytest.param("Pong", 84, marks=pytest.mark.slow),
        pytest.param("Breakout", 84, marks=pytest.mark.slow),
    ],
)
def test_ale_plays_many_games_as_the_wrappers_play_one(game, size):
    kwargs = {"repeat_action_probability": 0.0, "noop_max": 0, "screen_size": size, "max_num_frames_per_episode": 600}
    many = make(3, f"ALE/{game}-v5", kwargs)
    one = make(1, f"ALE/{game}-v5", kwargs | {"difficulty": 0})  # which ALE's batches lack
    assert (type(many), type(one)) == (Atari, Adapter)
    assert many.spec == one.spec
    rng = np.random.default_rng(0)
    for _ in range(2):
        begin(one, 1)
        many.start(np.array([1, 0], np.int32), np.array([5, 6]))  # two of three slots
        for tick in range(10_000):
            rows, alone = many.rows(), one.rows()
            assert rows.slot.tolist() == [0, 1]
            assert rows.first.tolist() == [tick == 0] * 2
            for row in range(2):
                np.testing.assert_array_equal(rows.observation[row], alone.observation[0])
                assert rows.reward[row] == alone.reward[0]
            action = rng.integers(many.spec.actions, dtype=np.int32)
            ends, end = many.step(np.full(2, action, np.int32)), one.step(np.array([action], np.int32))
            assert len(ends.over) == 2 * len(end.over)
            if len(end.over):
                break
        if end.truncated[0]:  # else nobody reads it
            np.testing.assert_array_equal(ends.observation, end.observation.repeat(2, axis=0))
        assert ends.truncated.tolist() == end.truncated.tolist() * 2
        assert ends.reward.tolist() == end.reward.tolist() * 2
    many.close()
    one.close()


def test_what_ale_cannot_play_at_once_is_played_one_by_one():
    for kwargs in ({"terminal_on_life_loss": True}, {"difficulty": 1}, {"render_mode": "rgb_array"}):
        env = make(1, "ALE/Pong-v5", kwargs)
        assert isinstance(env, Adapter)
        env.close()


def test_an_unknown_atari_game():
    with pytest.raises(PluginError, match="unknown Atari game 'ALE/Pongg-v5'"):
        open_env("atari", "ALE/Pongg-v5")
