"""A small league that was really played, once for all tests that read a run."""

import shutil

import pytest
from shipped_kinds import shipped_kinds

from launch.config.config import Config, stored, to_plain
from launch.processes.inline import play
from launch.viewers.curves import Curves
from launch.viewers.view import read_offline
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
    config.league.kinds = shipped_kinds()
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


@pytest.fixture(scope="session")
def kuhn(tmp_path_factory):
    """Return the run of a small league that played Kuhn poker, with mixtures; nobody may change it."""
    config = Config(name="kuhn")
    config.env.name, config.env.id = "openspiel", "kuhn_poker"
    config.policy.hidden = [8]
    config.league.players = {
        "main": PlayerConfig(kind="main"),
        "random": PlayerConfig(kind="scripted", bot="random", anchor=0.0),
        "blend": PlayerConfig(kind="mixture", members=["main.*", "random"], shares=[0.75, 0.25]),
        "late": PlayerConfig(kind="mixture", members=["main.999"]),
    }
    config.league.exploit_every = 3
    config.league.budget.env_steps = 2500
    config.league.evaluation.final_games = 16
    config.league.promotion.min_decisions = 100
    config.league.promotion.max_decisions = 200
    config.collector.slots = 16
    config.algo["batch"] = 128
    config.learner.candidate_decisions = 128
    run = RunDirectory(tmp_path_factory.mktemp("runs") / "kuhn").create()
    run.write_config(to_plain(config))
    play(config, run)
    return run


@pytest.fixture
def run(played, tmp_path):
    """Return a copy of the run, to change at will."""
    shutil.copytree(played[0].root, tmp_path / "first")
    return RunDirectory(tmp_path / "first")


@pytest.fixture
def drawn(run):
    """Return a copy of the run that is drawn often enough to have some rows."""
    config = stored(run)
    config.track.every = 4
    run.write_config(to_plain(config))
    return run


@pytest.fixture(scope="session")
def rows_of():
    """Return a function that returns the rows of all curves of a run."""

    def rows_of(run):
        rows = []
        curves = Curves(stored(run).track, rows.append)
        read_offline(run, watcher=curves)
        return rows

    return rows_of


@pytest.fixture(scope="session")
def bid(tmp_path_factory):
    """Return the run directory of a league in a game of three sides; nobody may change it."""
    config = small_config("bidding:Bidding")
    config.league.budget.env_steps = 300
    run = RunDirectory(tmp_path_factory.mktemp("runs") / "bidding").create()
    run.write_config(to_plain(config))
    play(config, run, allow=["bidding"])
    return run


@pytest.fixture
def state(played):
    return played[1]


@pytest.fixture
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDUS_TRACEBACK", raising=False)
