"""PettingZoo's Atari games of several players, with the ROMs that ale-py ships."""

import pytest
from driving import begin, open_env

from collectors.envs.config import EnvConfig, make_environment
from league.plugins import PluginError


def test_pong_finds_its_rom_by_itself():
    env = begin(open_env("pettingzoo", "atari/pong_v3", kwargs={"max_cycles": 3, "obs_type": "ram"}), 1)
    assert env.spec.agents == ("first_0", "second_0")
    assert env.spec.roles == ("player", "player")
    assert env.rows().observation.shape == (2, 128)


def test_quadrapong_is_played_by_two_pairs():
    env = open_env("pettingzoo", "atari/quadrapong_v4", kwargs={"obs_type": "ram"})
    assert [[env.spec.agents[agent] for agent in seat.agents] for seat in env.spec.seats] == [
        ["first_0", "third_0"],
        ["second_0", "fourth_0"],
    ]


def test_a_config_cannot_lead_the_emulator_to_a_file():
    config = EnvConfig(name="pettingzoo", id="atari/pong_v3", kwargs={"auto_rom_install_path": "/tmp"})
    with pytest.raises(PluginError, match="may lead pettingzoo to a file"):
        make_environment(config, 1)
