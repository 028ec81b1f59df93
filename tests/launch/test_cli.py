"""The command line: commands from end to end, and errors in one line."""

import subprocess
import sys

import pytest
from command_line import refused

from launch.cli import leave_threads, main

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


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
            "league.players.main: a frozen player of the config needs from=FILE",
        ),
        (["run", "league=selfplay", "~league.players.main"], "the league has no learning player"),
        (["run", "league.players.main.role=fox"], "league.players.main.role is 'fox'"),
        (["status", "nowhere"], "there is no run 'nowhere'"),
        (["resume", "latest"], "there is no run 'latest'"),
        (["check-env", "classic/go_v5", "board_size"], "cannot read 'board_size': write KEY=VALUE"),
        (["check-env", "chess"], "unknown environment 'chess'"),
    ],
)
def test_what_the_user_can_fix_is_one_line(argv, message, capsys, tmp_path):
    line = refused(capsys, *argv)
    assert message in line
    assert "\n" not in line
    assert not (tmp_path / "runs").exists()


def test_the_traceback_is_there_for_those_who_ask(monkeypatch):
    monkeypatch.setenv("LUDUS_TRACEBACK", "1")
    with pytest.raises(ValueError, match="there is no run"):
        main(["status", "nowhere"])


@pytest.mark.parametrize("error", [ValueError, RuntimeError, KeyError])
def test_a_bug_keeps_its_traceback(error, monkeypatch):
    def broken(runs, as_json):
        raise error("a bug of ours")

    monkeypatch.setattr("launch.viewers.listing.list_runs", broken)
    with pytest.raises(error, match="a bug of ours"):
        main(["list"])


def test_a_thread_that_an_environment_left_does_not_keep_the_command_alive():
    left = "import threading, time; threading.Thread(target=time.sleep, args=(3600,)).start();"
    call = f"from launch.cli import leave_threads; {left} print('done'); leave_threads(7, seconds=0.0)"
    ended = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "done\n", "")


def test_without_such_a_thread_a_command_ends_as_usual():
    leave_threads(7, seconds=0.0)
