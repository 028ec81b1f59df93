"""Short ways to practise."""

import numpy as np
import torch

from learners.algorithms.ppo_config import PPOConfig

ALGO = PPOConfig(batch=1024, minibatch=256, lr=3e-3, epochs=4)


def ratio_of(practice):
    """Return the probability ratios of a batch whose weights have not changed since."""
    data = practice.algorithm.prepare(practice.collect().segments)
    with torch.no_grad():
        actions, _ = practice.algorithm.policy(data.seen, data.mask)
        return (actions.log_prob(data.action) - data.old_log_prob).exp()


def shaken(practice, seed=0):
    """Let the practice play on with random weights, which make the memory matter."""
    flat = np.random.default_rng(seed).standard_normal(practice.algorithm.flat().size).astype(np.float32)
    practice.algorithm.policy.write(flat)
    practice.actors.update_live("hero", 0, flat)
    return practice
