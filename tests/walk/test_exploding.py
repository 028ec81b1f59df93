"""A learning rate that makes absurd weights: every match is still played, and the league says what is wrong."""

import pytest

from launch.cli import main
from launch.verify.verify import verify
from launch.viewers.view import read_offline
from league.state import OVER
from league.store.run_directory import RunDirectory

LEAGUE = [
    "experiment=tic_tac_toe",
    "launch=inline",
    "launch.collectors=1",
    "collector.slots=16",
    "collector.ticks=8",
    "policy.hidden=[16]",
    "algo.batch=256",
    "algo.minibatch=128",
    "algo.lr=1e12",
    "league.evaluation.final_games=20",
    "league.budget.minutes=null",
    "league.budget.env_steps=12000",
]


def test_a_network_that_fails_on_real_boards_only_is_named_in_the_last_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sane = ["policy=fragile_network:Fragile", "algo.lr=1e-3", "league.budget.env_steps=3000", "league=selfplay"]
    small = [one for one in LEAGUE if not one.startswith(("algo.lr", "policy", "league.budget.env_steps"))]
    assert main(["run", "name=fragile", *small, *sane, "--allow", "fragile_network"]) == 1
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert "nobody was trained" in last
    assert "the network fragile_network:Fragile returns NaN or infinity in `outputs` for " in last
    assert last.endswith("Correct the network")


@pytest.mark.parametrize("inference", ["local", pytest.param("central", marks=pytest.mark.slow)])
def test_exploding_weights_end_no_match(tmp_path, monkeypatch, capsys, caplog, figure, inference):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "name=exploding", f"collector.inference={inference}", *LEAGUE]) == 1
    run = RunDirectory(tmp_path / "runs" / "exploding")
    state = read_offline(run).state
    assert (state.phase, state.voids) == (OVER, 0)
    assert {candidate.version for candidate in state.candidates.values()} == {0}, "nothing absurd was published"
    assert "rolled back" in caplog.text
    assert "learner.max_weight=1e+06" in caplog.text
    assert "nobody was trained" in capsys.readouterr().err
    assert verify(run) == 0
    figure(f"algo.lr=1e12, {inference} inference: {sum(state.results.values())} matches, {state.voids} void")
