"""Submission: all jobs or none, with commands that play Slurm's part and note what they were asked."""

import os

import pytest

from launch.cli import main
from launch.slurm import record
from launch.slurm.commands import queue
from league.store.run_directory import RunDirectory

RUN = ["run", "launch=slurm/small", "env=tic_tac_toe", "name=first", "launch.slurm.probe=0"]
SBATCH = """\
#!/bin/sh
echo "sbatch $*" >>{calls}
case "$*" in *--test-only*) exit 0 ;; esac
n=$(grep -c -- --parsable {calls})
if [ "$n" -gt {limit} ]; then echo "sbatch: error: {refusal}" >&2; exit 1; fi
echo "$((100 + n));cluster"
"""
NOTED = '#!/bin/sh\necho "{name} $*" >>{calls}\ncat {answers}/{name} 2>/dev/null || true\n'


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Return a function that puts commands on the path; sbatch refuses after some jobs. It returns what was called."""
    calls, answers, place = tmp_path / "calls", tmp_path / "answers", tmp_path / "bin"
    answers.mkdir()
    place.mkdir()
    monkeypatch.chdir(tmp_path)

    def install(limit=99, refusal="", **texts):
        commands = {
            name: NOTED.format(name=name, calls=calls, answers=answers) for name in ("squeue", "scancel", "scontrol")
        }
        commands["sbatch"] = SBATCH.format(calls=calls, limit=limit, refusal=refusal)
        for name, text in commands.items():
            (place / name).write_text(text)
            (place / name).chmod(0o755)
        for name, text in texts.items():
            (answers / name).write_text(text)
        monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
        return lambda: calls.read_text().splitlines()

    return install


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


def test_a_dry_run_writes_scripts_and_needs_no_slurm(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert main([*RUN, "launch.dry_run=true"]) == 0
    assert "nothing was submitted" in capsys.readouterr().out
    assert (tmp_path / "runs/first/slurm/collectors.sbatch").read_text().startswith("#!/bin/bash\n")
    assert (tmp_path / "runs/first/slurm/job.sh").exists()
    assert main([*RUN, "launch.dry_run=false"]) == 2
    assert "there is no sbatch on the path" in capsys.readouterr().err


def test_a_run_with_jobs_in_the_queue_is_not_submitted_again(slurm, capsys):
    called = slurm(squeue="101|ludus.first.x.coordinator|PENDING||Priority|0|0:00|\n")
    assert main(RUN) == 2
    assert "has jobs in the queue already (101)" in capsys.readouterr().err
    assert not any(call.startswith("sbatch") for call in called())


def test_the_queue_is_read_whole(slurm):
    slurm(squeue="7_3|name|RUNNING|node[1-2]|None|2|1:02|\n8|name|PENDING||ReqNodeNotAvail, down|0|0:00|\n")
    first, second = queue(["name"])
    assert (first.task, first.node, first.restarts, first.alive) == (3, "node[1-2]", 2, True)
    assert (second.task, second.reason) == (None, "ReqNodeNotAvail, down")


def test_an_array_that_was_cancelled_as_a_whole_is_no_process(slurm):
    slurm()
    assert main(RUN) == 0
    run = RunDirectory.find("first")
    name = record.read(run)[-1].name
    slurm(squeue=f"103|{name}|CANCELLED||None|0|0:00|\n103_2|{name}|RUNNING|node1|None|0|0:00|\n")
    assert [process for process, _ in record.look(run)] == ["collector-2"]
