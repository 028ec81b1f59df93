"""The table of process roles agrees with the code it names."""

import subprocess
import sys

import pytest

from launch.config.config import from_plain
from launch.config.slurm import SlurmConfig
from launch.processes.process import load_runner
from launch.topology.parts import Part, key_holders, topology
from launch.topology.roles import JOB_ROLES, ROLES, ProcessRole, role_of
from league.wire.messages import Role


def test_every_role_has_traits_and_a_runner():
    assert set(ROLES) == set(ProcessRole)
    for traits in ROLES.values():
        assert callable(load_runner(traits.runner))


def test_slurm_jobs_are_configured_for_roles_with_jobs_of_their_own():
    assert JOB_ROLES == (ProcessRole.COORDINATOR, ProcessRole.LEARNER, ProcessRole.COLLECTOR)
    for role in JOB_ROLES:
        assert SlurmConfig().job(role)


def test_the_coordinator_is_stopped_last_and_trackers_after_workers():
    stages = {role: traits.stop_stage for role, traits in ROLES.items() if role is not ProcessRole.REPLICA}
    last = max(stages, key=stages.get)
    assert last is ProcessRole.COORDINATOR
    workers = [stage for role, stage in stages.items() if role not in (ProcessRole.TRACKER, last)]
    assert max(workers) < stages[ProcessRole.TRACKER] < stages[last]


def test_keys_go_to_those_that_connect():
    parts = [Part(role, 0) for role in ProcessRole]
    keys = {"learner-0": Role.LEARNER, "collector-0": Role.COLLECTOR}
    assert key_holders(parts) == keys | {"inference-0": Role.INFERENCE, "tracker-0": Role.TRACKER}


def test_process_names_begin_with_their_role():
    for part in topology(from_plain({})):
        assert role_of(part.name) is part.role
    assert role_of("learner-0.1") is ProcessRole.LEARNER


@pytest.mark.parametrize("role", [ProcessRole.COORDINATOR, ProcessRole.COLLECTOR, ProcessRole.REPLICA])
def test_torch_stays_out_of_processes_that_do_not_need_it(role):
    code = (
        "import sys; from launch.processes.process import load_runner; "
        f"load_runner({ROLES[role].runner!r}); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
