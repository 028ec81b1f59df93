"""A sweep of whole leagues: Hydra's multirun with its submitit launcher, on a real Slurm."""

import subprocess

import pytest

from league.ids import PlayerId

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(400)]

TINY = [
    "experiment=tic_tac_toe", "launch.collectors=1", "policy.hidden=[8]", "league.budget.minutes=0.3",
    "league.evaluation.final_games=4", "collector.slots=16", "algo.batch=256",
    "hydra/launcher=submitit_slurm", "hydra.launcher.timeout_min=10", "hydra.launcher.mem_gb=1",
    "hydra.launcher.cpus_per_task=5", "hydra.launcher.partition=low", "hydra.launcher.max_num_timeout=1",
]  # fmt: skip


def state_of(job):
    """Return the state of a job, how often it was restarted, and its node."""
    form = "State:|,RestartCnt:|,NodeList:|"
    told = subprocess.run(["squeue", "-h", "-j", job, "-O", form], capture_output=True, text=True, check=True).stdout
    state, restarts, node, _ = told.split("|")
    return state, int(restarts), node


def test_jobs_of_a_sweep_play_a_league_each_and_go_on_after_time_limit_and_preemption(leagues, patiently):
    sweep, (first, second) = leagues("sweep"), [leagues(f"sweep.seed={seed}") for seed in (1, 2)]
    waiting = sweep.start("run", "-m", "seed=1,2", "name=sweep", *TINY, "--quiet")
    patiently(lambda: first.results() and second.results(), 150, "the first results")
    (script,) = sweep.place.glob("runs/sweeps/*/.submitit/*/*_submission.sh")
    array = script.parent.name

    # What Slurm sends to all processes of a job before its time limit.
    assert "--signal=USR2@120" in script.read_text()
    subprocess.run(["scancel", "--signal=USR2", f"{array}_0"], check=True)

    # Somebody with a better claim takes the node of the other job, for a while.
    claim = ["--parsable", "--partition=main", f"--nodelist={state_of(f'{array}_1')[2]}", "--exclusive", "--time=1"]
    claim += ["--output=/dev/null", "--wrap=sleep 600"]
    rival = subprocess.run(["sbatch", *claim], capture_output=True, text=True, check=True).stdout.strip()
    patiently(lambda: state_of(f"{array}_1")[1] == 1, 60, "the preemption")
    subprocess.run(["scancel", rival], check=True)

    said, _ = waiting.communicate()
    assert waiting.returncode == 0, said
    for seed, league in enumerate((first, second), start=1):
        state = league.view().state
        assert (state.seed, state.phase, state.term) == (seed, "over", 2)
        assert PlayerId("main") in state.population
        assert league.is_sound()
    assert not subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=True).stdout
