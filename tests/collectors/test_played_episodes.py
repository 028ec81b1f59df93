"""Episodes as they end, and those of transcripts, are the same table."""

import numpy as np
import pytest
import small_envs as small

from collectors.check import try_out
from collectors.conforming import conform
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.referee import Referee
from collectors.played_episodes import from_transcripts
from league.limits import ABSENT


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
