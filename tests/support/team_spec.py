"""A team of three agents in one seat, and random weights for networks."""

import numpy as np

from league.policies.layout import describe
from league.spec import Array, EnvSpec, Seat

TEAM = EnvSpec(
    name="team",
    agents=("a", "b", "c"),
    seats=(Seat(agents=(0, 1, 2)),),
    observation=Array(shape=(5,), dtype="float32"),
    actions=4,
)


def random_weights(config, spec, seed=0):
    return (np.random.default_rng(seed).standard_normal(describe(config, spec).size) * 0.3).astype(np.float32)
