"""A minibatch of fixed numbers for losses that learn from a replay."""

import numpy as np

from learners.replay import Sample


def fixed_sample(seed=0, decisions=6, options=4):
    rng = np.random.default_rng(seed)
    mask = rng.random((decisions, options)) < 0.5
    mask[:, 1] = True
    return Sample(
        index=np.arange(decisions),
        seen={},
        action=rng.integers(0, options, decisions).astype(np.int32),
        reward=rng.standard_normal(decisions).astype(np.float32),
        discount=np.array([0.0, 0.9, 0.81, 0.729, 0.9, 0.0], np.float32),
        after={"mask": mask},
        odds=np.ones(decisions),
    )
