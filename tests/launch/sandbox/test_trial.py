"""Trials of an environment, as orders for a process of its own."""

from collectors.envs.config import EnvConfig
from launch.sandbox.apart import Limit, apart
from launch.sandbox.trial import Check, TrialFiles, Try, perform


def order(how="", where="step"):
    env = EnvConfig(name="pettingzoo", id="deadly_env:Deadly", kwargs={"how": how, "where": where})
    return Try(env=env, slots=2, allow=("deadly_env",))


def limit(seconds=60.0):
    return Limit("the game", seconds, "collector.hang_seconds=")


def test_a_check_says_the_same_here_and_apart():
    check = Check(env="classic/rps_v2", options={"max_cycles": 5})
    there, here = apart(check, limit()), perform(check)
    there, here = ([line for line in found.decode().split('","') if "speed" not in line] for found in (there, here))
    assert there == here


def test_an_order_comes_as_it_was_given(tmp_path):
    desk = TrialFiles(tmp_path)
    for given in (
        order(),
        Check(env="games:Words", options={"longest": float("inf"), "seed": 2**70}, allow=("games",)),
    ):
        desk.put(given)
        assert desk.take() == given
