"""Rainbow (Hessel et al. 2018): six extensions of DQN together.

| part | here |
|---|---|
| double Q-learning | `algo.double`: learners.algorithms.return_distributions |
| prioritised replay | `algo.priority`, by the KL divergence: learners.replay |
| duelling networks | `policy.duelling`: league.policies.return_heads |
| n-step returns | `algo.n_step`: learners.steps |
| distributions of returns | `policy.head=atoms`: the loss of learners.algorithms.c51 |
| noisy networks | `policy.noisy`: league.policies.noise |

`algo=rainbow` sets all of them; without one of them it is one of the ablations of the paper.
"""

from learners.algorithms.c51 import C51


class Rainbow(C51):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""
