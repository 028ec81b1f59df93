"""The PettingZoo adapter: ids, spaces, seats, wrappers, faults."""

import re
from functools import partial

import numpy as np
import odd_envs as odd
import pettingzoo
import pytest
from pettingzoo.utils.wrappers import BaseWrapper

from collectors.envs.adapters.aec import strip
from collectors.envs.adapters.pettingzoo import adapt, make
from collectors.envs.plan import plan
from league.plugins import PluginError


def begin(env, *seeds):
    env.start(np.arange(len(seeds), dtype=np.int32), np.array(seeds))
    return env


def lowest(rows):
    return rows.mask.argmax(axis=1).astype(np.int32)


def play(env, *seeds):
    """Play the lowest legal action to the end of all slots; return every Ends."""
    begin(env, *seeds)
    told = []
    while env.active:
        told.append(env.step(lowest(env.rows())))
    return told


# --- names ---


def test_ids_of_every_kind():
    assert make(1, "classic/connect_four_v3").spec.observation.shape == (6, 7, 2)
    assert make(1, "mpe2/simple_spread_v3", kwargs={"N": 2}).spec.agents == ("agent_0", "agent_1")
    assert make(1, "mpe2.simple_v3:env").spec.agents == ("agent_0",)
    assert plan("odd_envs:OddAec", {"kwargs": {"agents": 2}}, allow=["odd_envs"]).build(2).spec.agents == (
        "walker_0",
        "walker_1",
    )
    assert plan("pettingzoo", {"id": "classic/tictactoe_v3"}).build(1).spec.actions == 9
    assert plan("connect_four").build(3).slots == 3


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("", "env.id is missing"),
        ("classic/connect_five_v3", "unknown PettingZoo environment"),
        ("mpe2/simple_nothing_v9", "cannot load 'mpe2/simple_nothing_v9'"),
        ("odd_envs:OddAec", "--allow odd_envs"),
        ("os:system", "not allowed"),
    ],
)
def test_ids_that_lead_nowhere(id, message):
    with pytest.raises((ValueError, PluginError), match=message):
        make(1, id)


def test_what_is_no_environment_is_refused():
    with pytest.raises(ValueError, match="expected a PettingZoo environment"):
        adapt(dict, 1)


# --- spaces ---


def test_unknown_action_spaces_are_refused_with_agent_space_and_remedy():
    with pytest.raises(ValueError, match=r"agent 'walker_0' has the action space Sequence.*Wrap.*env.wrappers"):
        adapt(odd.unknown_actions, 1)


def test_every_kind_of_observation_is_flattened_and_padded():
    env = begin(adapt(odd.Composite, 1), 1)
    assert env.spec.observation.shape == (17,)
    assert env.spec.observation.dtype == "float32"
    first = env.rows()
    assert first.mask.tolist() == [[True, True, False, False]]
    bits, box, many, pair = [1, 0, 1], [0.5, -0.5, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 7]
    assert first.observation[0].tolist() == [*bits, *box, *many, *pair]
    env.step(np.array([1], np.int32))
    second = env.rows()
    assert second.observation[0].tolist() == [0, 0, 1] + [0] * 14
    assert second.mask.all()


def test_shorter_boxes_are_padded():
    env = begin(make(1, "mpe2/simple_tag_v3"), 3)
    rows = env.rows()
    assert env.spec.observation.shape == (16,)
    assert rows.observation[3, 14:].tolist() == [0, 0]
    assert rows.observation[3, :14].any()


# --- seats and roles ---


def test_roles_follow_names_and_spaces():
    assert make(1, "mpe2/simple_tag_v3").spec.roles == ("adversary", "agent")
    assert make(1, "classic/connect_four_v3").spec.roles == ("player", "player")
    assert adapt(odd.Composite, 1).spec.roles == ("walker", "walker_1")  # same name, other spaces


def test_teams():
    seats = [["adversary_0", "adversary_1", "adversary_2"], ["agent_0"]]
    spec = make(1, "mpe2/simple_tag_v3", seats=seats).spec
    assert [(seat.agents, seat.role) for seat in spec.seats] == [((0, 1, 2), "adversary"), ((3,), "agent")]
    uneven = adapt(odd.OddAec, 1, seats=[["walker_0", "walker_1"], ["walker_2"]]).spec
    assert uneven.roles == ("walker", "1 walker")
    assert adapt(odd.OddAec, 1, roles=["a", "b", "b"]).spec.roles == ("a", "b", "b")


