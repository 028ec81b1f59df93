"""`--dry-run`: what would be started, the same refusals, and nothing written."""

import doctest
import json

import pytest

from launch import previewing
from launch.cli import main
from launch.config.compose import compose
from launch.config.config import stored, to_plain
from launch.previewing import as_lines, preview
from launch.topology.parts import topology
from league.store.run_directory import RunDirectory
from learners.algorithms.abilities import able_to


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDUS_TRACEBACK", raising=False)


def files(place):
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(previewing).failed == 0


def test_a_new_run_is_told_and_not_made(tmp_path, capsys):
    words = ["env=tic_tac_toe", "launch.collectors=2", "track=csv", "learner.replay_in=learner"]
    assert main(["run", "--dry-run", *words]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "run          runs/tic_tac_toe (new)",
        "environment  tic_tac_toe, 2 seats; played at random for a moment: it works",
        "learning     main, main_exploiter, league_exploiter",
        "scripted     random",
        "launch       local: 6 processes on this machine: 1 coordinator, 1 replica, 1 learner, 2 collectors, 1 tracker",
        "budget       0.75 minutes of play",
        "at the end   400 games of each learning player against each anchor",
        "nothing was started, and nothing was written",
    ]
    assert not list(tmp_path.iterdir())


def test_it_counts_the_processes_of_the_topology(capsys):
    words = ["env=tic_tac_toe", "launch=slurm/cluster", "launch.ranks=2", "collector.inference=central"]
    assert main(["run", "--dry-run", "--json", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["processes"] == {"coordinator": 1, "replica": 1, "learner": 6, "inference": 3, "collector": 64}
    assert sum(found["processes"].values()) == 1 + sum(part.ranks for part in topology(compose(words)))
    assert (found["launch"], found["new"], found["changes"]) == ("slurm", True, [])


def test_a_budget_in_steps_one_process_and_no_end():
    one = compose(["env=tic_tac_toe", "launch=inline", "league.budget.env_steps=200_000"])
    assert "launch       inline: in one process" in as_lines(preview(one, allow=(), accept=False))
    assert "0.75 minutes of play or 200,000 env steps" in as_lines(preview(one, allow=(), accept=False))
    endless = compose(["env=tic_tac_toe", "league.budget.minutes=null"])
    assert "none: it plays until it is stopped" in as_lines(preview(endless, allow=(), accept=False))


@pytest.mark.slow
def test_changes_against_a_run_that_exists_are_told_or_refused_and_not_made(tmp_path, capsys):
    run = RunDirectory(tmp_path / "runs" / "first").create()
    run.write_config(to_plain(compose(["env=tic_tac_toe", "name=first"])))
    before = files(tmp_path)
    again = ["run", "--dry-run", "env=tic_tac_toe", "name=first"]
    assert main(again) == 0
    assert "runs/first (it exists, and goes on with its config)" in capsys.readouterr().out
    assert main([*again, "league.budget.minutes=9"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "run          runs/first (it exists, and goes on with these changes)"
    assert told[1].strip() == "league.budget.minutes: 0.75 -> 9.0"
    assert main([*again, "algo.lr=0.5"]) == 2
    assert "--accept-changes" in capsys.readouterr().err
    assert main([*again, "algo.lr=0.5", "--accept-changes"]) == 0
    assert "algo.lr: 0.001 -> 0.5" in capsys.readouterr().out
    assert files(tmp_path) == before


def test_a_league_that_is_over_does_not_go_on(run):
    config = stored(run)
    config.runs, config.name = str(run.root.parent), run.name
    over = preview(config, allow=(), accept=False)
    assert "first (nothing would be played)" in as_lines(over)
    assert "over         it was over already: the budget of 3,000 env steps is spent" in as_lines(over)
    config.league.budget.env_steps = 10**9
    assert "goes on with these changes" in as_lines(preview(config, allow=(), accept=False))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["env=tic_tac_toe", "policy=board_conv"], "the kernel [4, 4] is larger than the board"),
        (["env=pettingzoo", "env.id=classic/nothing_v9"], "classic/nothing_v9"),
        (["league.players.main.role=fox"], "league.players.main.role is 'fox'"),
    ],
)
def test_what_a_run_refuses_a_dry_run_refuses(words, message, capsys, tmp_path):
    assert main(["run", *words, "--dry-run"]) == 2
    *_, refused = capsys.readouterr().err.splitlines()  # on a busy machine, how far it is comes before it
    assert message in refused
    assert main(["run", *words]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == refused
    assert not list(tmp_path.iterdir())


def test_an_algorithm_that_cannot_learn_such_actions_names_those_that_can(capsys):
    own = ["league=selfplay", "+league.players.main.algo.name=dqn", "+league.players.main.policy.head=values"]
    assert main(["run", "env=gymnasium", "env.id=Pendulum-v1", *own, "--dry-run"]) == 2
    assert (
        "league.players.main: algo=dqn learns one choice, but the actions of 'Pendulum-v1' are continuous "
        f"(choices [], 1 continuous numbers). Use an algorithm that can: {', '.join(able_to('actions', 'continuous'))}"
    ) in capsys.readouterr().err


def test_an_algorithm_that_learns_jointly_is_refused_where_agents_of_a_seat_act_in_turns(capsys):
    team = ["env=pettingzoo", "env.id=classic/tictactoe_v3", "env.seats=[[player_1,player_2]]", "league=cooperative"]
    assert main(["run", *team, "algo=vdn", "--dry-run"]) == 2
    assert (
        "algo=vdn learns from what the agents of a seat do in the same tick, but player_1, player_2 of "
        "'classic/tictactoe_v3' act in turns. Set env.seats so that each agent has its own, or use an algorithm that "
        f"can: {', '.join(able_to('takes_turns'))}"
    ) in capsys.readouterr().err
    assert main(["run", *team, "algo=ippo", "--dry-run"]) == 0
    assert main(["run", "env=simple_spread", "algo=qmix", "--dry-run"]) == 0
