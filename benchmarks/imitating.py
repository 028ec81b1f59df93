"""Imitation: what clones return, and whether DAgger beats behaviour cloning. What docs/results.md records.

python -m benchmarks.imitating clone --first 10             # CartPole: PPO learns it, and BC imitates its games
python -m benchmarks.imitating dagger --first 10            # the tightrope: a noisy expert, as many labels for both

`clone` trains an expert by PPO, records its games as a data set, and clones it. In `dagger` the expert walks a
tightrope, and chooses at random with the probability --noise. BC gets --labels decisions of its games; DAgger gets a
quarter of these, and labels of its own decisions for the rest. Both take about as many gradient steps.
"""

import argparse
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.curves import HERO, Practice
from benchmarks.measure import emit
from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.native.skeleton import SimultaneousGame
from collectors.row_tape import RowTape
from launch.sweeps.comparing import t_interval
from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.spec import Array, EnvSpec, Seat
from league.store.game_file import Games, GamesCard, write_games
from learners.algorithms.bc import BC
from learners.algorithms.bc_config import BCConfig
from learners.algorithms.dagger import DAgger
from learners.algorithms.dagger_config import DAggerConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import Batch
from learners.expert import Expert

PPO = PPOConfig(batch=1024, minibatch=128, epochs=8, lr=1e-3, entropy=0.0, normalise_values=True)
LEARNING = {"lessons": 512, "minibatch": 64, "lr": 3e-3, "held_out": 0.0}
UPDATES = 48  # of BC, and about as many of DAgger
PLACES, CHOICES, LENGTH = 13, 4, 500  # of the tightrope


