"""A small league that was really played, once for all tests that read a run."""

import shutil

import pytest

from launch.config import Config, to_plain
from launch.inline import play
from league.rulebook import PlayerConfig
from league.store.run_directory import RunDirectory


def small_config(env="tic_tac_toe"):
    config = Config(name="first")
    config.env.name = env
    config.policy.hidden = [8]
    config.league.players = {
        "main": PlayerConfig(kind="main"),
        "exploiter": PlayerConfig(kind="main_exploiter"),
        "random": PlayerConfig(kind="scripted", bot="random", anchor=0.0),
    }
    config.league.budget.env_steps = 3000
    config.league.evaluation.final_games = 16
    config.league.promotion.min_decisions = 200
    config.league.promotion.max_decisions = 400
    config.collector.slots = 16
    config.collector.record_share = 0.1
    config.algo["batch"] = 256
    config.learner.candidate_decisions = 256
    return config


@pytest.fixture(scope="session")
def played(tmp_path_factory):
    """Return the run directory and the final state of a league; nobody may change them."""
    config = small_config()
    run = RunDirectory(tmp_path_factory.mktemp("runs") / "first").create()
    run.write_config(to_plain(config))
    return run, play(config, run)


@pytest.fixture
def run(played, tmp_path):
    """Return a copy of the run, to change at will."""
    shutil.copytree(played[0].root, tmp_path / "first")
    return RunDirectory(tmp_path / "first")


@pytest.fixture
def state(played):
    return played[1]
