"""The exact NashConv of a player that learns by self-play, along its training: no league, no wire, one process.

python -m benchmarks.converging experiment=kuhn --decisions 2_000_000 --seeds 3
python -m benchmarks.converging experiment=leduc --plain                # plain PPO instead, at its defaults

Collecting and learning are the real parts, as in benchmarks.curves. `nash_conv` is that of the averaged weights
(learner.ema), of which a league makes its candidates, `newest` that of the newest ones.
"""

import argparse
import time
from contextlib import closing

import numpy as np

from benchmarks.curves import Practice
from benchmarks.measure import emit
from collectors.envs.config import make_environment
from collectors.envs.enumerating import enumerate_game
from collectors.exact.best_response import exploitability
from collectors.exact.tree_policy import policy_of
from launch.config.compose import compose
from launch.config.config import settings_of
from league.policies.layout import describe
from league.policies.numpy_actor import NumpyActor
from learners.weight_average import WeightAverage


def plain(config):
    """Return PPO at its defaults, with the same network on the same game."""
    hidden = f"policy.hidden={list(config.policy.hidden)}"
    return compose(["experiment=null", "env=openspiel", f"env.id={config.env.id}", "league=selfplay", hidden])


def curve(config, seed, decisions, points):
    """Yield the points of one seed's curve."""
    tree, player = enumerate_game(config.env, whole=True), settings_of(config, ()).default
    began, wall, following = time.process_time(), time.perf_counter(), decisions / points
    with closing(make_environment(config.env, config.collector.slots)) as env:
        practice = Practice(env, player.policy, player.algo, seed, config.collector.ticks)
        average = WeightAverage(config.learner.ema, describe(player.policy, env.spec))

        def nash_conv(flat):
            policy = policy_of(NumpyActor(player.policy, env.spec, flat), tree.sets)
            return round(exploitability(tree, policy).nash_conv, 4)

        while practice.decisions < decisions:
            practice.algorithm.spent = practice.decisions / decisions
            practice.update()
            newest = practice.algorithm.flat()
            average.add(newest)
            if practice.decisions >= following:
                following += decisions / points
                yield {
                    "decisions": practice.decisions,
                    "cpu_seconds": round(time.process_time() - began, 1),
                    "seconds": round(time.perf_counter() - wall, 1),
                    "nash_conv": nash_conv(average.read(newest) if config.learner.ema else newest),
                    "newest": nash_conv(newest),
                }


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.converging", description=__doc__.splitlines()[0])
    parser.add_argument("overrides", nargs="+", help="as for ludus run: experiment=kuhn, algo.eta=0.2")
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--points", type=int, default=20, help="of the curve")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--plain", action="store_true", help="PPO at its defaults instead")
    arguments = parser.parse_args()
    config = compose(arguments.overrides)
    config = plain(config) if arguments.plain else config
    finals = []
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for point in curve(config, seed, arguments.decisions, arguments.points):
            emit("converging", seed=seed, **point)
        finals.append(point["nash_conv"])
    emit(" ".join(arguments.overrides), finals=finals, mean=round(float(np.mean(finals)), 4))


if __name__ == "__main__":
    main()
