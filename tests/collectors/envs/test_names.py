"""What the name of an environment means."""

import pytest

from collectors.envs.known import NoEnvironmentError
from collectors.envs.names import BACKENDS, EnvName, batch_maker, check_id, is_ours, read_name
from league.plugins import BUILTIN, PluginError


@pytest.mark.parametrize("name", BUILTIN["ludus.environments"])
def test_every_name_of_ours_means_itself(name):
    assert read_name(name) == EnvName(name)
    assert is_ours(name) != (name in BACKENDS)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("classic/go_v5", EnvName("pettingzoo", "classic/go_v5")),
        ("mpe2/simple_tag_v3", EnvName("pettingzoo", "mpe2/simple_tag_v3")),
        ("atari/pong_v3", EnvName("pettingzoo", "atari/pong_v3")),
        ("pettingzoo/classic/go_v5", EnvName("pettingzoo", "classic/go_v5")),
        ("openspiel/go(board_size=9)", EnvName("openspiel", "go(board_size=9)")),
        ("gymnasium/CartPole-v1", EnvName("gymnasium", "CartPole-v1")),
        ("ALE/Pong-v5", EnvName("atari", "ALE/Pong-v5")),
        ("pettingzoo.classic.chess.chess:env", EnvName("pettingzoo", "pettingzoo.classic.chess.chess:env")),
    ],
)
def test_ids_mean_environments_of_a_backend(text, meant):
    assert read_name(text) == meant


def test_an_attribute_is_a_batch_if_it_takes_slots_and_else_a_pettingzoo_environment():
    assert read_name("darts:Darts", allow=["darts"]) == EnvName("darts:Darts")
    assert read_name("odd_envs:OddAec", allow=["odd_envs"]) == EnvName("pettingzoo", "odd_envs:OddAec")


@pytest.mark.parametrize("text", ["darts:Darts", "connect_fuor", "os:system"])
def test_what_nobody_registered_or_allowed_is_refused(text):
    with pytest.raises(PluginError):
        read_name(text)


@pytest.mark.parametrize("text", ["os:sep", "collections:OrderedDict"])
def test_what_makes_no_environment_is_refused(text):
    with pytest.raises(NoEnvironmentError, match="is no class or function that makes an environment"):
        read_name(text, ["os", "collections"])


def test_a_config_is_taken_at_its_word():
    assert batch_maker("darts:Darts", allow=["darts"])(slots=3).slots == 3
    with pytest.raises(ValueError, match=r"takes no 'slots'.*env=pettingzoo env.id=odd_envs:OddAec"):
        batch_maker("odd_envs:OddAec", allow=["odd_envs"])


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_needs_an_id(name):
    with pytest.raises(ValueError, match=f"env.id is missing.*env={name} "):
        check_id(name, "")
    check_id(name, BACKENDS[name])
    check_id("connect_four", "")
