"""Wrappers by name."""

import pytest
from driving import open_env, play

from collectors.envs.config import EnvError
from league.plugins import PluginError

WRAPPERS = """
from pettingzoo.utils.wrappers import BaseWrapper
import gymnasium

class Double(BaseWrapper):
    factor = 2
    def __init__(self, env, factor=2):
        super().__init__(env)
        self.factor = factor
    @property
    def rewards(self):
        return {agent: self.factor * reward for agent, reward in self.env.rewards.items()}

def nothing(env):
    return None

def broken(env):
    raise KeyError("no such thing")

def short(env):
    return gymnasium.wrappers.TimeLimit(env, 2)
"""


@pytest.fixture
def wrappers(tmp_path, monkeypatch):
    (tmp_path / "userwrap.py").write_text(WRAPPERS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("wrappers")
def test_wrappers_by_name_with_and_without_arguments():
    names = ["userwrap:Double", ["userwrap:Double", {"factor": 3}]]
    env = open_env("pettingzoo", "classic/tictactoe_v3", allow=["userwrap"], wrappers=names)
    assert sorted(play(env, 1)[-1].reward.tolist()) == [-6, 6]


@pytest.mark.usefixtures("wrappers")
def test_wrappers_of_gymnasium():
    env = open_env("gymnasium", "CartPole-v1", allow=["userwrap"], wrappers=["userwrap:short"])
    assert len(play(env, 1)) == 2


@pytest.mark.usefixtures("wrappers")
@pytest.mark.parametrize(
    ("wrapper", "message"),
    [
        ("userwrap:nothing", "'userwrap:nothing' returned a NoneType, but a wrapper must return an environment"),
        ("userwrap:broken", "'userwrap:broken' raised KeyError"),
        ("userwrap:missing", "cannot load 'userwrap:missing'"),
        (["userwrap:Double", {"size": 3}], "'userwrap:Double' raised TypeError.*'size'"),
        ("doubel", "unknown wrapper 'doubel'"),
        (["a:b", "c:d"], "env.wrappers: cannot read"),
        (3, "env.wrappers: cannot read 3"),
        ("os:system", "--allow os"),
    ],
)
def test_wrong_wrappers_are_one_clear_line(wrapper, message):
    with pytest.raises((EnvError, PluginError), match=message) as caught:
        open_env("pettingzoo", "classic/tictactoe_v3", allow=["userwrap"], wrappers=[wrapper])
    assert "\n" not in str(caught.value)
