"""A league that cannot work says why and fails: it neither restarts for ever nor ends as a success."""

import shutil
from pathlib import Path

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


QUICK = ["experiment=tic_tac_toe", "league=selfplay", "policy.hidden=[8]", "algo.batch=512", "algo.minibatch=128",
         "collector.slots=8", "launch.collectors=1", "league.budget.minutes=null", "league.budget.env_steps=3000",
         "league.evaluation.final_games=4", "league.probe=false"]  # fmt: skip


def test_a_matchmaker_of_ones_own_is_allowed_in_the_coordinator_too(start, tmp_path):
    shutil.copy(Path(__file__).parents[2] / "examples" / "own_matchmaker.py", tmp_path)
    league = start(*QUICK, "league.matchmaking.name=own_matchmaker:nearest", "--allow", "own_matchmaker")
    assert league.process.wait(100) == 0
    assert "could not handle" not in league.run.log("coordinator", 0).read_text()


def test_a_coordinator_that_cannot_load_a_rule_stops_the_league_at_once(start, tmp_path):
    (tmp_path / "my_rules.py").write_text(
        "import sys\n"
        "if 'launch.processes' in sys.orig_argv:\n"
        "    raise ImportError('this library is missing in the coordinator')\n"
        "from league.matchmaking.selfplay import selfplay as mine\n"
    )
    league = start(*QUICK, "league.matchmaking.name=my_rules:mine", "--allow", "my_rules")
    assert league.process.wait(100) == 1
    told = " ".join(league.log.read_text().split())
    assert "this library is missing in the coordinator" in told
    assert "Traceback" not in told
    assert "it starts again" not in told
