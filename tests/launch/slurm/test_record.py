"""Which jobs a run has."""

from launch.cli import main
from launch.slurm import record
from league.store.run_directory import RunDirectory

RUN = ["run", "launch=slurm/small", "env=tic_tac_toe", "name=first", "launch.slurm.probe=0"]


def test_a_refused_submission_leaves_the_jobs_of_the_last_one_on_record(slurm):
    slurm()
    assert main(RUN) == 0
    run = RunDirectory.find("first")
    before = run.jobs.read_bytes()
    slurm(limit=4, refusal="no")
    assert main(RUN) == 2
    assert run.jobs.read_bytes() == before


def test_an_array_that_was_cancelled_as_a_whole_is_no_process(slurm):
    slurm()
    assert main(RUN) == 0
    run = RunDirectory.find("first")
    name = record.read(run)[-1].name
    slurm(squeue=f"103|{name}|CANCELLED||None|0|0:00|\n103_2|{name}|RUNNING|node1|None|0|0:00|\n")
    assert [process for process, _ in record.look(run)] == ["collector-2"]
