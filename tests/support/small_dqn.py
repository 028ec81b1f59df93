"""A small DQN, and batches for it."""

import numpy as np

from league.policies.layout import PolicyConfig, initial
from learners.algorithms.dqn import DQN
from learners.algorithms.dqn_config import DQNConfig
from learners.batcher import Batch

POLICY = PolicyConfig(hidden=[16], head="values")


ALGO = {"batch": 32, "minibatch": 32, "replay": 512, "warmup": 32, "samples_per_insert": 4.0, "lr": 1e-2}


def make(spec, **changes):
    return DQN(DQNConfig(**{**ALGO, **changes}), POLICY, spec, initial(POLICY, spec, 0))


def batch_of(segments):
    return Batch(segments, np.zeros(segments.decisions, np.int64), {})
