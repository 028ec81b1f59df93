"""The command line: help, dispatch, and errors in one line."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from launch.arguments import EXAMPLES, build_parser
from launch.cli import COMMANDS, main
from launch.compose import compose
from launch.config import to_plain
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory

TINY = [
    "env=tic_tac_toe", "launch=inline", "league=selfplay", "name=tiny", "policy.hidden=[8]", "algo.batch=256",
    "algo.minibatch=256", "algo.epochs=1", "collector.slots=16", "learner.candidate_decisions=256",
    "league.budget.minutes=null", "league.budget.env_steps=1500", "league.evaluation.final_games=16",
]  # fmt: skip


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDUS_TRACEBACK", raising=False)


def refused(capsys, *argv):
    assert main(argv) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("ludus: ")
    return output.err.removeprefix("ludus: ").rstrip("\n")


def test_every_command_has_an_example_that_parses_and_a_handler():
    assert set(EXAMPLES) == set(COMMANDS)
    for name, example in EXAMPLES.items():
        program, *argv = example.split()
        assert program == "ludus"
        assert build_parser().parse_args(argv).command == name


def test_help_shows_an_example_of_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert all(example in text for example in EXAMPLES.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_help_of_a_command_shows_its_example(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert EXAMPLES[name] in capsys.readouterr().out


HELP = """
import sys
from launch.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
print(sorted({"torch", "numpy", "hydra", "zmq", "msgspec", "rich", "pettingzoo"} & set(sys.modules)))
import launch.config
print(sorted({"torch", "hydra", "pettingzoo"} & set(sys.modules)))
"""


def test_help_imports_nothing_heavy_and_the_config_no_torch():
    root = Path(sys.modules["launch.cli"].__file__).parent.parent
    output = subprocess.run([sys.executable, "-c", HELP], cwd=root, capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-2:] == ["[]", "[]"]


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("ludus ")


@pytest.mark.parametrize(
    "argv", [[], ["rnu"], ["status"], ["status", "a", "b"], ["run", "--fast"], ["watch", "latest", "a"]]
)
def test_wrong_usage(argv, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert "usage: ludus" in capsys.readouterr().err


def test_overrides_may_stand_on_both_sides_of_options(capsys):
    message = refused(capsys, "run", "env=tic_tac_toe", "--quiet", "algo.lr=fast", "--allow", "mine")
    assert message == "algo.lr=fast: expected a number"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["run", "algo.epoch=2"], "unknown key 'algo.epoch'; did you mean 'algo.epochs'?"),
        (["run", "env.name=chess"], "unknown environment 'chess'"),
        (["run", "env.name=mine.games:Game"], "--allow mine"),
        (
            ["run", "env=tic_tac_toe", "policy=board_conv"],
            "policy board_conv: the kernel [4, 4] is larger than the board",
        ),
        (
            ["run", "env=tic_tac_toe", "+league.players.b={kind: scripted, bot: one_ply}"],
            "league.players.b: the bot 'one_ply'",
        ),
        (["run", "+league.players.b={kind: scripted, bot: two_ply}"], "unknown bot 'two_ply'. Did you mean 'one_ply'?"),
        (
            ["run", "league=selfplay", "league.players.main.kind=frozen"],
            "league.players.main: frozen players are made by",
        ),
        (["run", "league=selfplay", "~league.players.main"], "the league has no learning player"),
        (["run", "league.players.main.role=fox"], "league.players.main.role is 'fox'"),
        (["status", "nowhere"], "there is no run 'nowhere'"),
        (["resume", "latest"], "there is no run 'latest'"),
        (["check-env", "classic/go_v5", "board_size"], "cannot read 'board_size': write KEY=VALUE"),
        (["check-env", "chess"], "unknown environment 'chess'"),
    ],
)
def test_what_the_user_can_mend_is_one_line(argv, message, capsys, tmp_path):
    line = refused(capsys, *argv)
    assert message in line
    assert "\n" not in line
    assert not (tmp_path / "runs").exists()


def test_the_traceback_is_there_for_those_who_ask(monkeypatch):
    monkeypatch.setenv("LUDUS_TRACEBACK", "1")
    with pytest.raises(ValueError, match="there is no run"):
        main(["status", "nowhere"])


def test_check_env(capsys):
    assert main(["check-env", "rock_paper_scissors", "max_cycles=3"]) == 0
    assert "fit for a league" in capsys.readouterr().out


def stored(name="first", *overrides):
    run = RunDirectory(Path("runs") / name).create()
    run.write_config(to_plain(compose([f"name={name}", *overrides])))
    return run


def test_another_config_is_refused_with_the_differences(capsys):
    run = stored()
    before = run.config.read_bytes()
    message = refused(capsys, "run", "name=first", "league.episodes=16", "seed=2", "launch.collectors=3")
    assert "  seed: 1 -> 2\n  league.episodes: 8 -> 16\n" in message
    assert "launch.collectors" not in message
    assert "--accept-changes" in message
    assert run.config.read_bytes() == before


def test_another_layout_is_refused(capsys):
    run = stored()
    run.layout.write_text("999\n")
    assert "layout version '999'" in refused(capsys, "run", "name=first")
    assert "layout version '999'" in refused(capsys, "resume", "first")


def test_a_stored_config_of_another_version_is_refused(capsys):
    run = stored()
    run.write_config({**run.read_config(), "future": 1})
    assert "written by another version of Ludus, or by hand: unknown key 'future'" in refused(capsys, "resume", "first")


def test_a_ledger_without_a_config_is_not_a_new_run(capsys):
    run = stored()
    run.config.unlink()
    Ledger.open(run.ledger).close()
    assert "has a ledger, but no config.json" in refused(capsys, "run", "name=first")


def test_the_config_does_not_change_beneath_a_running_league(capsys):
    run = stored()
    before = run.config.read_bytes()
    with Ledger.open(run.ledger):
        assert "holds the ledger" in refused(capsys, "run", "name=first", "launch.collectors=3", "--quiet")
    assert run.config.read_bytes() == before


def test_run_run_again_resume_and_read(capsys):
    """The whole walk inline: found, stopped by its budget, resumed with more of it, and looked at."""
    assert main(["run", *TINY, "--quiet"]) == 0
    run = RunDirectory.find("tiny")
    first = Ledger.open(run.ledger)
    events = first.head
    first.close()
    assert events > 0
    report = run.root / "report" / "report.html"
    assert not report.exists(), "nobody asked for more than errors"

    capsys.readouterr()
    assert main(["run", *TINY, "league.budget.env_steps=3000"]) == 0
    told = capsys.readouterr().err
    assert "ludus: changed: league.budget.env_steps: 1500 -> 3000" in told
    assert told.endswith("ludus: the report, to look at or to send: runs/tiny/report/report.html\n")
    assert "Standings" in report.read_text()
    assert run.read_config()["league"]["budget"]["env_steps"] == 3000
    with Ledger.open(run.ledger) as second:
        assert second.head > events

    assert main(["run", *TINY, "league.budget.env_steps=3000", "league.episodes=4", "--accept-changes", "--quiet"]) == 0
    assert run.read_config()["league"]["episodes"] == 4
    assert main(["resume", "latest", "--quiet"]) == 0

    shutil.rmtree(report.parent)
    report.parent.touch()
    capsys.readouterr()
    assert main(["resume", "latest"]) == 0, "a league is well, whatever is wrong with its report"
    assert "ludus: no report was written (FileExistsError" in capsys.readouterr().err

    capsys.readouterr()
    assert main(["standings", "tiny", "--json"]) == 0
    assert "main" in json.dumps(json.loads(capsys.readouterr().out))
    assert main(["verify", "tiny"]) == 0
