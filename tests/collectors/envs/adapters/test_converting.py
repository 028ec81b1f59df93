"""Agents that are no texts, observations in another form than their spaces, rewards that are vectors."""

import foreign_games
import numpy as np
import pytest
from driving import begin, open_env, play

from collectors.check import check
from collectors.envs.adapters.converting import Conversion, agent_names, convert, fitting
from collectors.envs.adapters.observation_spaces import BrokenError
from collectors.envs.config import EnvConfig


def opened(name, **settings):
    return open_env("pettingzoo", f"foreign_games:{name}", allow=["foreign_games"], **settings)


def total(env, seed=1):
    """Return what each agent got in an episode."""
    begin(env, seed)
    paid = dict.fromkeys(env.spec.agents, 0.0)
    while True:
        rows = env.rows()
        for agent, reward in zip(rows.agent, rows.reward, strict=True):
            paid[env.spec.agents[agent]] += float(reward)
        ends = env.step(rows.mask.argmax(axis=1).astype(np.int32))
        assert ends.faults == ()
        for agent, reward in zip(ends.agent, ends.reward, strict=True):
            paid[env.spec.agents[agent]] += float(reward)
        if len(ends.over):
            return paid


def test_every_agent_gets_a_name_of_its_own():
    class Colour:
        name = "green"

    green = Colour()
    assert agent_names(["a", "b"]) == {"a": "a", "b": "b"}
    assert agent_names([(0, 1), green]) == {(0, 1): "agent_0_1", green: "green"}
    assert agent_names([1, "agent_1"]) == {1: "agent_0", "agent_1": "agent_1"}


@pytest.mark.parametrize(
    ("name", "agents"),
    [("numbered", ("agent_0", "agent_1")), ("paired", ("red_0", "blue_0")), ("NumberedAec", ("agent_0", "agent_1"))],
)
def test_agents_that_are_no_texts_play_under_names(name, agents):
    report = check(f"foreign_games:{name}", slots=2, allow=["foreign_games"], episodes=2)
    assert report.fit, report.lines()
    assert report.spec.agents == agents
    paid = total(opened(name))
    assert paid == ({"agent_0": 5.0, "agent_1": 5.0} if name == "NumberedAec" else dict.fromkeys(agents, 1.5))


def test_names_can_be_seated():
    assert opened("numbered", seats=[["agent_0", "agent_1"]]).spec.seats[0].agents == (0, 1)


@pytest.mark.parametrize("form", ["float64", "list", "scalar"])
def test_observations_of_another_form_are_refused_with_the_remedy_and_taken_with_a_cast(form):
    env = EnvConfig(name="pettingzoo", id="foreign_games:Loose", kwargs={"form": form})
    refused = check(env, slots=1, allow=["foreign_games"], episodes=1)
    assert any("env.cast=true" in problem.what for problem in refused.problems), refused.lines()
    env.cast = True
    report = check(env, slots=2, allow=["foreign_games"], episodes=2)
    assert report.fit, report.lines()


def test_a_cast_keeps_the_numbers():
    env = begin(opened("Loose", kwargs={"form": "scalar"}, cast=True), 1)
    env.step(np.zeros(1, np.int32))
    assert env.rows().observation.tolist() == [[1.0, 0.0, 1.0]]  # one move, and the second of two choices


def test_a_cast_does_not_round_or_reshape():
    space = foreign_games.Discrete(3)
    with pytest.raises(BrokenError, match=r"its observation 1.5 does not fit into int64"):
        fitting(space, 1.5)
    box = foreign_games.Box(0, 1, (2,), np.float32)
    with pytest.raises(BrokenError, match=r"has shape \(3,\), but its space says \(2,\)"):
        fitting(box, [1, 2, 3])
    with pytest.raises(BrokenError, match="no number"):
        fitting(box, ["a", "b"])
    assert fitting(foreign_games.Box(0, 9, (2,), np.uint8), [1.0, 2.0]).dtype == np.uint8


def test_vectors_of_rewards_are_refused_in_one_line_that_names_the_weights():
    (fault,) = play(opened("Vector"), 1)[0].faults
    remedy = "give a number, or a weight for each part of the vector: env.reward_weights=[1,1]"
    assert fault.reason.endswith(f"its reward is array([1., 2.]); {remedy}")


def test_weights_make_one_number_of_a_vector():
    env = EnvConfig(name="pettingzoo", id="foreign_games:Vector", reward_weights=[1.0, -0.5])
    report = check(env, slots=2, allow=["foreign_games"], episodes=2)
    assert report.fit, report.lines()
    # OddAec pays each of two agents 4 + 4 / 4; in each of the 8 moves both get 2 more in the second part.
    assert total(opened("Vector", reward_weights=[1.0, -0.5])) == {"walker_0": 5.0 - 8.0, "walker_1": 5.0 - 8.0}


def test_weights_must_be_as_many_as_a_reward_has_parts():
    (fault,) = play(opened("Vector", reward_weights=[1.0, 2.0, 3.0]), 1)[0].faults
    assert "env.reward_weights has 3 weights; give one for each number of the reward" in fault.reason


def test_what_needs_nothing_is_passed_on_as_it_is():
    made = foreign_games.OddParallel()
    assert convert(lambda: made, Conversion())() is made


@pytest.mark.parametrize(("what", "reason"), [("1e39", "does not fit into float32"), ("-1e39", "float32")])
def test_a_reward_beyond_float32_is_a_fault_of_its_slot_alone(what, reason):
    first, second = play(opened("Pays", slots=2, kwargs={"what": what}), 1, 2)
    (fault,) = first.faults
    assert (fault.slot, second.over.tolist()) == (0, [1])
    assert fault.reason.startswith("foreign_games:Pays: agent 'runner_0': its reward ")
    assert reason in fault.reason


def test_a_reward_none_is_a_fault():
    (fault,) = play(opened("Pays", slots=2, kwargs={"what": "none"}), 1, 2)[0].faults
    assert "agent 'runner_0': its reward is None; give a number" in fault.reason


def test_an_observation_beyond_float32_is_a_fault_of_its_slot_alone():
    env = begin(opened("Pays", slots=2, kwargs={"what": "0", "seen": 1e39}), 1, 2)
    (fault,) = env.step(np.zeros(len(env.rows()), np.int32)).faults
    assert fault.slot == 0
    assert "or a number too large for float32" in fault.reason
