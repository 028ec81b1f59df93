"""Imitation: what clones return, and whether DAgger beats behaviour cloning. What docs/results.md records.

python -m benchmarks.imitating clone --seeds 3              # CartPole: PPO learns it, and BC imitates its games
python -m benchmarks.imitating dagger --seeds 5             # a noisy expert, as many labels for both

`clone` trains an expert by PPO, records its games as a data set, and clones it. In `dagger` the expert is a controller
that chooses at random with the probability --noise. BC gets --labels decisions of its games; DAgger gets a quarter of
these, and labels of its own decisions for the rest. Both take the same number of gradient steps.
"""

import argparse
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.curves import Practice
from benchmarks.measure import emit
from collectors.envs.config import EnvConfig, make_environment
from collectors.row_tape import RowTape
from launch.sweeps.comparing import t_interval
from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.store.game_file import Games, GamesCard, write_games
from learners.algorithms.bc import BC
from learners.algorithms.bc_config import BCConfig
from learners.algorithms.dagger import DAgger
from learners.algorithms.dagger_config import DAggerConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import Batch
from learners.expert import Expert

CARTPOLE = EnvConfig(name="gymnasium", id="CartPole-v1")
NETWORK = PolicyConfig(hidden=[64, 64])
PPO = PPOConfig(batch=1024, minibatch=128, epochs=8, lr=1e-3, entropy=0.0, normalise_values=True)
EPISODES = 50  # that a clone plays


class Controller:
    """Balances the pole by a linear rule, but chooses at random with some probability."""

    def __init__(self, noise):
        self.noise = noise

    def act(self, observation, mask, rng):
        """Return an action for each row: towards the side to which the pole and the cart lean."""
        best = observation @ np.array([0.1, 0.3, 1.0, 0.5], np.float32) > 0
        random = rng.random(len(best)) < self.noise
        return np.where(random, rng.integers(0, 2, len(best)), best).astype(np.int32), np.zeros(len(best), np.float32)


def record(actor, rng, decisions, seed):
    """Return the games of an actor: at least so many decisions, the last ones left out."""
    taped = []
    with closing(make_environment(CARTPOLE, 1)) as env:
        tape = RowTape(env)
        while sum(len(steps.agent) for steps in taped) < decisions:
            tape.start(np.zeros(1, np.int32), np.array([seed + len(taped)]))
            while not len(tape.step(actor.act((rows := tape.rows()).observation, rows.mask, rng)[0]).over):
                pass
            taped.append(tape.take())
        spec = env.spec
    names = ("agent", "observation", "mask", "action", "reward", "last", "truncated")
    steps = {name: np.concatenate([getattr(one, name) for one in taped])[:decisions] for name in names}
    episode = np.repeat(np.arange(len(taped)), [len(one.agent) for one in taped])[:decisions]
    none = np.zeros((len(taped), 1))
    returns = [len(one.agent) for one in taped]
    emit("recorded", decisions=decisions, episodes=len(taped), mean_return=float(np.mean(returns)))
    card = GamesCard(run="imitating", env={"name": "gymnasium"}, spec=spec, players=("expert",), snapshots=("",))
    return Games(
        card=card,
        episode=episode.astype(np.int32),
        player=np.zeros(decisions, np.int32),
        ticket=np.arange(len(taped)),
        number=np.zeros(len(taped), np.int32),
        training=np.zeros(len(taped), np.bool_),
        players=none.astype(np.int32),
        returns=np.array(returns, np.float32)[:, None],
        ranks=none.astype(np.int16),
        **steps,
    )


def written(games, folder):
    """Write a data set and return its folder."""
    Path(folder).mkdir()
    write_games(Path(folder) / "games-00000.safetensors", games)
    return str(folder)


def evaluated(flat, seed):
    """Return the mean return of weights in episodes of their own."""
    with closing(make_environment(CARTPOLE, EPISODES)) as env:
        return Practice(env, NETWORK, PPO, seed=1000 + seed).evaluate(flat)


