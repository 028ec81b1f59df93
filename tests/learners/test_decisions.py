"""Decisions: minibatches of lanes, burn-in, and what a separate critic sees."""

from dataclasses import replace

import numpy as np
import torch
from practising import ALGO, shaken

from benchmarks.curves import Practice
from collectors.envs.native.recall import Recall
from league.policies.layout import PolicyConfig
from learners.algorithms.ppo_config import PPOConfig


def test_minibatches_of_lanes_say_the_same_as_the_whole_batch():
    practice = shaken(Practice(Recall(slots=32), PolicyConfig(hidden=[16], memory="gru", memory_size=8), ALGO))
    data = practice.algorithm.prepare(practice.collect().segments)
    with torch.no_grad():
        whole, _ = practice.algorithm.policy(data.seen, data.mask)
        expected = sorted(whole.log_prob(data.action).tolist())
        found = []
        for part in data.minibatches(5, np.random.default_rng(0)):
            actions, _ = practice.algorithm.policy(part.seen, part.mask)
            found += actions.log_prob(part.action).tolist()
    np.testing.assert_allclose(sorted(found), expected, atol=1e-5)


def test_a_burn_in_is_only_for_memories_that_were_stored():
    """Episodes have 8 steps and segments 5 ticks: some begin with an episode, some in the middle of one."""
    policy = PolicyConfig(hidden=[16], memory="gru", memory_size=8)
    algo = PPOConfig(batch=1024, minibatch=256, burn_in=3)
    practice = shaken(Practice(Recall(slots=32), policy, algo, ticks=5))
    practice.collect()
    segments = practice.collect().segments
    data = practice.algorithm.prepare(segments)
    stored = segments.memory.any(axis=(1, 2))
    assert 0 < stored.sum() < len(stored)
    warm = data.lanes.warm.numpy()[..., 0]
    assert not warm[~stored].any()
    assert not warm[:, 3:].any()
    assert warm[stored, 0].all()
    over = segments.end[:, :2, 0].astype(bool)  # the episode ended in the first or second tick: the memory is empty
    assert not warm[over[:, 0], 1].any()
    assert not warm[over.any(axis=1), 2].any()
    assert warm[stored & ~over.any(axis=1), :3].all()


def test_nothing_is_learnt_from_a_burn_in():
    policy = PolicyConfig(hidden=[16], memory="gru", memory_size=8)
    practice = shaken(Practice(Recall(slots=32), policy, PPOConfig(batch=1024, burn_in=3, entropy=0.0), ticks=5))
    practice.collect()
    data, algorithm = practice.algorithm.prepare(practice.collect().segments), practice.algorithm

    def gradient(where, data=data):
        changed = replace(data, advantage=data.advantage.clone(), target=data.target.clone())
        changed.advantage[where] += 7.0
        changed.target[where] -= 7.0
        algorithm._compute_gradient(changed, 0.0)
        return algorithm.policy.flat.grad.clone()

    warm = data.lanes.warm[data.lanes.present]
    nowhere = gradient(torch.zeros_like(warm))
    assert torch.equal(nowhere, gradient(warm))
    assert not torch.equal(nowhere, gradient(~warm))
