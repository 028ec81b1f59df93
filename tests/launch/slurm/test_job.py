"""The manners of a job (`job.sh`), with commands that play Slurm's part: which signal comes when, and what follows."""

import os
import shutil
import signal
import subprocess

import pytest

from launch.processes.failing import refuse
from launch.slurm.script import SHARED
from league.errors import InputError
from league.store.run_directory import RunDirectory

STUBBORN = """\
trap "echo USR1 >>heard" USR1
trap "echo TERM >>heard" TERM
echo started >>heard
until [ -e done ]; do sleep 0.05; done
"""
SLEEP = shutil.which("sleep")
LIMIT, CANCELLED = "TimeLimit", "None"  # why Slurm ended a job, as squeue tells


@pytest.fixture
def job(tmp_path):
    """Return a function that starts a job whose program is a few lines of shell."""
    started = []
    (tmp_path / "slurm").mkdir()
    (tmp_path / "logs").mkdir()

    def start(program, reason=LIMIT, scontrol="", before="", rested=False):
        commands = {
            "scontrol": f'echo "scontrol $*" >>{tmp_path}/calls\n{scontrol}',
            "squeue": f"echo {reason}",
            "scancel": "",
        }
        if rested:  # the first three rests between two lives are over at once; what they were to be is in the log
            commands["sleep"] = f'case $1 in 2|4|8) exec {SLEEP} 0.1 ;; *) exec {SLEEP} "$@" ;; esac'
        for name, text in commands.items():
            (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
            (tmp_path / name).chmod(0o755)
        (tmp_path / "program").write_text(program)
        names = {"LUDUS_RUN": tmp_path, "LUDUS_NAME": "learner-0", "LUDUS_JOBS": "job", "LUDUS_REQUEUES": 9}
        slurm = {"SLURM_JOB_ID": 7, "SLURM_JOB_NAME": "job", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
        script = "\n".join([f". {SHARED}", before, "serve bash program"])
        environment = {**os.environ, **{key: str(value) for key, value in (names | slurm).items()}}
        log = (tmp_path / "log").open("wb")
        started.append((subprocess.Popen(["bash", "-c", script], cwd=tmp_path, env=environment, stderr=log), log))
        return started[-1][0]

    yield start
    (tmp_path / "done").touch()
    for process, log in started:
        process.kill()
        process.wait()
        log.close()


@pytest.fixture
def told(tmp_path):
    """Return a function that returns what was written to a file of the job."""
    return lambda name: (tmp_path / name).read_text() if (tmp_path / name).exists() else ""


def test_a_limit_that_comes_before_the_checkpoint_is_written_requeues_all_the_same(job, told, patiently, tmp_path):
    process = job(STUBBORN)
    for number, word in ((signal.SIGUSR1, "USR1"), (signal.SIGTERM, "TERM")):
        patiently(lambda: "started" in told("heard"), 30, "the start")
        process.send_signal(number)
        patiently(lambda word=word: word in told("heard"), 30, f"{word}, handed on")
    assert not told("calls"), "not before the process has written down what it has"
    (tmp_path / "done").touch()
    assert process.wait(30) == 143
    assert told("calls") == "scontrol requeue 7\n"
    assert "to be continued: requeued" in told("log")


def test_a_job_that_is_cancelled_in_its_last_minutes_is_not_requeued(job, told, patiently, tmp_path):
    process = job(STUBBORN, reason=CANCELLED)
    patiently(lambda: "started" in told("heard"), 30, "the start")
    process.send_signal(signal.SIGUSR1)
    patiently(lambda: "USR1" in told("heard"), 30, "USR1, handed on")
    process.send_signal(signal.SIGTERM)
    patiently(lambda: "TERM" in told("heard"), 30, "TERM, handed on")
    (tmp_path / "done").touch()
    assert process.wait(30) == 143
    assert not told("calls")
    assert "ended by Slurm" in told("log")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1], ids=str)
