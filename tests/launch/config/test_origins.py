"""Where the values of a config come from, and how it is shown."""

import doctest
import json

import pytest

from launch.cli import main
from launch.config import origins
from launch.config.compose import compose, compose_layers
from launch.config.config import from_plain, to_plain
from launch.config.origins import Layer, as_columns, below, origin, settings
from launch.config.schema import leaves

EXPERIMENT = "conf/experiment/connect_four.yaml"


def sources(*overrides, config_dir=None):
    config, layers = compose_layers(overrides, config_dir=config_dir)
    return {setting.key: setting.source for setting in settings(config, layers)}


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(origins).failed == 0


def test_a_value_is_of_the_last_layer_that_sets_it():
    layers = [Layer("a", below("", {"algo": {"lr": 1, "name": "ppo"}})), Layer("b", below("algo", {"lr": 2}))]
    assert [origin(key, layers) for key in ("algo.lr", "algo.name", "algo.clip")] == ["b", "a", None]


def test_every_kind_of_source_is_told():
    found = sources("league=pfsp", "algo.lr=0.1", "+league.players.second={kind: main}", "launch=slurm/cluster")
    assert found["algo.lr"] == found["league.players.second.kind"] == "command line"
    assert found["league.players.second.rate"] == found["seed"] == found["algo.gamma"] == "default"
    assert found["league.matchmaking.name"] == "conf/league/pfsp.yaml"
    assert found["league.matchmaking.self_play"] == found["algo.batch"] == EXPERIMENT
    assert found["policy.name"] == "conf/policy/board_conv.yaml", "the experiment chooses it"
    assert found["launch.transport"] == "conf/launch/slurm.yaml"
    assert found["launch.learners"] == "conf/launch/slurm/cluster.yaml"


def test_an_algorithm_of_ones_own_choice_does_not_have_the_settings_of_the_experiment():
    found = sources("algo=dqn", "algo.gamma=0.9")
    assert (found["algo.name"], found["algo.gamma"]) == ("conf/algo/dqn.yaml", "command line")
    assert found["algo.batch"] == "default"
    assert found["policy.head"] == "conf/algo/dqn.yaml"


def test_options_of_an_environment_and_of_a_player_are_told():
    own = "+league.players.main.policy={hidden: [8]}"
    found = sources("env=pettingzoo", "env.id=x/y_v0", "env.kwargs.size=3", "league=pfsp", own)
    assert found["env.kwargs.size"] == found["league.players.main.policy.hidden"] == "command line"


@pytest.mark.parametrize(
    "override", ["env=tic_tac_toe", "experiment=pong", "algo=mappo", "track=wandb", "experiment=null"]
)
def test_who_changes_a_value_is_its_source(override):
    """Every value that differs from the defaults of the code has a source, whichever option is chosen."""
    config, layers = compose_layers([override])
    plain = dict(leaves(to_plain(from_plain({"algo": {"name": config.algo["name"]}}))))
    for one in settings(config, layers):
        if one.source == "default" and not one.key.startswith(("league.players.", "league.kinds.")):
            assert plain[one.key] == one.value, one


def test_a_file_of_the_user_is_named_by_its_path(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine" / "experiment" / "quick.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("# @package _global_\nseed: 4\n")
    assert sources("experiment=quick", config_dir=path.parents[1])["seed"] == "mine/experiment/quick.yaml"
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert sources("experiment=quick", config_dir=path.parents[1])["seed"] == str(path)


def test_columns_stand_below_each_other():
    config, layers = compose_layers([])
    lines = as_columns(list(settings(config, layers))).splitlines()
    assert len({line.index(EXPERIMENT) for line in lines if EXPERIMENT in line}) == 1
    assert lines[0].split() == ["name", "league", "default"]


def test_the_command_prints_it_and_starts_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--cfg", "league=fsp", "algo.lr=0.5"]) == 0
    lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert ["algo.lr", "0.5", "command line"] in lines
    assert ["league.matchmaking.name", "fsp", "conf/league/fsp.yaml"] in lines
    assert main(["run", "--cfg", "--json", "league=fsp", "algo.lr=0.5"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert from_plain(plain["config"]) == compose(["league=fsp", "algo.lr=0.5"])
    assert plain["sources"]["algo.lr"] == "command line"
    assert set(plain["sources"]) == {key for key, _ in leaves(plain["config"])}
    assert main(["run", "--cfg", "-m", "seed=1,2"]) == 2
    assert not list(tmp_path.iterdir())
