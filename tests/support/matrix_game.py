"""Self-play in a matrix game of one decision, without an environment: rock-paper-scissors, and a biased one."""

from dataclasses import dataclass

import numpy as np

from league.policies.layout import PolicyConfig, describe, initial
from league.policies.numpy_actor import NumpyActor
from league.segment import TERMINATED, Segments
from league.spec import Array, EnvSpec, Seat
from learners.batcher import Batch

POLICY = PolicyConfig(hidden=[8])
RPS = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], np.float32)
SPEC = EnvSpec("matrix", ("a", "b"), (Seat((0,)), Seat((1,))), Array((1,), "float32"), actions=3)


@dataclass(frozen=True)
class MatrixGame:
    """A symmetric zero-sum game: `payoff[i, j]` is what i wins from j."""

    payoff: np.ndarray

    def start(self, seed=0):
        """Return weights that play the first action too often."""
        flat = initial(POLICY, SPEC, seed)
        describe(POLICY, SPEC).views(flat)["policy.bias"][:] = (1.5, 0, 0)
        return flat

    def chances(self, flat):
        """Return the probability of each action."""
        outputs = NumpyActor(POLICY, SPEC, flat).outputs(np.zeros((1, 1), np.float32), None, None)[0]
        odds = np.exp(outputs - outputs.max())
        return odds / odds.sum()

    def nash_conv(self, flat):
        """Return what best responses in both seats win together."""
        return 2 * float((self.payoff @ self.chances(flat)).max())

    def play(self, flat, rng, games=512):
        """Return the decisions of both seats as one batch."""
        chances = self.chances(flat)
        action = rng.choice(3, (2 * games, 1, 1), p=chances / chances.sum()).astype(np.int32)
        first, second = action[:games], action[games:]
        reward = np.concatenate([self.payoff[first, second], self.payoff[second, first]])
        lanes, none = 2 * games, np.zeros(0, np.int32)
        segments = Segments(
            player="hero",
            incarnation=0,
            observation=np.zeros((lanes, 1, 1, 1), np.float32),
            mask=np.ones((lanes, 1, 1, 3), bool),
            action=action,
            log_prob=np.log(chances)[action].astype(np.float32),
            reward=reward,
            end=np.full((lanes, 1, 1), TERMINATED, np.uint8),
            present=np.ones((lanes, 1, 1), bool),
            length=np.ones(lanes, np.int32),
            version=np.zeros(lanes, np.int32),
            tail_lane=none,
            tail_tick=none,
            tail_agent=none,
            tail_observation=np.zeros((0, 1), np.float32),
            tail_mask=np.zeros((0, 3), bool),
        )
        return Batch(segments, np.zeros(lanes, np.int64), {})

    def train(self, algorithm, updates, seed=0):
        """Train by self-play; yield the exact NashConv after each update."""
        rng = np.random.default_rng(seed)
        for update in range(updates):
            algorithm.spent = update / updates
            assert not algorithm.update(self.play(algorithm.flat(), rng), rng)["losses/rollbacks"]
            yield self.nash_conv(algorithm.flat())
