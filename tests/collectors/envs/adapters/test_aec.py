"""AEC environments: endings of every kind, and the wrappers that are taken off."""

import numpy as np
import odd_envs as odd
import pettingzoo
from driving import begin, lowest, play
from pettingzoo.utils.wrappers import BaseWrapper

from collectors.envs.adapters.aec import strip
from collectors.envs.adapters.pettingzoo import adapt, make


def ends_of(build, seed=1):
    """Return (tick, agent, truncated, reward) of each END row of one episode."""
    told = play(adapt(build, 1), seed)
    assert [len(ends.over) for ends in told[:-1]] == [0] * (len(told) - 1)
    return [
        (tick, int(agent), bool(truncated), float(reward))
        for tick, ends in enumerate(told, start=1)
        for agent, truncated, reward in zip(ends.agent, ends.truncated, ends.reward, strict=True)
    ]


def test_an_agent_that_dies_has_its_end_at_once_and_the_episode_goes_on():
    ends = ends_of(odd.deaths)
    assert ends[0] == (4, 1, False, 1.5)  # 1 for its own move, 0.25 for each of two by others
    assert [(agent, truncated) for _, agent, truncated, _ in ends[1:]] == [(0, True), (2, True)]


def test_terminated_and_truncated_in_one_ending():
    ends = ends_of(odd.mixed_ending)
    assert [(tick, agent, truncated) for tick, agent, truncated, _ in ends] == [
        (7, 0, False),
        (7, 1, True),
        (7, 2, True),
    ]


def test_both_flags_mean_terminated():
    assert [truncated for _, _, truncated, _ in ends_of(odd.both_flags)] == [False, False]


def test_an_agent_that_never_acted_has_no_end():
    assert {agent for _, agent, _, _ in ends_of(odd.dies_before_it_acts)} == {0, 1}


def test_an_agent_that_is_born_late_begins_with_first():
    env = begin(adapt(odd.births, 1), 1)
    firsts = []
    while env.active:
        rows = env.rows()
        firsts += [(int(agent), bool(first)) for agent, first in zip(rows.agent, rows.first, strict=True)]
        env.step(lowest(rows))
    assert [agent for agent, first in firsts if first] == [0, 1, 2]
    assert firsts.index((2, True)) >= 4


def test_truncation_tells_the_final_observation():
    ends = play(make(1, "mpe2/simple_spread_v3", kwargs={"max_cycles": 3}), 5)[-1]
    assert ends.truncated.all()
    env = pettingzoo_final("simple_spread_v3", 5, 3)
    np.testing.assert_array_equal(ends.observation, np.stack([env[agent] for agent in sorted(env)]))


def pettingzoo_final(name, seed, cycles):
    module = __import__(f"mpe2.{name}", fromlist=["parallel_env"])
    env = module.parallel_env(max_cycles=cycles)
    env.reset(seed=seed)
    seen = {}
    while env.agents:
        seen = env.step(dict.fromkeys(env.agents, 0))[0]
    return seen


class DoubleReward(BaseWrapper):
    """A wrapper that changes the game: the adapter must keep it."""

    @property
    def rewards(self):
        return {agent: 2 * reward for agent, reward in self.env.rewards.items()}


def test_wrappers_that_only_check_are_taken_off():
    env = pettingzoo.make("aec", "classic/connect_four_v3")
    assert strip(env) is env.unwrapped


def test_wrappers_that_change_the_game_stay():
    def build():
        return DoubleReward(pettingzoo.make("aec", "classic/connect_four_v3"))

    env = build()
    assert strip(env) is env
    ends = play(adapt(build, 1), 1)[-1]
    assert sorted(ends.reward.tolist()) == [-2.0, 2.0]
