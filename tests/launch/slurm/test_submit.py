"""Submission: all jobs or none, with commands that play Slurm's part and note what they were asked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from launch.cli import main
from launch.slurm import control, record
from league.store.run_directory import RunDirectory

ROOT = str(Path(__file__).parents[3])


RUN = ["run", "launch=slurm/small", "env=tic_tac_toe", "name=first", "launch.slurm.probe=0"]


def test_the_coordinator_is_held_until_all_are_there(slurm, capsys):
    called = slurm()
    assert main(RUN) == 0
    run = RunDirectory.find("first")
    script = f"{run.slurm.resolve()}/"
    asked = [call for call in called() if not call.startswith("squeue")]
    assert asked[3:] == [
        f"sbatch --parsable --hold {script}coordinator.sbatch",
        f"sbatch --parsable --dependency=after:101 {script}learner-0.sbatch",
        f"sbatch --parsable --dependency=after:101 {script}collectors.sbatch",
        "scontrol release 101",
    ]
    assert all("--test-only" in call for call in asked[:3])
    assert [(job.label, job.id) for job in record.read(run)] == [
        ("coordinator", "101"),
        ("learner-0", "102"),
        ("collectors", "103"),
    ]
    out = capsys.readouterr().out
    assert "103_[0-3]" in out
    assert "ludus status first" in out


def test_a_refused_submission_leaves_nothing_behind(slurm, capsys):
    called = slurm(limit=2, refusal="Batch job submission failed: Job violates accounting/QOS policy")
    assert main(RUN) == 2
    assert "sbatch refused: Batch job submission failed: Job violates accounting/QOS policy" in capsys.readouterr().err
    assert "scancel --quiet 101 102" in called()
    assert not RunDirectory.find("first").jobs.exists()


@pytest.mark.slow
def test_a_submission_that_was_killed_can_be_looked_at_and_ended(slurm, tmp_path, capsys):
    """It died after its second job: two are on record, and a third of which it never heard is in the queue."""
    called = slurm()
    dying = (tmp_path / "bin" / "sbatch").read_text()
    (tmp_path / "bin" / "sbatch").write_text(f'{dying}case "$*" in *collectors*) kill -9 $PPID ;; esac\n')
    command = [sys.executable, "-m", "launch", *RUN]
    assert subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": ROOT}).returncode == -9
    run = RunDirectory.find("first")
    coordinator, _ = record.read(run)
    stem = coordinator.name.removesuffix("coordinator")
    rows = [f"{n}|{stem}{label}|PENDING||Held|0|0:00|" for n, label in ((101, "coordinator"), (103, "collectors"))]
    slurm(squeue="\n".join(rows) + "\n")
    choosing = "#!/bin/sh\nwhile [ $1 != -n ]; do shift; done\n"  # as Slurm does, by the names that it is asked for
    choosing += f"echo $2 | tr , '\\n' | grep -Ff - {tmp_path}/answers/squeue || true\n"
    (tmp_path / "bin" / "squeue").write_text(choosing)
    assert main(RUN) == 2
    assert "ludus stop first" in capsys.readouterr().err
    assert main(["status", "first"]) == 0
    assert "no coordinator has started yet" in capsys.readouterr().out
    assert main(["stop", "first"]) == 0
    assert "scancel --quiet 101 103" in called()
    assert "ludus resume first" in capsys.readouterr().out
    run.jobs.unlink()  # it died before it wrote anything down
    assert main(["stop", "first"]) == 0
    assert "ended what was left of a submission (101, 103)" in capsys.readouterr().out


def test_a_stop_does_not_wait_for_ever_for_a_job_that_does_not_end(slurm, monkeypatch, capsys):
    slurm()
    assert main(RUN) == 0
    coordinator, *_ = record.read(RunDirectory.find("first"))
    slurm(squeue=f"101|{coordinator.name}|COMPLETING|node3|None|0|0:00|\n")
    monkeypatch.setattr(control, "CANCEL_SECONDS", 0.0)
    monkeypatch.setattr(control, "drain", lambda config, run: False)
    assert main(["stop", "first"]) == 1
    assert "not ended after 0 s: coordinator-0 (job 101 on node3)" in capsys.readouterr().out


def test_claims_of_another_cluster_are_dropped_but_not_those_of_living_jobs(slurm):
    called = slurm()
    assert main([*RUN, "launch.dry_run=true"]) == 0
    claim = RunDirectory.find("first").claim("learner-0")
    claim.parent.mkdir()
    claim.write_text("000000999999.000000 elsewhere\n")
    slurm(squeue="101|ludus.first.x.coordinator|RUNNING||None|0|0:00|\n")
    assert main([*RUN, "launch.dry_run=false"]) == 2
    assert claim.exists()
    slurm(squeue="")
    assert main([*RUN, "launch.dry_run=false"]) == 0
    assert not claim.exists()
    assert "scontrol release 101" in called()


def test_a_dry_run_writes_scripts_and_needs_no_slurm(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert main([*RUN, "launch.dry_run=true"]) == 0
    assert "nothing was submitted" in capsys.readouterr().out
    assert (tmp_path / "runs/first/slurm/collectors.sbatch").read_text().startswith("#!/bin/bash\n")
    assert (tmp_path / "runs/first/slurm/job.sh").exists()
    assert main([*RUN, "launch.dry_run=false"]) == 2
    assert "there is no sbatch on the path" in capsys.readouterr().err


def test_without_slurm_no_run_is_made_or_changed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(RUN) == 2
    assert "there is no sbatch on the path" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
    assert main([*RUN, "launch.dry_run=true"]) == 0
    kept = (tmp_path / "runs/first/config.json").read_bytes()
    assert main([*RUN, "launch.dry_run=false"]) == 2
    assert (tmp_path / "runs/first/config.json").read_bytes() == kept


def test_a_run_with_jobs_in_the_queue_is_not_submitted_again(slurm, capsys):
    called = slurm(squeue="101|ludus.first.x.coordinator|PENDING||Priority|0|0:00|\n")
    assert main(RUN) == 2
    assert "has jobs in the queue already (101)" in capsys.readouterr().err
    assert not any(call.startswith("sbatch") for call in called())


def test_a_league_that_is_over_is_not_submitted_again(slurm, run, tmp_path, capsys):
    called = slurm()
    assert main([*RUN[:-1], "launch.slurm.probe=0"]) == 0
    submitted = called()
    run.ledger.rename(RunDirectory.find("first").ledger)
    raised = RunDirectory.find("first")
    raised.write_config({**raised.read_config(), "league": run.read_config()["league"]})
    capsys.readouterr()
    assert main(["resume", "first", "--trust"]) == 0
    assert "it was over already: " in capsys.readouterr().out
    assert [call for call in called()[len(submitted) :] if call.startswith("sbatch")] == []
