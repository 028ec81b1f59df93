"""The scripts that people read: exactly these, for these configs."""

import sys
from pathlib import Path

from launch.config.compose import compose
from launch.slurm.script import array, jobs, script
from league.store.run_directory import RunDirectory

HERE = Path("/home/ada")


COLLECTORS = """\
#!/bin/bash
# The collectors of the league 'first'.
# `ludus run` and `ludus resume` overwrite this file: make changes in the config.
#SBATCH --job-name=ludus.first.{digest}.collectors
#SBATCH --output='/shared/my runs/first/logs/collector-%a.log'
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:USR1@90
#SBATCH --chdir=/home/ada
#SBATCH --array=0-7%4
#SBATCH --partition=low
#SBATCH --account=chess
#SBATCH --qos=long
#SBATCH --time=2-12
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --mail-type=FAIL
#SBATCH --nice=100

LUDUS_RUN='/shared/my runs/first'
LUDUS_NAME=collector-$SLURM_ARRAY_TASK_ID
LUDUS_JOBS='{stem}.coordinator {stem}.learner-0 {stem}.learner-1 {stem}.collectors'
LUDUS_REQUEUES=1000
. "$LUDUS_RUN/slurm/job.sh" || exit 1

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
module load games
export PYTHONSAFEPATH=1  # no Python below imports from the current directory

serve apptainer exec league.sif python3 -P -m launch.processes --run "$LUDUS_RUN" --role collector \
--index $SLURM_ARRAY_TASK_ID --lone --allow my_games
"""


LEARNER = """\
#SBATCH --gres=gpu:1
#SBATCH --time=12:00:00
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G

LUDUS_RUN='/shared/my runs/first'
LUDUS_NAME=learner-1
"""


RANKS = """\
step  # sets where the ranks meet, LUDUS_HEAD, and what their group is called, LUDUS_GROUP
serve srun --kill-on-bad-exit=1 --export=ALL bash -c '
    trap "" USR1  # torchrun would die of it; the ranks have a handler of their own
    exec python3 -P -m torch.distributed.run --nnodes=2 --nproc-per-node=2 --max-restarts=0 --rdzv-backend=c10d \
--rdzv-id="$LUDUS_GROUP" --rdzv-endpoint="$LUDUS_HEAD" -m -- launch.processes --run "$LUDUS_RUN" --role learner \
--index 0 --lone'
"""


def scripts(*overrides, allow=()):
    config = compose(["launch=slurm", *overrides])
    run = RunDirectory(Path("/shared/my runs/first"))
    return {job.label: (job, script(job, config, run, HERE, allow)) for job in jobs(config, run)}


def test_every_request_of_the_config_is_in_the_script():
    found = scripts(
        "launch.learners=2",
        "launch.collectors=8",
        "launch.slurm.limit=4",
        "launch.slurm.lead=90",
        "launch.slurm.account=chess",
        "launch.slurm.qos=long",
        "launch.slurm.time=2-12",
        "launch.slurm.sbatch=['--mail-type=FAIL']",
        "launch.slurm.setup=[module load games]",
        "launch.slurm.prefix='apptainer exec league.sif'",
        "launch.slurm.python=python3",
        "launch.slurm.collector.partition=low",
        "launch.slurm.collector.sbatch=['--nice=100']",
        allow=["my_games"],
    )
    assert list(found) == ["coordinator", "learner-0", "learner-1", "collectors"]
    job, text = found["collectors"]
    stem = job.name.removesuffix(".collectors")
    assert text == COLLECTORS.format(stem=stem, digest=stem.rpartition(".")[2])


def test_a_role_overrides_what_is_said_for_all():
    text = scripts("launch=slurm/my_cluster", "launch.slurm.learner.partition=null")["learner-1"][1]
    assert LEARNER in text
    assert "--partition" not in text
    assert f"serve {sys.executable} -P -m launch.processes" in text


def test_each_role_may_have_its_own_quality_of_service():
    found = scripts("launch.slurm.qos=normal", "launch.slurm.learner.qos=high")
    assert {label: "#SBATCH --qos=high\n" in text for label, (_, text) in found.items()} == {
        "coordinator": False,
        "learner-0": True,
        "collectors": False,
    }
    assert "#SBATCH --qos=normal\n" in found["coordinator"][1]
    assert "--qos" not in scripts()["coordinator"][1]


def test_several_ranks_are_a_step_of_torchrun():
    text = scripts("launch.ranks=4", "launch.slurm.nodes=2", "launch.slurm.python=python3")["learner-0"][1]
    assert "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n" in text
    assert text.endswith(RANKS)
    assert "torch" not in scripts("launch.ranks=4", "launch.slurm.nodes=2")["coordinator"][1]


def test_trackers_run_beside_the_coordinator():
    found = scripts("track.to=[tensorboard]", "launch.slurm.python=python3")
    assert (
        'aside tracker-0 python3 -P -m launch.processes --run "$LUDUS_RUN" --role tracker --index 0 --lone\n'
        'serve python3 -P -m launch.processes --run "$LUDUS_RUN" --role coordinator'
    ) in found["coordinator"][1]
    assert "aside" not in found["learner-0"][1]


def test_inference_runs_beside_its_learner():
    found = scripts("collector.inference=central", "launch.learners=2", "launch.slurm.python=python3")
    assert "--role inference --index 1 --lone\nserve" in found["learner-1"][1]
    assert "inference" not in found["coordinator"][1] + found["collectors"][1]


def test_a_buffer_runs_beside_its_learner():
    found = scripts("algo=dqn", "learner.replay_in=buffer", "launch.learners=2", "launch.slurm.python=python3")
    assert "--role buffer --index 1 --lone\nserve" in found["learner-1"][1]
    assert "buffer" not in found["coordinator"][1] + found["collectors"][1]
    ranks = scripts("algo=dqn", "learner.replay_in=buffer", "launch.learners=2", "launch.ranks=2")
    assert [f"buffer --index {i} " in ranks["learner-1"][1] for i in range(4)] == [False, False, True, True]


def test_two_runs_of_one_name_have_different_jobs():
    config = compose(["launch=slurm"])
    names = {jobs(config, RunDirectory(Path(place) / "a,b"))[0].name for place in ("/one", "/two")}
    assert len(names) == 2
    assert not any("," in name for name in names), "squeue takes several names with commas between them"


def test_indices_are_written_as_sbatch_reads_them():
    assert [array([3]), array(range(64)), array([0, 2, 3, 9], 2)] == ["3", "0-63", "0,2-3,9%2"]
