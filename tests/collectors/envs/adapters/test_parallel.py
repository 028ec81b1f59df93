"""Parallel environments: deaths and births, and a cycle of an AEC environment as one step."""

import odd_envs as odd
import pettingzoo
import pytest
from driving import begin, play

from collectors.envs.adapters.observation_spaces import BrokenError
from collectors.envs.adapters.parallel import ParallelRounds
from collectors.envs.adapters.pettingzoo import adapt


def test_an_agent_that_dies_has_its_end_at_once():
    ends = play(adapt(odd.parallel_deaths, 1), 1)
    assert sum(len(one.slot) for one in ends) == 3
    assert [len(one.over) for one in ends] == [0] * (len(ends) - 1) + [1]
    assert any(len(one.slot) for one in ends[:-1])


def test_all_agents_act_in_one_tick():
    assert begin(adapt(odd.OddParallel, 2), 1, 2).rows().slot.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_cycle_of_an_aec_environment_is_one_step():
    rounds = ParallelRounds(pettingzoo.make("aec", "classic/rps_v2", max_cycles=2).unwrapped)
    seen, _ = rounds.reset(seed=1)
    assert set(seen) == {"player_0", "player_1"}
    _, rewards, _, truncated, _ = rounds.step({"player_0": 0, "player_1": 1})
    assert rewards == {"player_0": -1, "player_1": 1}
    assert not any(truncated.values())


def test_agents_out_of_order_are_a_fault():
    rounds = ParallelRounds(odd.OddAec())
    rounds.reset(seed=1)
    rounds.agents.reverse()
    with pytest.raises(BrokenError, match="should act next, but the environment selects 'walker_0'"):
        rounds.step(dict.fromkeys(rounds.agents, 0))
