"""Which packages a config needs to be allowed, all of them at once."""

import doctest

import pytest

from launch.cli import main
from launch.config import foreign
from launch.config.compose import compose
from launch.config.config import Config, ConfigError
from launch.config.foreign import foreign_packages, refuse_foreign, with_foreign
from launch.start import rehearse
from league.rulebook import PlayerConfig

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(foreign).failed == 0


def test_everything_that_names_code_is_found_once():
    config = Config()
    config.env.name, config.env.id = "pettingzoo", "games.words:env"
    config.env.outcome = "judges:fair"
    config.env.wrappers = ["supersuit:frame_stack_v1", ["wraps.more:Twice", {"times": 2}]]
    config.league.players = {"bot": PlayerConfig(kind="scripted", bot="games.bots:Clever")}
    config.league.matchmaking.name, config.league.promotion.rule = "makers:mine", "rules:mine"
    config.algo["name"] = "algos:Mine"
    assert sorted(with_foreign(config)) == ["algos", "games", "judges", "makers", "rules", "wraps"]
    assert with_foreign(config, ["first"])[0] == "first"


def test_what_needs_no_allowance_is_not_named():
    config = Config()
    config.env.name, config.env.id = "pettingzoo", "pettingzoo.classic.chess.chess:env"
    assert with_foreign(config) == []
    plain = {"name": "my:run", "launch": {"host": "node:a"}, "env": {"name": "league.state:apply"}}
    assert foreign_packages(plain) == []


def test_all_packages_that_are_not_allowed_are_named_at_once():
    words = ["experiment=null", "env.name=games:Words", "algo.name=algos:Mine"]
    with pytest.raises(ConfigError, match=r"not allowed: games, algos. .* add --allow games --allow algos to the"):
        compose(words)
    with pytest.raises(ConfigError, match="not allowed: games, judges"):
        rehearse(compose(["env.name=games:Words", "env.outcome=judges:fair"]))
    with pytest.raises(ConfigError, match="the package 'algos' is not allowed"):
        compose(words, ["games"])
    refuse_foreign({"env": {"name": "games:Words"}}, [])  # whoever resolves the only one says more about it


@pytest.mark.parametrize("command", ["attach", "resume"])
def test_the_commands_to_try_next_allow_what_the_config_needs(bid, command, capsys):
    assert main([command, str(bid.root), "--plain"]) == 0
    told = capsys.readouterr().out
    assert "ludus explain bidding main --allow bidding" in told
