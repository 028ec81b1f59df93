"""Episodes as they end, and those of transcripts, are the same table."""

import numpy as np
import pytest
import small_envs as small

from collectors.check import try_out
from collectors.conforming import conform
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.referee import Referee
from collectors.envs.rows import Rows
from collectors.played_episodes import TurnWatch, from_transcripts
from league.limits import ABSENT
from league.spec import Array, EnvSpec, Seat


def build(env, slots=2):
    return Referee(adapt(env, slots))


@pytest.mark.parametrize("env", [small.PaidAfterDeath, small.SomebodyIsAbsent, small.NamedWinner])
def test_a_trial_and_a_check_see_the_same(env):
    trial = try_out(build(env), enough=lambda margins: len(margins) >= 16).played
    report = from_transcripts(
        build(env).spec, conform(lambda slots: build(env, slots), range(1, len(trial) + 1), 2).complete
    )
    assert trial.late == report.late
    assert trial.by_return == report.by_return == (env is not small.NamedWinner)
    assert trial.returns.shape == report.returns.shape == trial.present.shape
    assert not trial.returns[~trial.present].any()
    assert (trial.present.all(axis=1) == (env is not small.SomebodyIsAbsent)).all()
    assert trial.ranked_by_return().by_return


def test_returns_of_a_trial_are_those_of_the_rewards():
    played = try_out(build(small.PaidAfterDeath), enough=lambda margins: len(margins) >= 4).played
    assert np.unique(played.returns, axis=0).tolist() == [[10.0, 1.0]]
    ranked = try_out(Referee(adapt(small.SomebodyIsAbsent, 2), margin=0.1), enough=lambda margins: len(margins) > 3)
    assert all(ABSENT in ranks for ranks in ranked.played.ranks)


def acting(*who):
    """Rows of (slot, agent) that act in one tick."""
    slot, agent = np.array(who, np.int32).reshape(-1, 2).T
    nothing = np.zeros((len(slot), 1), np.float32)
    return Rows(slot, agent, nothing, nothing > 0, nothing[:, 0], nothing[:, 0] > 0)


def test_agents_of_a_seat_act_in_turns_if_no_two_of_them_ever_act_in_the_same_slot_and_tick():
    seats = (Seat((0, 1)), Seat((2, 3)), Seat((4,)), Seat((5, 6)))
    spec = EnvSpec("toy", tuple("abcdefg"), seats, Array((1,), "float32"), actions=2)
    watch = TurnWatch(spec, 2)
    assert watch.seats() == []
    watch.add(acting((0, 0), (1, 1), (0, 2), (0, 4), (1, 5)))  # agents 0 and 1 act at once, but in different slots
    watch.add(acting((1, 0), (1, 3)))
    assert watch.seats() == [0, 1], "nobody knows yet of the agent 6"
    watch.add(acting((0, 2), (0, 3)))
    watch.add(acting())
    assert watch.seats() == [0]