@pytest.mark.parametrize(
    ("seats", "roles", "message"),
    [
        ([["walker_0"], ["walker_9"]], None, "walker_9"),
        ([["walker_0"], ["walker_1"]], None, "exactly one seat"),
        (None, ["a"], "one for each seat"),
    ],
)
def test_wrong_seats_are_refused(seats, roles, message):
    with pytest.raises(ValueError, match=message):
        adapt(odd.OddAec, 1, seats=seats, roles=roles)


# --- ends ---


def ends_of(build, seed=1):
    """Return (tick, agent, truncated, reward) of each END row of one episode."""
    told = play(adapt(build, 1), seed)
    assert [len(ends.over) for ends in told[:-1]] == [0] * (len(told) - 1)
    return [
        (tick, int(agent), bool(truncated), float(reward))
        for tick, ends in enumerate(told, start=1)
        for agent, truncated, reward in zip(ends.agent, ends.truncated, ends.reward, strict=True)
    ]


def test_an_agent_that_dies_has_its_end_at_once_and_the_episode_goes_on():
    ends = ends_of(odd.deaths)
    assert ends[0] == (4, 1, False, 1.5)  # 1 for its own move, 0.25 for each of two by others
    assert [(agent, truncated) for _, agent, truncated, _ in ends[1:]] == [(0, True), (2, True)]


def test_terminated_and_truncated_in_one_ending():
    ends = ends_of(odd.mixed_ending)
    assert [(tick, agent, truncated) for tick, agent, truncated, _ in ends] == [
        (7, 0, False),
        (7, 1, True),
        (7, 2, True),
    ]


def test_both_flags_mean_terminated():
    assert [truncated for _, _, truncated, _ in ends_of(odd.both_flags)] == [False, False]


def test_an_agent_that_never_acted_has_no_end():
    assert {agent for _, agent, _, _ in ends_of(odd.dies_before_it_acts)} == {0, 1}


def test_an_agent_that_is_born_late_begins_with_first():
    env = begin(adapt(odd.births, 1), 1)
    firsts = []
    while env.active:
        rows = env.rows()
        firsts += [(int(agent), bool(first)) for agent, first in zip(rows.agent, rows.first, strict=True)]
        env.step(lowest(rows))
    assert [agent for agent, first in firsts if first] == [0, 1, 2]
    assert firsts.index((2, True)) >= 4


def test_truncation_tells_the_final_observation():
    ends = play(make(1, "mpe2/simple_spread_v3", kwargs={"max_cycles": 3}), 5)[-1]
    assert ends.truncated.all()
    env = pettingzoo_final("simple_spread_v3", 5, 3)
    np.testing.assert_array_equal(ends.observation, np.stack([env[agent] for agent in sorted(env)]))


def pettingzoo_final(name, seed, cycles):
    module = __import__(f"mpe2.{name}", fromlist=["parallel_env"])
    env = module.parallel_env(max_cycles=cycles)
    env.reset(seed=seed)
    seen = {}
    while env.agents:
        seen = env.step(dict.fromkeys(env.agents, 0))[0]
    return seen


# --- wrappers ---


class DoubleReward(BaseWrapper):
    """A wrapper that changes the game: the adapter must keep it."""

    @property
    def rewards(self):
        return {agent: 2 * reward for agent, reward in self.env.rewards.items()}


def test_wrappers_that_only_check_are_taken_off():
    env = pettingzoo.make("aec", "classic/connect_four_v3")
    assert strip(env) is env.unwrapped


def test_wrappers_that_change_the_game_stay():
    def build():
        return DoubleReward(pettingzoo.make("aec", "classic/connect_four_v3"))

    env = build()
    assert strip(env) is env
    ends = play(adapt(build, 1), 1)[-1]
    assert sorted(ends.reward.tolist()) == [-2.0, 2.0]


# --- what callers do wrong ---


def test_illegal_actions_are_the_callers_fault_and_change_nothing():
    env = begin(make(2, "classic/tictactoe_v3"), 1, 2)
    env.rows()
    with pytest.raises(ValueError, match="action 9 is illegal in slot 1"):
        env.step(np.array([0, 9], np.int32))
    assert env.rows().first.all()
    env.step(np.array([0, 1], np.int32))
    env.rows()
    with pytest.raises(ValueError, match=r"action 1 is illegal in slot 1"):
        env.step(np.array([1, 1], np.int32))
    with pytest.raises(ValueError, match=r"returned 2 rows"):
        env.step(np.array([1], np.int32))


