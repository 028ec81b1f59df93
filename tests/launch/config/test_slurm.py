"""What the jobs of a league ask Slurm for."""

import pytest

from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.topology.parts import topology


@pytest.mark.parametrize("preset", ["slurm", "slurm/small", "slurm/gpu_node", "slurm/cluster", "slurm/my_cluster"])
def test_presets_compose(preset):
    config = compose([f"launch={preset}"])
    assert (config.launch.name, config.launch.transport) == ("slurm", "tcp")
    assert len(topology(config)) == 1 + config.launch.learners + config.launch.collectors


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("launch.slurm.nodes=0", "at least one"),
        ("launch.slurm.nodes=2", "1 ranks cannot be spread evenly over 2 nodes"),
        ("launch.slurm.time=soon", "write minutes, hours:minutes:seconds or days-hours"),
        ("launch.slurm.learner.memory=lots", "write a number and K, M, G or T"),
        ("launch.slurm.learner.cpus=0", "at least one"),
        ("launch.slurm.sbatch=[mail]", "'mail' is no option"),
        ("launch.slurm.lead=-1", "must not be negative"),
        ("launch.transport=ipc", "on Slurm transport must be tcp"),
        ("launch.slurm.partitoin=gpu", "did you mean 'launch.slurm.partition'?"),
        ("launch=slurm/samll", "Did you mean 'slurm/small'?"),
    ],
)
def test_what_slurm_could_not_read_is_refused_in_one_line(override, message):
    with pytest.raises(ConfigError) as caught:
        compose(["launch=slurm", override] if not override.startswith("launch=") else [override])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
