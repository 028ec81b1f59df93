"""The typed config: what is composed, kept and read again."""

import json

import pytest

from launch.config.compose import compose
from launch.config.config import Config, ConfigError, LaunchConfig, from_plain, to_plain
from launch.config.groups import CONF
from league.store.run_directory import RunDirectory


def options(group):
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


@pytest.mark.parametrize(
    "override",
    [
        f"{group}={option}"
        for group in ("league", "algo", "policy", "launch", "track", "experiment", "env")
        for option in options(group)
        if option
        not in ("pettingzoo", "openspiel", "gymnasium", "gymnasium_multi", "atari", "pgx")  # these want an env.id
    ],
)
def test_every_option_survives_the_way_through_the_run_directory(override):
    config = compose([override])
    assert from_plain(json.loads(json.dumps(to_plain(config)))) == config


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
        ({"algo": {"lr": float("inf")}}, "algo.lr=inf: expected finite numbers"),
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


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "-x", "latest", "sweeps", "a b"])
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