class Tightrope(SimultaneousGame):
    """A walker earns 1 for each step in the middle. At each place one choice, another one than beside it, leads there.

    Every other choice leads away from the middle. Whoever knows only what to do near the middle is lost further out.
    """

    def __init__(self, slots=64):
        seats, seen = (Seat(agents=(0,)),), Array(shape=(PLACES,), dtype="float32")
        spec = EnvSpec("tightrope", ("walker",), seats, seen, CHOICES)
        super().__init__(spec, slots, length=LENGTH, truncates=False)
        self._walker, self._side = np.zeros(slots, np.intp), np.zeros(slots, np.intp)

    def _reset(self, slots, seeds):
        self._walker[slots] = PLACES // 2
        self._side[slots] = np.where(np.asarray(seeds) % 2, 1, -1)  # to which it sways next

    def _observe(self, slots):
        return np.eye(PLACES, dtype=np.float32)[self._walker[slots]]

    def _advance(self, slots, actions):
        off = self._walker[slots] - PLACES // 2
        right = actions[:, 0] == right_choice(self._walker[slots])
        away = np.where(off == 0, self._side[slots], np.sign(off))
        self._side[slots] = np.where((off == 0) & ~right, -self._side[slots], self._side[slots])
        off = np.where(right, off - np.sign(off), off + away)
        self._walker[slots] = np.clip(off + PLACES // 2, 0, PLACES - 1)
        return (self._walker[slots] == PLACES // 2).astype(np.float32)[:, None]


def right_choice(place):
    """Return the choice that leads to the middle."""
    return (place * 7 // 3) % CHOICES


@dataclass
class Walker:
    """The expert of the tightrope, which chooses at random with some probability."""

    noise: float

    def act(self, observation, mask, rng):
        """Return a choice for each row."""
        best = right_choice(observation.argmax(axis=1))
        random = rng.random(len(best)) < self.noise
        chosen = np.where(random, rng.integers(0, CHOICES, len(best)), best)
        return chosen.astype(np.int32), np.zeros(len(best), np.float32)


@dataclass
class Task:
    """A game and a network for it."""

    make: object  # of a number of slots
    network: PolicyConfig

    def __post_init__(self):
        with closing(self.make(1)) as env:
            self.spec = env.spec

    def fresh(self, seed):
        """Return random weights."""
        return initial(self.network, self.spec, seed)

    def evaluated(self, flat, seed, episodes=100):
        """Return the mean return of weights in episodes of their own."""
        with closing(self.make(episodes)) as env:
            return Practice(env, self.network, PPO, seed=1000 + seed).evaluate(flat)

    def record(self, folder, actor, rng, decisions, seed):
        """Write the games of an actor, so many decisions of them, as a data set; return its folder."""
        taped = []
        with closing(self.make(1)) as env:
            tape = RowTape(env)
            while sum(len(steps.agent) for steps in taped) < decisions:
                tape.start(np.zeros(1, np.int32), np.array([seed + len(taped)]))
                while not len(tape.step(actor.act((rows := tape.rows()).observation, rows.mask, rng)[0]).over):
                    pass
                taped.append(tape.take())
        names = ("agent", "observation", "mask", "action", "reward", "last", "truncated")
        steps = {name: np.concatenate([getattr(one, name) for one in taped])[:decisions] for name in names}
        episode = np.repeat(np.arange(len(taped)), [len(one.agent) for one in taped])[:decisions]
        none, returns = np.zeros((len(taped), 1)), [[one.reward.sum()] for one in taped]
        games = Games(
            card=GamesCard(run="imitating", env={}, spec=self.spec, players=("expert",), snapshots=("",)),
            episode=episode.astype(np.int32),
            player=np.zeros(decisions, np.int32),
            ticket=np.arange(len(taped)),
            number=np.zeros(len(taped), np.int32),
            training=np.zeros(len(taped), np.bool_),
            players=none.astype(np.int32),
            returns=np.array(returns, np.float32),
            ranks=none.astype(np.int16),
            **steps,
        )
        Path(folder).mkdir()
        write_games(Path(folder) / "games-00000.safetensors", games)
        return str(folder)


CARTPOLE = EnvConfig(name="gymnasium", id="CartPole-v1")


def clone(algorithm, updates, seed):
    """Let a clone learn without playing; return its last metrics."""
    batch, rng = Batch(None, np.zeros(0, np.int64), {}), np.random.default_rng(seed)
    for _ in range(updates):
        metrics = algorithm.update(batch, rng)
    return metrics


def clones(seeds, labels):
    """Train an expert, and clone it with several seeds."""
    task = Task(lambda slots: make_environment(CARTPOLE, slots), PolicyConfig(hidden=[64, 64]))
    with closing(task.make(16)) as env:
        flat = Practice(env, task.network, PPO, seed=0).until(80_000).algorithm.flat()
    expert = task.evaluated(flat, 0)
    student = Task(task.make, PolicyConfig(hidden=[64, 64], normalise=True))
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            actor = NumpyActor(task.network, task.spec, flat)
            data = task.record(Path(folder) / "games", actor, np.random.default_rng(seed), labels, 1000 * seed)
            config = BCConfig(data=data, lr=3e-3, minibatch=128, lr_schedule="linear", anneal_decisions=80 * 4096)
            algorithm = BC(config, student.network, student.spec, student.fresh(seed))
        for updates in (5, 15, 60):
            metrics = clone(algorithm, updates, seed)
            told = {name: metrics[f"losses/{name}"] for name in ("held_out", "held_out_accuracy")}
            told["evaluated"] = student.evaluated(algorithm.flat(), seed)
            emit("clone", seed=seed, labels=labels, decisions=algorithm.decisions, expert=expert, **told)


def compared(seeds, labels, noise):
    """Compare BC and DAgger; print what both return, and the difference. Yield the pairs."""
    task, rows = Task(Tightrope, PolicyConfig(hidden=[32])), []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        with tempfile.TemporaryDirectory() as folder:
            whole = task.record(Path(folder) / "whole", Walker(noise), rng, labels, 1000 * seed)
            first = task.record(Path(folder) / "first", Walker(noise), rng, labels // 4, 1000 * seed)
            bc = BC(BCConfig(data=whole, **LEARNING), task.network, task.spec, task.fresh(seed))
            clone(bc, UPDATES, seed)
            dagger = by_dagger(task, first, labels - labels // 4, Walker(noise), seed)
        rows.append([task.evaluated(one.flat(), seed) for one in (bc, dagger)])
        emit("compared", seed=seed, labels=labels, noise=noise, bc=rows[-1][0], dagger=rows[-1][1])
    if len(rows) > 1:
        mean, reach = t_interval([dagger - bc for bc, dagger in rows])
        emit("gained", mean=mean, low=mean - reach, high=mean + reach)
    return rows


def by_dagger(task, data, labels, expert, seed):
    """Return DAgger after a quarter of the updates on a data set, and the rest with labels of its own decisions."""
    rounds = UPDATES * 3 // 4
    config = DAggerConfig(expert="walker", data=data, batch=labels // rounds, **LEARNING)
    expert = Expert("walker", expert, task.spec)
    dagger = DAgger(config, task.network, task.spec, task.fresh(seed), expert=expert)
    before = BC(config, task.network, task.spec, task.fresh(seed))
    clone(before, UPDATES - rounds, seed)
    dagger.restore(before.state())
    with closing(task.make(1)) as env:
        algo = PPOConfig(batch=config.batch)
        practice = Practice(env, task.network, algo, seed=seed, ticks=config.batch)
        practice.algorithm = dagger
        practice.actors.update_live(HERO, 0, dagger.flat())
        practice.until(labels - config.batch + 1)
    return dagger


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imitating", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["clone", "dagger"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--labels", type=int, help="decisions of the expert (10,000 to clone, 1,000 to compare)")
    parser.add_argument("--noise", type=float, default=0.1, help="with which probability the walker is random")
    told = parser.parse_args()
    seeds = range(told.first, told.first + told.seeds)
    if told.what == "clone":
        clones(seeds, told.labels or 10_000)
    else:
        compared(seeds, told.labels or 1_000, told.noise)


if __name__ == "__main__":
    main()
