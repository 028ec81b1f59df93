"""A sweep of whole leagues: Hydra's multirun with its submitit launcher, on a real Slurm."""

import pytest

from league.ids import PlayerId

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(1200)]

TINY = [
    "experiment=tic_tac_toe", "launch.collectors=1", "policy.hidden=[8]", "league.budget.minutes=1",
    "league.evaluation.final_games=4", "collector.slots=16", "algo.batch=256",
    "hydra/launcher=submitit_slurm", "hydra.launcher.timeout_min=10", "hydra.launcher.mem_gb=1",
    "hydra.launcher.cpus_per_task=5", "hydra.launcher.partition=low", "hydra.launcher.max_num_timeout=1",
]  # fmt: skip


def test_jobs_of_a_sweep_play_a_league_each_and_go_on_after_time_limit_and_preemption(leagues, patiently, slurm, empty):
    def of_job(job, *columns):
        return slurm("squeue", "-h", "-j", job, "-O", ",".join(f"{column}:|" for column in columns)).split("|")

    sweep, (first, second) = leagues("sweep"), [leagues(f"sweep.seed={seed}") for seed in (1, 2)]
    waiting = sweep.start("run", "-m", "seed=1,2", "name=sweep", *TINY, "--quiet")
    patiently(lambda: first.results() or second.results(), 300, "the first result")
    (script,) = sweep.place.glob("runs/sweeps/*/.submitit/*/*_submission.sh")
    array = script.parent.name
    assert "--signal=USR2@120" in script.read_text()

    def reach_time_limit():
        """Send what Slurm sends to all processes of a job before its time limit."""
        slurm("scancel", "--signal=USR2", f"{array}_0")

    def preempt():
        """Let somebody with a better claim take the node, for a while."""
        node, *_ = of_job(f"{array}_1", "NodeList")
        claim = ["--parsable", "--partition=main", f"--nodelist={node}", "--exclusive", "--time=10"]
        rivals.append(slurm("sbatch", *claim, "--output=/dev/null", "--wrap=sleep 600").strip())

    rivals, safe = [], [(first, reach_time_limit), (second, preempt)]

    def harmed():
        """Harm each as soon as it plays: it has a minute."""
        for one in [one for one in safe if one[0].results()]:
            safe.remove(one)
            one[1]()
        return not safe

    patiently(harmed, 300, "results of both")
    patiently(lambda: of_job(f"{array}_1", "RestartCnt")[0] == "1", 150, "the preemption")
    slurm("scancel", *rivals)

    said, _ = waiting.communicate()
    assert waiting.returncode == 0, said
    for seed, league in enumerate((first, second), start=1):
        state = league.view().state
        assert (state.seed, state.phase, state.term) == (seed, "over", 2)
        assert PlayerId("main") in state.population
        assert league.is_sound()
    empty()
