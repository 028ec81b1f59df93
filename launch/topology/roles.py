"""The roles of processes, in one table: how each is run, which key it has, and when it is stopped.

traits = ROLES[ProcessRole.COLLECTOR]
traits.vital, traits.niceness              # False, 5: the league goes on without it, and it yields to others
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from league.wire.messages import Role

PEERS = (Role.COLLECTOR, Role.LEARNER, Role.INFERENCE)


class ProcessRole(StrEnum):
    """What a process of a league is for; also the first part of its name."""

    COORDINATOR = "coordinator"
    LEARNER = "learner"
    COLLECTOR = "collector"
    INFERENCE = "inference"
    BUFFER = "buffer"
    TRACKER = "tracker"
    REPLICA = "replica"
    DASHBOARD = "dashboard"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleTraits:
    """What is true of every process of one role."""

    runner: str  # module:function, imported when the process starts: only those that need torch import it
    key: Role | None = None  # the role in the key by which it connects to others; None: it needs no key
    admits: tuple[Role, ...] = PEERS  # the roles whose keys its own socket accepts
    niceness: int = 0  # a collector yields to the learner and the coordinator, whom all wait for; a replica to all
    stop_stage: int = 0  # the supervisor stops stage 0 first; trackers come after the workers whose results they track
    vital: bool = True  # the league is given up if such a process fails again and again
    drains: bool = False  # it ends by itself when the coordinator stops the league
    prints: bool = False  # the supervisor passes its standard output on to the user
    beside: ProcessRole | None = None  # on Slurm it runs in the job of this role; None: it has jobs of its own
    per_rank: bool = False  # there is one for each rank of a learner, not one for each learner


ROLES: Mapping[ProcessRole, RoleTraits] = MappingProxyType(
    {
        ProcessRole.COORDINATOR: RoleTraits(
            runner="launch.processes.run_coordinator:run_coordinator",
            admits=(Role.COLLECTOR, Role.LEARNER, Role.OPERATOR),
            stop_stage=2,
        ),
        ProcessRole.LEARNER: RoleTraits(
            runner="launch.processes.run_learner:run_learner",
            key=Role.LEARNER,
            drains=True,
        ),
        ProcessRole.COLLECTOR: RoleTraits(
            runner="launch.processes.run_collector:run_collector",
            key=Role.COLLECTOR,
            niceness=5,
            vital=False,
            drains=True,
        ),
        ProcessRole.INFERENCE: RoleTraits(
            runner="launch.processes.run_beside_learner:run_inference",
            key=Role.INFERENCE,
            beside=ProcessRole.LEARNER,
        ),
        ProcessRole.BUFFER: RoleTraits(
            runner="launch.processes.run_beside_learner:run_buffer",
            beside=ProcessRole.LEARNER,
            per_rank=True,
        ),
        ProcessRole.TRACKER: RoleTraits(
            runner="launch.processes.run_tracker:run_tracker",
            key=Role.TRACKER,
            niceness=5,
            stop_stage=1,
            vital=False,
            prints=True,
            beside=ProcessRole.COORDINATOR,
        ),
        ProcessRole.REPLICA: RoleTraits(  # the coordinator itself starts it, and starts it again without a limit
            runner="launch.processes.run_replica:run_replica",
            admits=(Role.VIEWER, Role.TRACKER, Role.OPERATOR),
            niceness=10,
            vital=False,
            beside=ProcessRole.COORDINATOR,
        ),
        ProcessRole.DASHBOARD: RoleTraits(  # a viewer of the replica, with the key of the user's own viewers
            runner="launch.dashboard.run_dashboard:run_dashboard",
            niceness=10,
            vital=False,
            prints=True,
            beside=ProcessRole.COORDINATOR,
        ),
    }
)
JOB_ROLES = tuple(role for role, traits in ROLES.items() if traits.beside is None)  # in the order of submission


def role_of(process: str) -> ProcessRole:
    """Return the role of a process by its name.

    >>> role_of("learner-0.1"), role_of("coordinator")
    (<ProcessRole.LEARNER: 'learner'>, <ProcessRole.COORDINATOR: 'coordinator'>)
    """
    return ProcessRole(process.partition("-")[0])
