"""A team of three, and a sample of its replay."""

import numpy as np
import torch

from league.policies.layout import PolicyConfig, initial
from league.spec import Array, EnvSpec, Seat
from learners.replay import Sample

SPEC = EnvSpec("team", ("a", "b", "c"), (Seat((0, 1, 2)),), Array((2,), "float32"), actions=4)


CPU = torch.device("cpu")


POLICY = PolicyConfig(hidden=[8], head="values", agent_id=True)


def fixed_sample(seed=0, steps=5):
    rng = np.random.default_rng(seed)

    def seen():
        mask = rng.random((steps, 3, 4)) < 0.5
        mask[:, :, 2] = True
        present = rng.random((steps, 3)) < 0.7
        present[:, 0] = True
        observation = rng.standard_normal((steps, 3, 2)).astype(np.float32)
        return {"observation": observation, "mask": mask & present[..., None], "present": present}

    return Sample(
        index=np.arange(steps),
        seen=seen(),
        action=rng.integers(0, 4, (steps, 3)).astype(np.int32),
        reward=rng.standard_normal(steps).astype(np.float32),
        discount=np.array([0.0, 0.9, 0.81, 0.9, 0.0], np.float32),
        after=seen(),
        odds=np.ones(steps),
    )


def shaken(kind, config):
    algorithm = kind(config, POLICY, SPEC, initial(POLICY, SPEC, 0))
    rng = np.random.default_rng(3)
    for network in (algorithm.network, algorithm.target):
        for parameter in network.parameters():
            parameter.data = torch.from_numpy(rng.standard_normal(parameter.shape).astype(np.float32))
    return algorithm
