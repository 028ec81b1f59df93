"""Links in a run directory never lead a write out of it."""

import shutil

import pytest

from launch.cli import main


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Let the user's own state be elsewhere than the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


# --- links ---------------------------------------------------------------------------------------------------------


def test_a_run_whose_links_lead_elsewhere_is_not_written_to(run, tmp_path, capsys):
    precious = tmp_path / "bashrc"
    precious.write_text("mine")
    config = run.read_config()
    config["launch"]["name"] = "inline"
    run.write_config(config)
    (run.root / "inside").symlink_to(run.config)
    assert main(["resume", str(run.root), "--quiet"]) == 0, "a link inside of the run does no harm"
    (run.logs / "coordinator-0.log").symlink_to(precious)
    again = ["run", f"runs={run.root.parent}", f"name={run.name}", "launch=inline", "--accept-changes", "--quiet"]
    for command in (["resume", str(run.root), "--quiet"], again):
        assert main(command) == 2
        assert "outside of the run" in capsys.readouterr().err
    assert main(["resume", str(run.root), "--quiet", "--trust"]) == 0
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("place", ["probes", "probes/main", "probes/main/logs", "probes/main/lock"])
def test_a_probe_follows_no_link_out_of_the_run(place, run, capsys, tmp_path):
    outside = tmp_path / "precious"
    outside.mkdir()
    (run.root / place).parent.mkdir(parents=True, exist_ok=True)
    (run.root / place).symlink_to(outside)
    assert main(["probe", str(run.root), "main", "--steps", "300", "--games", "4", "--inline", "--quiet"]) == 2
    assert "outside of the run" in capsys.readouterr().err
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("place", ["comparisons", "comparisons/first_second", "first/probes"])
def test_a_comparison_follows_no_link_out_of_its_runs(place, run, capsys, tmp_path_factory):
    outside = tmp_path_factory.mktemp("precious")
    shutil.copytree(run.root, run.root.with_name("second"))
    (run.root.parent / place).parent.mkdir(exist_ok=True)
    (run.root.parent / place).symlink_to(outside)
    assert (
        main(["compare", str(run.root), str(run.root.with_name("second")), "--games", "4", "--probe-steps", "9"]) == 2
    )
    assert "outside of" in capsys.readouterr().err
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("name", ["lock", "snapshots", "logs"])
def test_a_new_run_follows_no_link_that_waits_for_it(name, capsys, tmp_path):
    outside = tmp_path / "precious"
    (tmp_path / "runs" / "new").mkdir(parents=True)
    (tmp_path / "runs" / "new" / name).symlink_to(outside)
    assert main(["run", "env=tic_tac_toe", "name=new", "launch=inline", "league.budget.env_steps=1", "--quiet"]) == 2
    assert "outside of the run" in capsys.readouterr().err
    assert not outside.exists()


@pytest.mark.parametrize("name", ["../../main", "/etc/x", "a/b", ".hidden", "", "a\0b"])
def test_no_name_of_a_player_leads_out_of_the_run(name, run):
    for path in (run.checkpoint, run.journal):
        with pytest.raises(ValueError, match="cannot name a player"):
            path(name)
    assert run.checkpoint("main.3").parent == run.checkpoints


# --- links that lead out of a run --------------------------------------------------------------------------------

WRITING = {
    "report": ["report", "first"],
    "export": ["export", "first", "--to", "csv"],
    "videos": ["record", "first", "main", "random"],
}


@pytest.mark.parametrize("folder", WRITING)
@pytest.mark.parametrize("whole", [True, False], ids=["the folder", "a file in it"])
def test_no_command_writes_through_a_link_that_leads_out_of_a_run(folder, whole, run, capsys, tmp_path):
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "notes").write_text("mine\n")
    inner = run.root / folder
    if whole:
        inner.symlink_to(outside)
    else:
        inner = inner / "csv" if folder == "export" else inner
        inner.mkdir(parents=True)
        (inner / "points.csv").symlink_to(outside / "notes")
    assert main(WRITING[folder]) == 2
    assert "outside of the run" in capsys.readouterr().err
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"notes": "mine\n"}
    assert main([*WRITING[folder], "--out", "mine"]) == 0, "a folder that the user names is the user's own affair"


def test_a_video_that_is_a_link_is_not_sent_along(run, capsys, tmp_path):
    (tmp_path / "secret").write_text("secret")
    run.videos.mkdir()
    (run.videos / "match-1.0.gif").symlink_to(tmp_path / "secret")
    plain = run.read_config()
    plain["track"]["videos"] = 1
    run.write_config(plain)
    assert main(["export", "first", "--to", "csv", "--out", "mine"]) == 2
    assert "outside of the run" in capsys.readouterr().err
