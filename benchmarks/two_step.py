"""What teams earn in the two-step game, doing the best they know after learning from random play, as in the QMIX paper.

python -m benchmarks.two_step --seeds 3
"""

import argparse

import numpy as np

from benchmarks.curves import Practice
from benchmarks.measure import emit
from collectors.envs.native.two_step import PAYOFF, TwoStep
from league.policies.layout import PolicyConfig
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.qmix_config import QMIXConfig
from learners.algorithms.qplex_config import QPLEXConfig
from learners.algorithms.vdn_config import VDNConfig

POLICY = PolicyConfig(hidden=[32], head="values", agent_id=True)
LEARNING = {"batch": 256, "minibatch": 64, "replay": 4000, "warmup": 256, "samples_per_insert": 16.0, "lr": 3e-3}
LEARNING |= {"epsilon_final": 1.0, "target_steps": 50, "priority": 0.0, "n_step": 1}
ALGORITHMS = {
    "independent": DQNConfig(**LEARNING),
    "vdn": VDNConfig(**LEARNING),
    "qmix": QMIXConfig(**LEARNING),
    "qplex": QPLEXConfig(**LEARNING),
}


def earned(algorithm, seed, decisions=8000):
    """Return what a team earns."""
    practice = Practice(TwoStep(slots=32), POLICY, ALGORITHMS[algorithm], seed=seed, ticks=8)
    while practice.decisions < decisions:
        practice.update()
    room = _best(practice, 0)[0]
    first, second = _best(practice, 1 + room)
    return float(PAYOFF[room, first, second])


def _best(practice, room):
    """Return what each agent holds to be best in a room."""
    seen = np.repeat(np.eye(3, dtype=np.float32)[room : room + 1], 2, axis=0)
    return practice.actors[0].outputs(seen, np.arange(2)).argmax(axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    for algorithm in ALGORITHMS:
        found = [earned(algorithm, seed) for seed in range(parser.parse_args().seeds)]
        emit(algorithm, earned=found)


if __name__ == "__main__":
    main()
