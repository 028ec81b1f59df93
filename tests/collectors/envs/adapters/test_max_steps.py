"""`env.max_steps`: episodes that are truncated from outside, with the final observation of every agent."""

import numpy as np
import pytest
from driving import begin, lowest, open_env

from collectors.check import check
from collectors.envs.config import EnvConfig


def opened(id, steps, name="pettingzoo", slots=1, **settings):
    return open_env(name, id, slots, allow=["foreign_games", "odd_envs"], max_steps=steps, **settings)


def last_of(env, *seeds):
    """Play one episode in each slot; return the Ends in which the first is over, and the steps until then."""
    begin(env, *seeds)
    for steps in range(1, 1000):
        ends = env.step(lowest(env.rows()))
        assert ends.faults == ()
        if len(ends.over):
            return ends, steps
    raise AssertionError


def test_agents_that_move_in_turns_are_truncated_with_what_they_see_and_are_owed():
    ends, steps = last_of(opened("foreign_games:Unending", 5), 1)
    assert (steps, ends.over.tolist()) == (5, [0])
    assert ends.truncated.all()
    # walker_0 moved last, in step 5, and got 1; walker_1 moved in step 4 and got 1 + 0.25.
    assert dict(zip(ends.agent.tolist(), ends.reward.tolist(), strict=True)) == {0: 1.0, 1: 1.25}
    assert ends.observation[:, 0].tolist() == [5.0, 5.0], "the final observation comes after the last move"


def test_agents_that_move_at_once_are_truncated_with_what_they_see():
    ends, steps = last_of(opened("odd_envs:Endless", 7), 1)
    assert (steps, ends.truncated.tolist(), ends.reward.tolist()) == (7, [True, True], [0.5, 0.5])
    assert ends.observation[:, 0].tolist() == [7.0, 7.0]


def test_an_openspiel_game_is_truncated():
    ends, steps = last_of(opened("tic_tac_toe", 3, "openspiel"), 1)
    assert (steps, ends.truncated.tolist(), ends.reward.tolist()) == (3, [True, True], [0.0, 0.0])
    assert ends.observation[0].any()


def test_an_agent_that_never_acted_has_no_end():
    ends, _ = last_of(opened("foreign_games:Unending", 1), 1)
    assert ends.agent.tolist() == [0]


def test_slots_are_counted_apart_and_begin_again():
    env = begin(opened("odd_envs:Endless", 3, slots=2), 1)
    over = []
    for tick in range(8):
        ends = env.step(lowest(env.rows()))
        over += [(tick, slot) for slot in ends.over.tolist()]
        if tick == 0:
            env.start(np.array([1]), np.array([2]))
        env.start(ends.over, np.full(len(ends.over), 3))
    assert over == [(2, 0), (3, 1), (5, 0), (6, 1)]


def test_an_episode_that_ends_by_itself_is_left_alone():
    ends, steps = last_of(opened("classic/tictactoe_v3", 500), 1)
    assert steps <= 9
    assert not ends.truncated.any()


@pytest.mark.parametrize("id", ["foreign_games:Unending", "odd_envs:Endless", "classic/connect_four_v3"])
def test_a_truncated_environment_is_fit_and_pays_what_its_own_loop_pays(id):
    env = EnvConfig(name="pettingzoo", id=id, max_steps=6)
    report = check(env, slots=2, allow=["foreign_games", "odd_envs"], episodes=3)
    assert report.fit, report.lines()
    assert (report.episodes, report.deterministic) == (3, True)


def test_games_of_ludus_and_negative_limits_are_refused():
    with pytest.raises(ValueError, match=r"env\.max_steps is only for env\.name=pettingzoo"):
        EnvConfig(name="connect_four", max_steps=10)
    with pytest.raises(ValueError, match=r"env\.max_steps must be 0"):
        EnvConfig(name="pettingzoo", id="classic/rps_v2", max_steps=-1)
