"""Gymnasium environments: one agent, one seat."""

import gymnasium
import numpy as np
import pytest
from driving import begin, open_env, play

from league.plugins import PluginError


def test_a_single_agent_has_one_seat_and_is_paid_what_gymnasium_pays():
    env = open_env("gymnasium", "CartPole-v1")
    assert env.spec.seats[0].agents == (0,)
    assert env.spec.cooperative
    raw = gymnasium.make("CartPole-v1")
    seen, _ = raw.reset(seed=3)
    begin(env, 3)
    total = paid = 0.0
    over = False
    while not over:
        rows = env.rows()
        np.testing.assert_array_equal(rows.observation[0], seen)
        paid += float(rows.reward[0])
        ends = env.step(np.array([1], np.int32))
        seen, reward, terminated, truncated, _ = raw.step(1)
        total += float(reward)
        over = terminated or truncated
        assert (len(ends.over) == 1) == over
    assert paid + float(ends.reward[0]) == total
    assert not ends.truncated[0]


def test_truncation_is_told_with_the_final_observation():
    env = open_env("gymnasium", "Pendulum-v1", kwargs={"max_episode_steps": 3})
    assert (env.spec.actions, env.spec.continuous) == (0, 1)
    ends = play(env, 1, choose=lambda rows: np.zeros((len(rows), 1), np.float32))[-1]
    assert ends.truncated.tolist() == [True]
    assert ends.observation.any()


def test_masks_of_gymnasium_are_in_the_info():
    rows = begin(open_env("gymnasium", "Taxi-v4"), 1).rows()
    raw = gymnasium.make("Taxi-v4")
    assert rows.mask[0].tolist() == raw.reset(seed=1)[1]["action_mask"].astype(bool).tolist()


def test_an_unknown_gymnasium_environment():
    with pytest.raises(PluginError, match="unknown Gymnasium environment 'CartPole-v99'"):
        open_env("gymnasium", "CartPole-v99")
