"""From a name to what builds the environment."""

import pytest

from collectors.envs.names import BACKENDS
from collectors.envs.plan import ADAPTERS, Backend, Order, plan, plan_exactly
from league.plugins import PluginError


def test_every_backend_has_an_adapter():
    assert ADAPTERS.keys() == BACKENDS.keys()


def test_a_text_is_read_and_a_config_is_not():
    assert (
        plan("odd_envs:OddAec", {"kwargs": {"agents": 2}}, allow=["odd_envs"]).build(1).spec.name == "odd_envs:OddAec"
    )
    with pytest.raises(ValueError, match="takes no 'slots'"):
        plan_exactly("odd_envs:OddAec", {}, allow=["odd_envs"])


def test_a_native_game_has_nothing_to_be_compared_with():
    made = plan("tic_tac_toe")
    assert made.build(2).slots == 2
    assert (made.returns, made.complaints, made.spaces, made.outside) == (None, None, None, None)


def test_options_of_a_backend_reach_its_adapter():
    made = plan("pettingzoo", {"id": "mpe2/simple_tag_v3", "kwargs": {"max_cycles": 3}, "roles": ["wolves", "sheep"]})
    assert made.build(1).spec.roles == ("wolves", "sheep")


def test_a_project_that_is_not_installed_is_named_with_its_remedy():
    def make(order):
        raise ModuleNotFoundError("No module named 'go'")

    with pytest.raises(
        PluginError, match=r"cannot load 'go9': No module named 'go'. Install it: pip install 'go\[all\]'"
    ):
        Backend("go[all]", make).plan(Order("go9", {}, [], {}, ()))
