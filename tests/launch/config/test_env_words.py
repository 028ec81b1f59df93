"""One environment in the words of a command: settings are read, and refused, exactly as by `run`."""

import sys

import pytest

from collectors.envs.config import EnvConfig
from launch.cli import main
from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.config.env_words import compose_environment

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")

RPS = EnvConfig(name="pettingzoo", id="classic/rps_v2")


@pytest.mark.parametrize(
    ("text", "words", "config"),
    [
        ("connect_four", [], EnvConfig(name="connect_four")),
        ("openspiel/go(board_size=9)", [], EnvConfig(name="openspiel", id="go(board_size=9)")),
        ("gymnasium/CartPole-v1", [], EnvConfig(name="gymnasium", id="CartPole-v1")),
        ("ALE/Pong-v5", ["stack=2"], EnvConfig(name="atari", id="ALE/Pong-v5", kwargs={"stack": 2})),
        ("atari/pong_v3", [], EnvConfig(name="pettingzoo", id="atari/pong_v3")),
        ("pettingzoo", ["env.id=classic/rps_v2"], RPS),
        ("wordgames:Batch", ["size=3"], EnvConfig(name="wordgames:Batch", kwargs={"size": 3})),
        ("wordgames:zoo", ["size=3"], EnvConfig(name="pettingzoo", id="wordgames:zoo", kwargs={"size": 3})),
        (
            "mpe2/simple_v3",
            ["env.wrappers=[a:b]", "env.state=true", "env.kwargs.local_ratio=0.5", "max_cycles=3"],
            EnvConfig(
                name="pettingzoo",
                id="mpe2/simple_v3",
                wrappers=["a:b"],
                state=True,
                kwargs={"local_ratio": 0.5, "max_cycles": 3},
            ),
        ),
    ],
)
def test_what_a_user_calls_an_environment(text, words, config, tmp_path, monkeypatch):
    (tmp_path / "wordgames.py").write_text(
        "class Batch:\n    def __init__(self, slots, size=3): raise AssertionError('not made')\n"
        "def zoo(size=3): raise AssertionError('not made')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert compose_environment(text, words, allow=["wordgames"]) == config


def test_a_name_that_another_python_plays_is_not_imported_here():
    found = compose_environment("no_such_games.words:Env", [f"env.python={sys.executable}", "size=3"])
    assert (found.name, found.id, found.kwargs) == ("pettingzoo", "no_such_games.words:Env", {"size": 3})


@pytest.mark.parametrize(
    "words",
    [
        ["env.variants={two: {kwargs: {n: 2}}, four: {weight: 3, kwargs: {n: 4}}}"],
        ["env.variants.two.kwargs.n=2", "env.variants.four={weight: 3, kwargs: {n: 4}}"],
        ["env.variants_from=maps.json"],
    ],
)
def test_variants_are_written_as_for_run(words, tmp_path):
    (tmp_path / "maps.json").write_text('{"two": {"kwargs": {"n": 2}}, "four": {"weight": 3, "kwargs": {"n": 4}}}')
    found = compose_environment("classic/rps_v2", words).variants
    assert {name: (row.weight, row.kwargs) for name, row in found.items()} == {
        "two": (1.0, {"n": 2}),
        "four": (3.0, {"n": 4}),
    }


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("env.max_steps=abc", "env.max_steps=abc: expected a whole number"),
        ("env.max_steps=1.5", "env.max_steps=1.5: expected a whole number"),
        ("env.python_seconds=abc", "env.python_seconds=abc: expected a number"),
        ("env.draw_margin=x", "env.draw_margin=x: expected a number"),
        ("env.cast=maybe", "env.cast=maybe: expected true or false"),
        ("env.compat=q", "env.compat=q: expected true or false"),
        ("env.fresh=q", "env.fresh=q: expected true or false or null"),
        ("env.variants=3", "env.variants=3: expected a group of keys"),
        ("env.kwargs=3", "env.kwargs=3: expected a group of keys"),
        ("env.args=3", "env.args=3: expected a list of any values"),
        ("env.wrappers=3", "env.wrappers=3: expected a list of any values"),
        ("env.reward_weights=3", "env.reward_weights=3: expected a list of numbers"),
        ("env.max_step=3", "unknown key 'env.max_step'; did you mean 'env.max_steps'?"),
        (
            "env.variants.two.kwarg.n=3",
            "unknown key 'env.variants.two.kwarg.n'; did you mean 'env.variants.two.kwargs'?",
        ),
        ("env.max_steps", "cannot read 'env.max_steps': write KEY=VALUE, e.g. env.max_steps=200"),
        ("env.variants_from=none.json", "env.variants_from=none.json: No such file or directory"),
    ],
)
def test_a_wrong_setting_is_refused_as_by_run(word, message):
    with pytest.raises(ConfigError) as told:
        compose_environment("classic/rps_v2", [word])
    assert str(told.value).startswith(message)
    assert "\n" not in str(told.value)
    if "=" in word:
        with pytest.raises(ConfigError) as by_run:
            compose(["env=pettingzoo", "env.id=classic/rps_v2", word])
        assert str(told.value) == str(by_run.value)


@pytest.mark.parametrize(
    ("text", "word", "key"),
    [
        ("classic/rps_v2", "env.name=pgx", "env.name"),
        ("pgx", "env.name=atari", "env.name"),
        ("classic/rps_v2", "env.id=classic/go_v5", "env.id"),
        ("connect_four", "+env.id=classic/go_v5", "env.id"),
    ],
)
def test_a_setting_does_not_name_another_environment(text, word, key):
    with pytest.raises(ConfigError, match=f"'{text}' already names the environment. Leave {key} out"):
        compose_environment(text, [word])


def test_check_env_refuses_what_run_refuses(tmp_path, capsys):
    (tmp_path / "maps.json").write_text('{"a": {"weight": 0}}')
    for word in ("env.max_steps=abc", "env.variants_from=maps.json"):
        assert main(["check-env", "rock_paper_scissors", word]) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"ludus: {word}: ")
        assert told.count("\n") == 1


def test_check_env_builds_all_variants_of_a_file(tmp_path, capsys):
    (tmp_path / "maps.json").write_text('{"good": {"kwargs": {"max_cycles": 3}}, "bad": {"kwargs": {"no_such": 4}}}')
    assert main(["check-env", "rock_paper_scissors", "env.variants_from=maps.json"]) == 1
    assert "no_such" in capsys.readouterr().out
