"""Leagues on environments of PettingZoo that people try first: each plays, learns and ends."""

import pytest

from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from launch.start import rehearse
from launch.verify.verify import verify
from league.state import OVER
from league.store.run_directory import RunDirectory

SMALL = [
    "env=pettingzoo", "launch=inline", "launch.collectors=1", "collector.slots=2", "collector.flush_decisions=16",
    "policy.hidden=[8]", "algo.batch=32", "algo.minibatch=32", "algo.epochs=1", "learner.candidate_decisions=64",
    "league.evaluation.final_games=2", "league.evaluation.episodes=2", "league.episodes=2",
    "league.budget.minutes=null",
]  # fmt: skip
SHRINK = """
from gymnasium.spaces import Box
from pettingzoo.utils import BaseParallelWrapper


class Shrink(BaseParallelWrapper):
    def observation_space(self, agent):
        height, width, _ = self.env.observation_space(agent).shape
        return Box(0, 255, (-(-height // 10), -(-width // 10)), "uint8")

    def reset(self, seed=None, options=None):
        seen, infos = self.env.reset(seed=seed, options=options)
        return {agent: shrunk(one) for agent, one in seen.items()}, infos

    def step(self, actions):
        seen, *rest = self.env.step(actions)
        return {agent: shrunk(one) for agent, one in seen.items()}, *rest


def shrunk(picture):
    return picture[::10, ::10].mean(axis=2).astype("uint8")
"""


def walk(tmp_path, *overrides, allow=()):
    config = compose([*SMALL, *overrides])
    rehearse(config, allow)
    run = RunDirectory(tmp_path / "run").create()
    run.write_config(to_plain(config))
    state = play(config, run, allow)
    assert (state.phase, state.voids) == (OVER, 0)
    assert verify(run) == 0
    assert all(state.candidate(player.id).decisions > 0 for player in state.population.learning())
    return state


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_knights_archers_zombies(tmp_path):
    state = walk(
        tmp_path,
        "env.id=butterfly/knights_archers_zombies_v11",
        "env.kwargs.max_cycles=40",
        "league=cooperative",
        "league.budget.env_steps=300",
    )
    assert state.env.cooperative
    assert {str(player.id) for player in state.population.learning()} == {"main_archer", "main_knight"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_cooperative_pong_in_small_pictures(tmp_path, monkeypatch):
    (tmp_path / "shrinking.py").write_text(SHRINK)
    monkeypatch.syspath_prepend(str(tmp_path))
    state = walk(
        tmp_path,
        "env.id=butterfly/cooperative_pong_v6",
        "env.kwargs.max_cycles=40",
        "env.wrappers=[shrinking:Shrink]",
        "league=cooperative",
        "policy=cnn",
        "league.budget.env_steps=300",
        allow=["shrinking"],
    )
    assert state.env.observation.shape == (28, 48), "a grey picture needs no axis for its plane"
    assert (state.env.cooperative, len(state.env.seats)) == (True, 2)


def test_simple_adversary(tmp_path):
    state = walk(tmp_path, "env.id=mpe2/simple_adversary_v3", "league=pfsp", "league.budget.env_steps=300")
    assert state.env.sides == (0, 1)
    assert {str(player.id) for player in state.population.learning()} == {"main_adversary", "main_agent"}
