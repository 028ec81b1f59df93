"""The settings of an environment."""

import pytest
from driving import open_env

from collectors.envs.config import EnvConfig, EnvError, make_environment


def test_a_wrong_kwarg_is_one_clear_line():
    with pytest.raises(EnvError, match=r"'classic/tictactoe_v3'.*unexpected keyword argument 'size'.*env.kwargs"):
        open_env("pettingzoo", "classic/tictactoe_v3", kwargs={"size": 4})


def test_settings_that_do_not_fit_the_name():
    with pytest.raises(ValueError, match=r"env\.id is missing.*env=openspiel env\.id='go\(board_size=9\)'"):
        EnvConfig(name="openspiel")
    with pytest.raises(ValueError, match=r"env\.wrappers is only for"):
        EnvConfig(name="connect_four", wrappers=["a:b"])


def test_a_constructor_whose_error_cannot_be_read_is_named_all_the_same():
    with pytest.raises(EnvError, match=r"cannot make .*unreadable.*its __str__ raised SystemExit"):
        make_environment(EnvConfig(name="pettingzoo", id="odd_envs:unreadable"), 2, ["odd_envs"])
