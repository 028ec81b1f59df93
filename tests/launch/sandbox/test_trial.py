"""Trials of an environment, as orders for a process of its own."""

import json

from collectors.envs.config import EnvConfig, make_environment
from launch.sandbox.apart import Limit, apart
from launch.sandbox.trial import Check, TrialFiles, Tried, Try, perform


def order(how="", where="step"):
    env = EnvConfig(name="pettingzoo", id="deadly_env:Deadly", kwargs={"how": how, "where": where})
    return Try(env=env, slots=2, allow=("deadly_env",))


def limit(seconds=60.0):
    return Limit("the game", seconds, "collector.hang_seconds=")


def test_a_check_says_the_same_here_and_apart():
    check = Check(env="classic/rps_v2", words=("max_cycles=5",))
    there, here = (json.loads(answer) for answer in (apart(check, limit()), perform(check)))
    for found in (there, here):
        assert found["plain"].pop("steps_per_second") > 0
        found["lines"] = [line for line in found["lines"] if "speed" not in line]
    assert there == here


def test_an_order_comes_as_it_was_given(tmp_path):
    desk = TrialFiles(tmp_path)
    for given in (
        order(),
        Check(env="games:Words", words=("longest=Infinity", "env.max_steps=9"), allow=("games",)),
    ):
        desk.put(given)
        assert desk.take() == given


def test_a_trial_without_an_end_is_a_warning_if_there_was_time_for_one():
    spec = make_environment(EnvConfig(name="tic_tac_toe"), 1).spec
    assert Tried(spec, [], 999).endless == ""
    assert Tried(spec, [1.0], 5000).endless == ""
    assert Tried(spec, [], 1000).endless.startswith("no episode of tic_tac_toe ended in 1,000 steps")


def tried(name, **settings):
    env = EnvConfig(name="pettingzoo", id=f"small_envs:{name}", **settings)
    return json.loads(perform(Try(env=env, slots=2, allow=("small_envs",))))["notes"]


def test_a_trial_says_what_it_guessed_and_what_the_episodes_showed():
    assert tried("Duel") == []
    (shared,) = tried("SharedReward")
    assert shared.startswith("warning: all agents got the same return in each of ")
    assert tried("SharedReward", sides=["all", "all"]) == []
    guess, role, general = tried("Hunt")
    assert guess.startswith("agents are called tiger and deer, so each name is a team. If that is wrong: env.seats")
    assert role.startswith("warning: tiger returned more than deer in all of")
    assert general.startswith("not zero-sum: the highest return wins; returns are shown beside the ratings")
