"""From a config to the list of processes that make up its league."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from launch.config.config import Config
from launch.topology.roles import ROLES, ProcessRole
from league.wire.messages import Role

HUNG = 70  # exit code of a process whose environment hung


@dataclass(frozen=True, slots=True)
class Part:
    """One process of the topology."""

    role: ProcessRole
    index: int
    ranks: int = 1  # more than one: torchrun starts them

    @property
    def name(self) -> str:
        """Its name in logs, keys and the status."""
        return f"{self.role}-{self.index}"


def key_holders(parts: Sequence[Part]) -> dict[str, Role]:
    """Return the processes that connect to others, by the names that their keys and messages carry.

    >>> parts = [Part(ProcessRole.COORDINATOR, 0), Part(ProcessRole.LEARNER, 0, ranks=2), Part(ProcessRole.BUFFER, 1)]
    >>> list(key_holders(parts))
    ['learner-0', 'learner-0.1']
    """
    return {
        rank_name(part.name, rank): key
        for part in parts
        if (key := ROLES[part.role].key) is not None
        for rank in range(part.ranks)
    }


def rank_name(process: str, rank: int) -> str:
    """Return the name of one rank of a process; the first one has the name of the process."""
    return f"{process}.{rank}" if rank else process


def topology(config: Config) -> list[Part]:
    """Return the processes of a league, in the order in which they start."""
    collectors = config.launch.collectors or os.cpu_count() or 1
    dashboards = [Part(ProcessRole.DASHBOARD, 0)] if config.dashboard else []
    if config.league.tournament.enabled:  # nobody learns
        players = [Part(ProcessRole.COLLECTOR, i) for i in range(collectors)]
        return [Part(ProcessRole.COORDINATOR, 0), *players, *dashboards]
    inferences = config.launch.learners if config.collector.inference == "central" else 0
    buffers = config.launch.learners * config.launch.ranks if config.learner.replay_in == "buffer" else 0
    return [
        Part(ProcessRole.COORDINATOR, 0),
        *(Part(ProcessRole.LEARNER, i, config.launch.ranks) for i in range(config.launch.learners)),
        *(Part(ProcessRole.INFERENCE, i) for i in range(inferences)),
        *(Part(ProcessRole.BUFFER, i) for i in range(buffers)),
        *(Part(ProcessRole.COLLECTOR, i) for i in range(collectors)),
        *(Part(ProcessRole.TRACKER, i) for i in range(len(config.track.to))),
        *dashboards,
    ]


def learner_names(config: Config) -> list[str]:
    """Return the names of the learner processes, to which the coordinator assigns players."""
    return [part.name for part in topology(config) if part.role is ProcessRole.LEARNER]


def processes(parts: Sequence[Part]) -> dict[str, int]:
    """Count processes by role: each rank of a learner is one, and a coordinator has a replica beside it.

    >>> coordinator, learner = Part(ProcessRole.COORDINATOR, 0), Part(ProcessRole.LEARNER, 0, ranks=2)
    >>> processes([coordinator, learner])
    {'coordinator': 1, 'replica': 1, 'learner': 2}
    """
    counts: Counter[str] = Counter()
    for part in parts:
        counts[part.role.value] += part.ranks
        if part.role == ProcessRole.COORDINATOR:
            counts[ProcessRole.REPLICA.value] += 1
    return dict(counts)