def clone(algorithm, updates, seed):
    """Let a clone learn without playing; return what it returns, and its metrics."""
    batch, rng = Batch(None, np.zeros(0, np.int64), {}), np.random.default_rng(seed)
    for _ in range(updates):
        metrics = algorithm.update(batch, rng)
    return evaluated(algorithm.flat(), seed), metrics


def clones(seeds, labels):
    """Train an expert, and clone it with several seeds."""
    with closing(make_environment(CARTPOLE, 16)) as env:
        expert = Practice(env, NETWORK, PPO, seed=0).until(80_000)
        spec, flat = env.spec, expert.algorithm.flat()
    emit("expert", mean_return=evaluated(flat, 0))
    actor, finals = NumpyActor(NETWORK, spec, flat), []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            games = record(actor, np.random.default_rng(seed), labels, 1000 * seed)
            config = BCConfig(
                data=written(games, Path(folder) / "games"), lr_schedule="linear", anneal_decisions=81_920
            )
            found, metrics = clone(BC(config, NETWORK, spec, fresh(spec, seed)), 20, seed)
        finals.append(found)
        kept = {name: metrics[f"losses/{name}"] for name in ("held_out", "held_out_accuracy")}
        emit("clone", seed=seed, labels=labels, evaluated=found, **kept)
    emit("clones", finals=finals)


def fresh(spec, seed):
    """Return random weights."""
    return initial(NETWORK, spec, seed)


def compared(seeds, labels, noise):
    """Compare BC and DAgger with the same number of labels and gradient steps; print both, and the difference."""
    rows = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        with tempfile.TemporaryDirectory() as folder:
            whole = written(record(Controller(noise), rng, labels, 1000 * seed), Path(folder) / "whole")
            first = written(record(Controller(noise), rng, labels // 4, 1000 * seed), Path(folder) / "first")
            rows.append((by_bc(whole, seed), by_dagger(first, labels - labels // 4, noise, seed)))
        emit("compared", seed=seed, labels=labels, noise=noise, bc=rows[-1][0], dagger=rows[-1][1])
    gained = [dagger - bc for bc, dagger in rows]
    if len(gained) > 1:
        mean, reach = t_interval(gained)
        emit("gained", mean=mean, low=mean - reach, high=mean + reach)


LEARNING = {"lessons": 1024, "minibatch": 128, "lr": 3e-3, "held_out": 0.0}
UPDATES = 48


def by_bc(data, seed):
    """Return what a clone of a data set returns."""
    with closing(make_environment(CARTPOLE, 1)) as env:
        algorithm = BC(BCConfig(data=data, **LEARNING), NETWORK, env.spec, fresh(env.spec, seed))
    return clone(algorithm, UPDATES, seed)[0]


def by_dagger(data, labels, noise, seed):
    """Return what a player returns whose own decisions were labelled; the first quarter of updates is cloning."""
    rounds = UPDATES * 3 // 4
    config = DAggerConfig(expert="controller", data=data, batch=labels // rounds, **LEARNING)
    with closing(make_environment(CARTPOLE, 4)) as env:
        practice = Practice(env, NETWORK, replace(PPO, batch=config.batch), seed=seed, ticks=8)
        expert = Expert("controller", Controller(noise), env.spec)
        practice.algorithm = DAgger(config, NETWORK, env.spec, fresh(env.spec, seed), expert=expert)
        before = BC(config, NETWORK, env.spec, fresh(env.spec, seed))
        clone(before, UPDATES - rounds, seed)
        practice.algorithm.restore(before.state())
        practice.actors.update_live("hero", 0, practice.algorithm.flat())
        while practice.decisions < labels:
            practice.update()
        return evaluated(practice.algorithm.flat(), seed)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imitating", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["clone", "dagger"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--labels", type=int, help="decisions of the expert (10,000 to clone, 1,000 to compare)")
    parser.add_argument("--noise", type=float, default=0.3, help="with which probability the controller is random")
    told = parser.parse_args()
    seeds = range(told.first, told.first + told.seeds)
    if told.what == "clone":
        clones(seeds, told.labels or 10_000)
    else:
        compared(seeds, told.labels or 1_000, told.noise)


if __name__ == "__main__":
    main()
