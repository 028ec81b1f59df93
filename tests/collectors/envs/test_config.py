"""The settings of an environment, and what a user calls one."""

import pytest
from driving import open_env

from collectors.envs.config import EnvConfig, EnvError, parse_environment


def test_a_wrong_kwarg_is_one_clear_line():
    with pytest.raises(EnvError, match=r"'classic/tictactoe_v3'.*unexpected keyword argument 'size'.*env.kwargs"):
        open_env("pettingzoo", "classic/tictactoe_v3", kwargs={"size": 4})


@pytest.mark.parametrize(
    ("text", "kwargs", "config"),
    [
        ("openspiel/go(board_size=9)", {}, EnvConfig(name="openspiel", id="go(board_size=9)")),
        ("gymnasium/CartPole-v1", {}, EnvConfig(name="gymnasium", id="CartPole-v1")),
        ("ALE/Pong-v5", {"stack": 2}, EnvConfig(name="atari", id="ALE/Pong-v5", kwargs={"stack": 2})),
        ("atari/pong_v3", {}, EnvConfig(name="pettingzoo", id="atari/pong_v3")),
        (
            "mpe2/simple_v3",
            {"env.wrappers": ["a:b"], "env.state": True, "max_cycles": 3},
            EnvConfig(name="pettingzoo", id="mpe2/simple_v3", wrappers=["a:b"], state=True, kwargs={"max_cycles": 3}),
        ),
    ],
)
def test_what_a_user_calls_an_environment(text, kwargs, config):
    assert parse_environment(text, kwargs) == config


def test_settings_that_do_not_exist():
    with pytest.raises(ValueError, match=r"env\.chairs: there is no such setting"):
        parse_environment("mpe2/simple_v3", {"env.chairs": 3})
    with pytest.raises(ValueError, match=r"env\.id is missing.*env=openspiel env\.id='go\(board_size=9\)'"):
        EnvConfig(name="openspiel")
    with pytest.raises(ValueError, match=r"env\.wrappers is only for"):
        EnvConfig(name="connect_four", wrappers=["a:b"])