def test_start_refuses_a_busy_slot():
    with pytest.raises(ValueError, match="still play"):
        begin(begin(make(1, "classic/tictactoe_v3"), 1), 2)


# --- what environments do wrong ---


REASONS = {
    "reset": "reset raised RuntimeError: the dice fell off the table \\(odd_envs.py:",
    "step": "step raised RuntimeError: the board caught fire",
    "reward": "agent 'walker_[01]': its reward is NaN",
    "stranger": "agent 'stranger_0' is not among possible_agents",
    "nan": "agent 'walker_1': its observation holds NaN",
    "inf": "its observation holds NaN or infinity",
    "shape": r"its observation is float32 \(3,\), but its space says float32 \(2,\)",
    "dtype": r"its observation is float64 \(2,\)",
    "none": "its observation is a NoneType",
    "mask": "its action mask allows no action",
    "wide mask": r"its action mask has shape \(4,\), but it has 3 actions",
}


@pytest.mark.parametrize("how", odd.HOW)
def test_faults_say_what_broke_and_the_slot_is_built_anew(how):
    built = []

    def build():
        built.append(odd.Broken(how))
        return built[-1]

    env = adapt(build, 2, name="broken")
    ends = play(env, 1, 2)
    faults = [fault for one in ends for fault in one.faults]
    assert [fault.slot for fault in faults] == [0]
    assert re.search("^broken: .*" + REASONS[how], faults[0].reason)
    assert [slot for one in ends for slot in one.over.tolist()] == [1]
    assert {slot for one in ends for slot in one.slot.tolist()} == {1}
    count = len(built)
    assert [len(one.faults) for one in play(env, 4, 6)] == [0] * 8
    assert len(built) == count + 1  # only the broken one was replaced


def test_an_environment_that_cannot_be_built_again_is_a_fault():
    builds = iter([odd.Broken("step", always=True)])

    def build():
        try:
            return next(builds)
        except StopIteration:
            raise RuntimeError("out of licences") from None

    env = adapt(build, 1)
    assert "caught fire" in play(env, 1)[-1].faults[0].reason
    assert "out of licences" in play(env, 1)[-1].faults[0].reason


def test_an_episode_without_a_decision_is_a_fault():
    class Empty(odd.OddParallel):
        def reset(self, seed=None, options=None):
            super().reset(seed)
            self.agents = []
            return {}, {}

    assert "before any agent could act" in play(adapt(Empty, 1), 1)[0].faults[0].reason


def test_an_agent_that_comes_back_is_a_fault():
    build = partial(odd.OddParallel, script={2: {"runner_0": "terminated"}}, born={4: ["runner_0"]})

    class Ghost(odd.OddParallel):
        def reset(self, seed=None, options=None):
            born, self.born = self.born, {}
            told = super().reset(seed)
            self.born = born
            return told

    ghost = partial(Ghost, *build.args, **build.keywords)
    assert "came back after its end" in play(adapt(ghost, 1), 1)[-1].faults[0].reason


def test_close_closes_every_environment():
    closed = []

    class Closing(odd.OddAec):
        def close(self):
            closed.append(self)

    env = begin(adapt(Closing, 3), 1, 2)
    env.close()
    assert len(closed) == 2


def test_render_shows_what_the_mover_sees():
    env = begin(make(1, "classic/tictactoe_v3"), 1)
    assert env.render(0) == "player_1 sees\n. . .\n. . .\n. . ."
    env.rows()
    env.step(np.array([0], np.int32))
    assert env.render(0) == "player_2 sees\no . .\n. . .\n. . ."
    assert " sees\n[" in begin(make(1, "classic/leduc_holdem_v4"), 2).render(0), "numbers, where it is no board"


@pytest.mark.parametrize("wrappers", [[], ["pettingzoo.utils:OrderEnforcingWrapper"]])
def test_render_shows_the_text_of_the_environment_itself(wrappers):
    kwargs = {"render_mode": "ansi"}
    env = plan("pettingzoo", {"id": "classic/chess_v6", "kwargs": kwargs, "wrappers": wrappers}).build(1)
    assert begin(env, 1).render(0).splitlines()[-1] == "R N B Q K B N R"
    assert "ansi" in env.render_modes
