"""From a config to the list of processes that make up its league."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from launch.config.config import Config
from league.wire.messages import Role

HUNG = 70  # exit code of a process whose environment hung


@dataclass(frozen=True, slots=True)
class Part:
    """One process of the topology."""

    role: str
    index: int
    ranks: int = 1  # more than one: torchrun starts them

    @property
    def name(self) -> str:
        """What its log and the status call it."""
        return f"{self.role}-{self.index}"


ROLES = {"collector": Role.COLLECTOR, "learner": Role.LEARNER, "inference": Role.INFERENCE, "tracker": Role.TRACKER}


def key_holders(parts: Sequence[Part]) -> dict[str, Role]:
    """Return the processes that connect to others, by the names that their keys and messages carry.

    >>> list(key_holders([Part("coordinator", 0), Part("learner", 0, ranks=2), Part("collector", 3)]))
    ['learner-0', 'learner-0.1', 'collector-3']
    """
    return {
        rank_name(part.name, rank): ROLES[part.role]
        for part in parts
        if part.role in ROLES
        for rank in range(part.ranks)
    }


def rank_name(process: str, rank: int) -> str:
    """Return the name of one rank of a process; the first one has the name of the process."""
    return f"{process}.{rank}" if rank else process


def topology(config: Config) -> list[Part]:
    """Return the processes of a league, in the order in which they start."""
    collectors = config.launch.collectors or os.cpu_count() or 1
    inferences = config.launch.learners if config.collector.inference == "central" else 0
    buffers = config.launch.learners * config.launch.ranks if config.learner.replay_in == "buffer" else 0
    return [
        Part("coordinator", 0),
        *(Part("learner", i, config.launch.ranks) for i in range(config.launch.learners)),
        *(Part("inference", i) for i in range(inferences)),
        *(Part("buffer", i) for i in range(buffers)),
        *(Part("collector", i) for i in range(collectors)),
        *(Part("tracker", i) for i in range(len(config.track.to))),
    ]


def learner_names(config: Config) -> list[str]:
    """Return the names of the learner processes, by which the coordinator shares players out."""
    return [f"learner-{i}" for i in range(config.launch.learners)]


def processes(parts: Sequence[Part]) -> dict[str, int]:
    """Count processes by role: each rank of a learner is one, and a coordinator has a replica beside it.

    >>> processes([Part("coordinator", 0), Part("learner", 0, ranks=2), Part("collector", 0), Part("collector", 1)])
    {'coordinator': 1, 'replica': 1, 'learner': 2, 'collector': 2}
    """
    counts: Counter[str] = Counter()
    for part in parts:
        counts[part.role] += part.ranks
        if part.role == "coordinator":
            counts["replica"] += 1
    return dict(counts)
