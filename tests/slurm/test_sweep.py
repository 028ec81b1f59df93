"""A sweep of whole leagues: Hydra's multirun with its submitit launcher, on a real Slurm."""

import subprocess

import pytest

from league.ids import PlayerId

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(240)]

TINY = [
    "experiment=tic_tac_toe", "launch=inline", "policy.hidden=[8]", "league.budget.minutes=null",
    "league.budget.env_steps=600", "league.evaluation.final_games=4", "collector.slots=16", "algo.batch=256",
    "hydra/launcher=submitit_slurm", "hydra.launcher.timeout_min=5", "hydra.launcher.mem_gb=1",
    "hydra.launcher.cpus_per_task=1", "hydra.launcher.partition=main",
]  # fmt: skip


def test_each_job_of_a_sweep_plays_a_league(leagues):
    leagues("sweep").ludus("run", "-m", "seed=1,2", "name=sweep", *TINY, "--quiet")
    for seed in (1, 2):
        league = leagues(f"sweep.seed={seed}")
        state = league.view().state
        assert (state.seed, state.phase) == (seed, "over")
        assert PlayerId("main") in state.population
        assert league.is_sound()
    assert not subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=True).stdout
    (array,) = leagues("sweep").place.glob("runs/sweeps/*/.submitit")
    assert list(array.rglob("*_submission.sh")), "they were jobs of Slurm"
