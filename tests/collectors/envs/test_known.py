"""What a config may name of known packages; tests/launch/test_stranger.py tries the same through whole configs."""

import pettingzoo
import pytest

from collectors.envs.known import is_known, maker, plain, registered, wrapper
from league.plugins import PluginError

KINDS = (pettingzoo.AECEnv, pettingzoo.ParallelEnv)


@pytest.mark.parametrize(
    ("id", "gym", "known"),
    [
        ("pettingzoo.classic.chess.chess:env", False, True),
        ("mpe2.simple_tag_v3:parallel_env", False, True),
        ("pettingzoo.classic.chess.chess:os", False, False),
        ("pettingzoo.utils.env:AECEnv", False, False),
        ("os:system", False, False),
        ("gymnasium.envs.classic_control.cartpole:CartPoleEnv", True, True),
        ("gymnasium.utils.play:play", True, False),
    ],
)
def test_only_places_of_environments_are_known(id, gym, known):
    assert is_known(id, gym) == known


def test_a_known_environment_is_made_and_nothing_else_of_its_package():
    assert isinstance(maker("mpe2.simple_v3:env", {}, KINDS)(), pettingzoo.AECEnv)
    with pytest.raises(PluginError, match="--allow pettingzoo"):
        maker("pettingzoo.classic.chess.chess:os", {}, KINDS)


def test_wrappers_are_those_of_the_list():
    assert wrapper("pettingzoo.utils:OrderEnforcingWrapper", {}).func is pettingzoo.utils.OrderEnforcingWrapper
    with pytest.raises(PluginError, match="--allow pettingzoo"):
        wrapper("pettingzoo.utils:save_observation", {})


def test_ids_that_others_registered_need_to_be_allowed():
    registered("classic/chess_v6", "pettingzoo.classic.chess.chess:env")
    with pytest.raises(PluginError, match=r"registered by the package 'stranger'.*--allow stranger"):
        registered("stranger/Game-v0", "stranger.games:Game")
    registered("stranger/Game-v0", "stranger.games:Game", allow=["stranger"])


@pytest.mark.parametrize(
    "kwargs", [{"xml_file": "x"}, {"level": "../secret"}, {"deep": {"root_dir": 1}}, {"l": ["~/x"]}]
)
def test_arguments_that_may_lead_to_files_are_refused(kwargs):
    with pytest.raises(PluginError, match="may lead gymnasium to a file"):
        plain("gymnasium", "env.kwargs", kwargs)
    plain("gymnasium", "env.kwargs", kwargs, allow=["gymnasium"])