def test_a_process_that_failed_is_not_started_again_after_a_signal(job, told, patiently, number):
    process = job("echo started >>heard; exit 3", scontrol="kill -s TERM $PPID")
    patiently(lambda: "it starts again in 2 s" in told("log"), 60, "a rest")
    process.send_signal(number)
    assert process.wait(30) == 143
    assert told("heard").count("started") == 1
    assert ("requeued" in told("log")) == (number == signal.SIGUSR1)


def test_a_signal_that_comes_before_the_process_has_a_name_reaches_it(job, told):
    once = """set -T; trap '[ "$BASH_COMMAND" != "child=\\$!" ] || kill -s USR1 $$' DEBUG"""
    process = job("sleep 100", before=once, scontrol="kill -s TERM $PPID")
    assert process.wait(30) == 143
    assert told("calls") == "scontrol requeue 7\n"


@pytest.mark.parametrize("end", ["kill -s TERM $$", "exit 1"])
def test_a_requeue_that_ends_its_own_scontrol_is_one(job, told, patiently, tmp_path, end):
    process = job(STUBBORN, scontrol=f"kill -s TERM $PPID; {end}")
    patiently(lambda: "started" in told("heard"), 30, "the start")
    process.send_signal(signal.SIGUSR1)
    (tmp_path / "done").touch()
    assert process.wait(30) == 143
    assert told("calls").count("requeue") == 1
    assert "to be continued: requeued" in told("log")
    assert not (tmp_path / "slurm" / "ended").exists()


def test_a_cluster_that_forbids_it_is_told(job, told, patiently, tmp_path):
    process = job(STUBBORN, scontrol="exit 1", before="sleep() { :; }")
    patiently(lambda: "started" in told("heard"), 30, "the start")
    process.send_signal(signal.SIGUSR1)
    (tmp_path / "done").touch()
    assert process.wait(30) == 1
    assert told("calls").count("requeue") == 3
    assert "could not be requeued" in (tmp_path / "slurm" / "ended").read_text()


RAISES = """\
echo life >>lives
printf '%s\\n' 'Traceback (most recent call last):' '  File x.py, line 3' "ValueError: {what}" >>logs/learner-0.log
exit 1
"""


def test_a_process_that_refuses_what_it_was_given_is_not_started_again(job, told, tmp_path):
    refuse(RunDirectory(tmp_path), InputError("there are no games in x"))  # as the process does
    said = "2026-01-01 ERROR ludus.refusal: there are no games in x"
    process = job(f"echo life >>lives; echo '{said}' >>logs/learner-0.log; exit 2")
    assert process.wait(30) == 2
    assert told("lives") == "life\n"
    assert "given up: refused what it was given" in told("log")
    assert told("slurm/ended") == "there are no games in x\n"


@pytest.mark.slow
def test_the_same_error_three_times_in_a_row_is_for_good(job, told):
    process = job(RAISES.format(what="batch $RANDOM is broken"), rested=True)
    assert process.wait(60) == 1
    assert [f"it starts again in {rest} s" in told("log") for rest in (2, 4, 8)] == [True, True, False]
    assert told("lives").count("life") == 3
    assert "learner-0 failed 3 times in a row with the same error (exit code 1)" in told("slurm/ended")


@pytest.mark.slow
def test_the_same_error_after_work_is_another_one(job, told, patiently):
    process = job(
        'echo "player main: version $RANDOM is written" >>logs/learner-0.log\n' + RAISES.format(what="x"), rested=True
    )
    patiently(lambda: told("lives").count("life") == 4, 60, "a fourth life")
    assert process.poll() is None


@pytest.mark.slow
def test_a_coordinator_that_signals_end_starts_again_as_long_as_results_are_counted(job, told, patiently, tmp_path):
    (tmp_path / "journals").mkdir()
    serves = f"echo life >>lives; {SLEEP} 2.1; echo acknowledged >>journals/collector-0.jsonl; kill -s ABRT $$"
    process = job(serves, before="LUDUS_NAME=coordinator-0", rested=True)
    patiently(lambda: told("lives").count("life") > 6, 90, "a seventh life, though five failures in a row are fatal")
    assert process.poll() is None
    assert "it starts again in 4 s" not in told("log"), "such an end is no failure that others add up to"
