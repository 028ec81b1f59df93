"""A batch of single environments: wrong callers, faults of one slot, rendering."""

import re
from functools import partial

import numpy as np
import odd_envs as odd
import pytest
from driving import begin, play

from collectors.envs.adapters.pettingzoo import adapt, make
from collectors.envs.plan import plan


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
def test_faults_say_what_broke_and_the_slot_is_built_again(how):
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


SAYS = {
    "file": r"step raised ValueError: no file a\udcff (odd_envs.py:",
    "none": "step raised UnreadableError: its message cannot be read: its __str__ raised SystemExit (odd_envs.py:",
}


@pytest.mark.parametrize("error", SAYS)
def test_whatever_an_error_says_is_a_fault_of_its_slot_that_can_be_sent(error):
    ends = play(adapt(lambda: odd.Saying(error), 1, name="saying"), 1)
    (fault,) = [fault for one in ends for fault in one.faults]
    assert fault.reason.startswith(f"saying: {SAYS[error]}")
    fault.reason.encode()
