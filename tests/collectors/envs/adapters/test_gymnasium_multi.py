"""Gymnasium environments with tuples of agents."""

import numpy as np
import pytest
from driving import open_env, play

from collectors.check import check
from collectors.envs.config import EnvConfig, EnvError, make_environment
from league.plugins import PluginError

pytestmark = pytest.mark.filterwarnings("ignore")  # both packages have old habits


@pytest.mark.parametrize(
    ("id", "kwargs", "agents", "seats"),
    [
        ("Foraging-5x5-2p-1f-v3", {"max_episode_steps": 10}, 2, 2),
        ("rware-tiny-2ag-v2", {"max_steps": 10}, 2, 1),
    ],
)
def test_known_packages_need_no_permission(id, kwargs, agents, seats):
    report = check(EnvConfig(name="gymnasium_multi", id=id, kwargs=kwargs), slots=2, episodes=2)
    assert report.fit, report.lines()
    assert (len(report.spec.agents), len(report.spec.seats)) == (agents, seats)
    assert report.spec.cooperative


def test_every_agent_gets_its_own_reward():
    env = open_env("gymnasium_multi", "foreign_games:Pair", allow=["foreign_games"])
    *_, last = play(env, 1)
    assert dict(zip(last.agent.tolist(), last.reward.tolist(), strict=True)) == {0: 1.0, 1: 2.0}
    assert last.truncated.all()
    report = check(EnvConfig(name="gymnasium_multi", id="foreign_games:Pair"), allow=["foreign_games"], episodes=2)
    assert report.fit, report.lines()


def pair(**kwargs):
    return open_env("gymnasium_multi", "foreign_games:Pair", allow=["foreign_games"], kwargs=kwargs)


@pytest.mark.parametrize("form", [list, tuple, np.array])
def test_flags_for_each_agent_end_an_episode_when_all_are_set(form):
    *before, last = play(pair(cut=lambda steps: form([steps >= 3, steps >= 3])), 9)
    assert [len(ends.over) for ends in before] == [0, 0]
    assert last.truncated.tolist() == [True, True]


@pytest.mark.parametrize("form", [list, np.array])
def test_an_end_of_some_agents_is_a_fault_that_says_so(form):
    *_, last = play(pair(cut=lambda steps: form([steps >= 2, steps >= 4])), 9)
    (fault,) = last.faults
    assert "it ended the episode for ['agent_0'], but not for all of ['agent_0', 'agent_1']" in fault.reason
    assert "End it for all agents at once, or make it a ParallelEnv" in fault.reason


@pytest.mark.parametrize(
    ("paid", "shown"), [(3.0, "3.0"), ({0: 1.0, 1: 2.0}, "{0: 1.0, 1: 2.0}"), ("12", "'12'"), ([1.0], "[1.0]")]
)
def test_rewards_that_are_no_list_are_a_fault_that_says_so(paid, shown):
    (fault,) = play(pair(paid=paid), 1)[0].faults
    assert f"it gave {shown} as rewards; expected a list with one for each of ['agent_0', 'agent_1']" in fault.reason


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({0: False, 1: True}, "it gave {0: False, 1: True} as truncated; expected a list with one for each of"),
        (["no", "no"], "it gave ['no', 'no'] as truncated; expected true or false, or a list with one for each agent"),
        ([True], "it gave [True] as truncated; expected a list with one for each of"),
    ],
)
def test_flags_that_are_none_are_a_fault_that_says_so(flags, message):
    (fault,) = play(pair(cut=lambda _: flags), 9)[0].faults
    assert message in fault.reason


def test_one_agent_is_for_the_other_backend():
    with pytest.raises(EnvError, match=r"tuples with a part for each agent.*For one agent: env=gymnasium"):
        make_environment(EnvConfig(name="gymnasium_multi", id="CartPole-v1"), 1)


def test_files_and_strangers_are_refused():
    with pytest.raises(PluginError, match="may lead gymnasium to a file"):
        make_environment(EnvConfig(name="gymnasium_multi", id="rware-tiny-2ag-v2", kwargs={"layout_path": "x"}), 1)
    with pytest.raises(PluginError, match="not allowed"):
        make_environment(EnvConfig(name="gymnasium_multi", id="foreign_games:Slow"), 1)
