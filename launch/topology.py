"""From a config to the list of processes that make up its league."""

import os
from dataclasses import dataclass

from launch.config import Config

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
