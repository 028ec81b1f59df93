"""From the config of an environment to the environment."""

import pytest

from collectors.envs.config import EnvConfig, EnvError, make_environment
from league.plugins import PluginError


def module(tmp_path, monkeypatch):
    (tmp_path / "userenv.py").write_text(
        "class Batch:\n"
        "    def __init__(self, slots, size=3):\n"
        "        if size < 0: raise RuntimeError('negative\\nsize')\n"
        "        self.slots, self.size = slots, size\n"
        "def zoo(size=3): raise AssertionError('not made')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


def test_native_games_take_slots_and_kwargs():
    env = make_environment(EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 3}), 5)
    assert (env.slots, env.spec.actions) == (5, 3)


def test_pettingzoo_by_its_id():
    env = make_environment(EnvConfig(name="pettingzoo", id="classic/rps_v2", kwargs={"max_cycles": 3}), 2)
    assert (env.slots, env.spec.agents) == (2, ("player_0", "player_1"))
    env.close()


def test_seats_reach_the_environment():
    seats = [["player_1"], ["player_0"]]
    env = make_environment(EnvConfig(name="pettingzoo", id="classic/rps_v2", seats=seats, roles=["b", "a"]), 1)
    assert [(seat.agents, seat.role) for seat in env.spec.seats] == [((1,), "b"), ((0,), "a")]
    env.close()


def test_a_class_of_the_user_must_be_allowed(tmp_path, monkeypatch):
    module(tmp_path, monkeypatch)
    config = EnvConfig(name="userenv:Batch", kwargs={"size": 4})
    with pytest.raises(PluginError, match="--allow userenv"):
        make_environment(config, 2)
    assert make_environment(config, 2, allow=["userenv"]).size == 4


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (EnvConfig(name="conect_four"), "Did you mean 'connect_four'"),
        (EnvConfig(name="connect_four", kwargs={"size": 3}), "unexpected keyword argument 'size'"),
        (EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 0}), "max_cycles must be at least 1"),
        (EnvConfig(name="pettingzoo", id="classic/no_such_game_v0"), "classic/no_such_game_v0"),
        (EnvConfig(name="pettingzoo", id="classic/rps_v2", seats=[["nobody"]]), "nobody"),
        (
            EnvConfig(name="userenv:Batch", kwargs={"size": -1}),
            "cannot make the environment 'userenv:Batch'.*negative size",
        ),
        (EnvConfig(name="userenv:zoo"), "env=pettingzoo env.id=userenv:zoo"),
    ],
)
def test_a_bad_environment_is_one_clear_line(config, message, tmp_path, monkeypatch):
    module(tmp_path, monkeypatch)
    with pytest.raises((EnvError, PluginError), match=message) as caught:
        make_environment(config, 1, allow=["userenv"])
    assert "\n" not in str(caught.value)


def test_seats_of_a_native_game_are_fixed():
    with pytest.raises(ValueError, match="seats of 'connect_four' are fixed"):
        EnvConfig(seats=[["a"]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seats": ["wolf_*", "sheep_0"]}, r"env.seats must be .*\[\[\"wolf_\*\"\],.* got \['wolf_\*', 'sheep_0'\]"),
        ({"seats": "[wolf_*]"}, r"env.seats must be a list with a list of agents for each seat"),
        ({"seats": [["wolf_0"], [1]]}, r"got \[\['wolf_0'\], \[1\]\]"),
        ({"roles": 3}, r"env.roles must be a list with a name for each seat, e.g. \[\"red\",\"blue\"\]; got 3"),
        ({"sides": ["red", 2]}, r"env.sides must be a list with a name for each seat"),
    ],
)
def test_a_table_that_is_no_list_of_names_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        EnvConfig(name="pettingzoo", id="mpe2/simple_tag_v3", **settings)
