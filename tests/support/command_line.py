"""What tests of commands share: a league of seconds, a refusal in one line, and a run that has only a config."""

from pathlib import Path

from launch.cli import main
from launch.config.compose import compose
from launch.config.config import to_plain
from league.store.run_directory import RunDirectory

TINY = [
    "env=tic_tac_toe", "launch=inline", "league=selfplay", "name=tiny", "policy.hidden=[8]", "algo.batch=256",
    "algo.minibatch=256", "algo.epochs=1", "collector.slots=16", "learner.candidate_decisions=256",
    "league.budget.minutes=null", "league.budget.env_steps=1500", "league.evaluation.final_games=16",
]  # fmt: skip


def refused(capsys, *argv):
    assert main(argv) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("ludus: ")
    return output.err.removeprefix("ludus: ").rstrip("\n")


def stored(name="first", *overrides):
    run = RunDirectory(Path("runs") / name).create()
    run.write_config(to_plain(compose([f"name={name}", *overrides])))
    return run
