"""The typed config: what is composed, kept and read again."""

import json

import pytest

from launch.config.compose import compose
from launch.config.config import Config, ConfigError, LaunchConfig, from_plain, to_plain
from launch.config.groups import CONF
from league.store.run_directory import RunDirectory


def options(group):
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def test_default_is_the_connect_four_league_of_three_minutes():
    config = compose([])
    assert (config.name, config.env.name, config.policy.name) == ("league", "connect_four", "board_conv")
    assert config.league.matchmaking.name == "alphastar"
    assert config.league.budget.minutes == 2.75
    kinds = {name: (player.kind, player.rate) for name, player in config.league.players.items()}
    assert kinds["main"] == ("main", 0.8)
    assert kinds["main_exploiter"] == ("main_exploiter", 0.1)
    assert kinds["league_exploiter"] == ("league_exploiter", 0.1)
    assert {name: player.anchor for name, player in config.league.players.items() if player.bot} == {
        "random": 0.0,
        "one_ply": 511.0,
    }


@pytest.mark.parametrize("recipe", ["selfplay", "fsp", "pfsp"])
def test_the_default_experiment_adds_nobody_but_its_anchor_to_another_recipe(recipe):
    players = compose([f"league={recipe}"]).league.players
    assert {name: player.kind for name, player in players.items()} == {
        "main": "main",
        "random": "scripted",
        "one_ply": "scripted",
    }


@pytest.mark.parametrize(
    "override",
    [
        f"{group}={option}"
        for group in ("league", "algo", "policy", "launch", "track", "experiment", "env")
        for option in options(group)
        if option not in ("pettingzoo", "openspiel", "gymnasium", "atari")  # these want an env.id
    ],
)
def test_every_option_survives_the_way_through_the_run_directory(override):
    config = compose([override])
    assert from_plain(json.loads(json.dumps(to_plain(config)))) == config


def test_pettingzoo_takes_an_id_and_kwargs_without_a_plus():
    config = compose(
        ["env=pettingzoo", "env.id=mpe2/simple_tag_v3", "env.kwargs.max_cycles=30", "env.kwargs.x={a: [1]}"]
    )
    assert config.env.kwargs == {"max_cycles": 30, "x": {"a": [1]}}
    assert config.policy.name == "mlp"
    assert "one_ply" not in config.league.players
    assert from_plain(to_plain(config)) == config


def test_seats_are_lists_of_agents():
    config = compose(["env=pettingzoo", "env.id=x/y_v0", "env.seats=[[a_0,a_1],[b_0]]"])
    assert config.env.seats == [["a_0", "a_1"], ["b_0"]]


@pytest.mark.parametrize(
    ("overrides", "env", "experiment_name"),
    [
        (["env=tic_tac_toe"], "tic_tac_toe", "tic_tac_toe"),
        (["experiment=rock_paper_scissors"], "rock_paper_scissors", "rock_paper_scissors"),
        (["experiment=null"], "connect_four", "league"),
        (["env=tic_tac_toe", "experiment=null"], "tic_tac_toe", "league"),
    ],
)
def test_another_env_brings_its_own_experiment(overrides, env, experiment_name):
    config = compose(overrides)
    assert (config.env.name, config.name) == (env, experiment_name)
    assert "one_ply" not in config.league.players


def test_a_group_beats_the_experiment_that_overrides_it():
    assert compose(["experiment=rock_paper_scissors", "league=pfsp"]).league.matchmaking.name == "pfsp"


def test_players_come_and_go():
    added = compose(["+league.players.second.kind=main", "+league.players.second.rate=0.5"])
    assert added.league.players["second"].rate == 0.5
    whole = compose(["+league.players.bot={kind: scripted, bot: random}"])
    assert whole.league.players["bot"].bot == "random"
    assert "one_ply" not in compose(["~league.players.one_ply"]).league.players
    assert compose(["league.players.main.rate=0.1"]).league.players["main"].rate == 0.1


def test_composing_leaves_nothing_behind():
    assert compose(["seed=7"]).seed == 7
    assert compose([]).seed == 1
    first, second = compose([]), compose([])
    first.league.players.clear()
    assert second.league.players


def test_configs_that_differ_have_different_hashes(tmp_path):
    run = RunDirectory(tmp_path / "first").create()
    first = run.write_config(to_plain(compose([])))
    assert first == run.config_hash()
    assert first != run.write_config(to_plain(compose(["seed=2"])))


def test_what_is_missing_in_a_stored_config_is_default():
    plain = to_plain(Config())
    del plain["launch"]["drain_seconds"], plain["track"]
    assert from_plain(plain) == Config()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sed": 1}, "unknown key 'sed'; did you mean 'seed'?"),
        ({"algo": {"learning_rate": 1.0}}, "unknown key 'algo.learning_rate'; did you mean 'algo.lr'?"),
        ({"seed": "one"}, "seed: Expected `int`, got `str`"),
        ({"algo": {"lr": float("inf")}}, "algo.lr=inf: expected a finite number"),
        (
            {"launch": {"learners": 0}},
            "launch: collectors and drain_seconds must not be negative, learners and ranks at least 1",
        ),
        ({"league": {"payoff": {"decay": 2.0}}}, "league.payoff.decay must be above 0 and at most 1, got 2.0"),
        (
            {"league": {"players": {"a": {"rat": 1}}}},
            "unknown key 'league.players.a.rat'; did you mean 'league.players.a.rate'?",
        ),
        ({"track": {"to": ["diary"]}}, "track.to: unknown tracker 'diary'; choose from csv, tensorboard, wandb"),
    ],
)
def test_a_stored_config_is_checked(change, message):
    with pytest.raises(ConfigError) as caught:
        from_plain(change)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "-x", "latest", "a b"])
def test_a_name_that_cannot_name_a_run(name):
    with pytest.raises(ConfigError, match="cannot name a run"):
        from_plain({"name": name})


def test_unknown_launcher():
    with pytest.raises(ValueError, match="choose one of local, inline"):
        LaunchConfig(name="cloud")


@pytest.mark.parametrize("path", sorted(CONF.rglob("*.yaml")), ids=lambda path: str(path.relative_to(CONF)))
def test_every_yaml_says_what_it_is_for_and_names_no_code(path):
    lines = path.read_text().splitlines()
    about = lines[1] if lines[0].startswith("# @package") else lines[0]
    assert about.startswith("# ")
    assert len(about) > 20
    assert "_target_" not in path.read_text()


def test_experiments_belong_to_the_whole_tree():
    for name in options("experiment"):
        assert (CONF / "experiment" / f"{name}.yaml").read_text().startswith("# @package _global_\n")
