"""The command line: commands from end to end, and errors in one line."""

import json
import os
import shutil
from pathlib import Path

import pytest

import launch.start
from launch.cli import main
from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.wire.keys import make_keys
from league.wire.messages import Role

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


@pytest.mark.parametrize("name", ["name=été", "name='été'", "name=a b", "name=latest", "name=../out"])
def test_a_bad_name_gets_the_same_message_whatever_is_wrong_with_it(name, capsys, tmp_path):
    assert "cannot name a run; use letters (a to z), digits and . _ -" in refused(capsys, "run", name)
    assert not (tmp_path / "runs").exists()


def test_a_gpu_that_is_not_there_is_refused_before_there_is_a_run(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    line = refused(capsys, "run", *TINY, "learner.device=cuda")
    assert line.startswith("learner.device=cuda: torch finds no GPU here. Use learner.device=auto")
    assert not (tmp_path / "runs").exists()


def test_list_shows_all_runs_the_newest_first(run, capsys, tmp_path):
    assert main(["list"]) == 2
    assert "there is no directory 'runs'" in capsys.readouterr().err
    shutil.copytree(run.root, tmp_path / "runs" / "old")
    stored("fresh")
    damaged = stored("damaged")
    damaged.layout.write_text("99")
    for age, name in enumerate(("damaged", "fresh", "old")):
        os.utime(tmp_path / "runs" / name / "config.json", (1000 - age, 1000 - age))
    assert main(["list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["state"]) for one in told] == [
        ("damaged", "unreadable"),
        ("fresh", "not started"),
        ("old", "over"),
    ]
    old = told[-1]
    assert (old["game"], old["env_steps"] >= 3000, old["players"] > 3) == ("tic_tac_toe", True, True)
    rated = {row["player"]: row for row in rows_of_standings(capsys, "old") if row["player"] != "random"}
    assert old["best"]["rating"] == max(row["rating"] for row in rated.values() if row["rating"] is not None)
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert "over" in text
    assert f"{old['best']['player']}, Elo" in text
    assert "layout version '99'" in " ".join(text.split())


def test_list_does_not_break_the_names_of_a_sweep(run, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    name = "compare.league=selfplay,seed=12"
    shutil.copytree(run.root, tmp_path / "runs" / name)
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert f" {name} " in text
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


def rows_of_standings(capsys, name):
    assert main(["standings", name, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_list_tells_a_run_that_is_stopped(capsys):
    play(compose([*TINY, "name=half"]), stored("half", *TINY[:-1]), on_round=lambda state: state.env_steps < 500)
    assert main(["list", "runs", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["name"], one["state"], one["why"]) == ("half", "stopped", "")
    assert 0 <= one["age"] < 3600


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


def test_the_config_does_not_change_beneath_a_running_league(capsys, monkeypatch):
    monkeypatch.setattr(launch.start, "RELEASE_SECONDS", 0.1)
    run = stored()
    before = run.config.read_bytes()
    with Ledger.open(run.ledger):
        assert "is under way already" in refused(capsys, "run", "name=first", "launch.collectors=3", "--quiet")
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


# --- keys ----------------------------------------------------------------------------------------------------


@pytest.fixture
def locked():
    """A run whose processes talk by tcp."""
    run = RunDirectory(Path("runs/locked")).create()
    run.write_config(to_plain(compose(["launch.transport=tcp"])))
    make_keys(run.keys, {"collector-0": Role.COLLECTOR, "learner-0": Role.LEARNER})
    return run


def test_keys_are_listed_revoked_and_replaced_and_never_printed(locked, capsys):
    secrets = [json.loads(path.read_text()) for path in locked.keys.glob("*-0.json")]

    def told():
        assert main(["keys", "locked", "--json"]) == 0
        return {row["name"]: (row["role"], row["state"]) for row in json.loads(capsys.readouterr().out)}

    assert told()["collector-0"] == ("collector", "admitted")
    assert set(told()) == {"viewer", "operator", "human", "collector-0", "learner-0"}
    assert main(["keys", "locked", "revoke", "collector-0"]) == 0
    printed = capsys.readouterr().out
    assert "ludus keys locked new collector-0" in printed
    assert told()["collector-0"] == ("collector", "revoked")
    assert main(["keys", "locked"]) == 0
    printed += capsys.readouterr().out
    assert "revoked" in printed
    assert main(["keys", "locked", "new", "collector-0"]) == 0
    printed += capsys.readouterr().out
    assert told()["collector-0"] == ("collector", "admitted")
    assert not any(file[half] in printed for file in secrets for half in ("public", "secret", "server"))


def test_keys_of_nobody_and_of_a_run_without_any_are_refused(locked, capsys):
    assert "there is no key of 'collector-9'; there are viewer" in refused(
        capsys, "keys", "locked", "revoke", "collector-9"
    )
    assert "whose key?" in refused(capsys, "keys", "locked", "new")
    RunDirectory(Path("runs/open")).create().write_config(to_plain(compose([])))
    assert "has no keys: its processes meet in a folder" in refused(capsys, "keys", "open")
