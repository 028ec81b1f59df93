"""A league that cannot work says why and fails: it neither restarts for ever nor ends as a success."""

import pytest

from launch.viewers.view import read_offline

SMALL = ["policy.hidden=[8]", "collector.slots=8", "launch.collectors=2", "league.budget.minutes=30"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def test_a_learner_that_raises_in_every_update_stops_the_league(start, figure):
    broken = ["algo=ppo", "algo.name=faulty_algorithm:BrokenConfig", "--allow", "faulty_algorithm"]
    league = start("experiment=tic_tac_toe", *broken, *SMALL, "algo.batch=512", "algo.minibatch=128")
    assert league.process.wait(200) == 1
    told = league.log.read_text()
    assert "learner-0 ended 3 times in a row with the same error: the league stops." in " ".join(told.split())
    assert "is broken, as it was told" in told.rpartition("the league stops")[2], "the traceback comes last"
    assert all(candidate.decisions == 0 for candidate in read_offline(league.run).state.candidates.values())
    assert not any(league.children().values())
    figure("a learner that raises in every update: 3 starts, exit code 1, its traceback on the terminal")


def test_collectors_that_cannot_start_stop_the_league(start):
    foreign = ["env=pettingzoo", "env.id=unloadable_env:env", "--allow", "unloadable_env", "--allow", "faulty_env"]
    league = start(*foreign, *SMALL)
    assert league.process.wait(200) == 1
    told = " ".join(league.log.read_text().split())
    assert "3 times in a row with the same error: the league stops." in told
    assert "this game lacks a library" in told.rpartition("the league stops")[2]
