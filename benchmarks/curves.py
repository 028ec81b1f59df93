"""Learning curves of one player on its own: no league, no wire, one process. What docs/results.md records.

python -m benchmarks.curves env=recall policy.memory=gru --decisions 400000 --seeds 3
python -m benchmarks.curves env=simple_tag algo=ippo --role adversary --opponent 400000
python -m benchmarks.curves env=connect_four algo=appo --lag 4 --against one_ply --games 2000
python -m benchmarks.curves env=gymnasium env.id=CartPole-v1 algo=dqn policy.epsilon=0 --evaluate 100
python -m benchmarks.curves env=connect_four policy=board_conv learner.ema=0.9 --against one_ply

Collecting and learning are the real parts (Acting, Recorder, an algorithm), in turns, so that data lags by as many
updates as --lag says, and by none without it. With `learner.ema` the averaged weights are scored, as candidates are.
`play_ms` and `learn_ms` are milliseconds of CPU for 1,000 trained decisions: what a collector and a learner need.
"""

import argparse
import os
import time
from collections import deque
from contextlib import closing
from dataclasses import dataclass, field

from benchmarks.children import ONE_THREAD

os.environ.update(ONE_THREAD)  # before anything imports numpy

import numpy as np

from benchmarks.measure import emit
from benchmarks.scoring import score_against
from collectors.acting import Acting
from collectors.actors import Actors
from collectors.envs.config import make_environment
from collectors.envs.rows import Environment
from collectors.recorder import Recorder
from launch.config.compose import compose
from launch.config.config import bound_settings
from league.ids import derive_seed
from league.per_player import PerPlayer
from league.policies.layout import NOISE, FloatArray, PolicyConfig, describe, initial
from league.ticket import Entry
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.config import AlgoConfig
from learners.batcher import Batcher
from learners.distributed import ALONE, Group
from learners.weight_average import WeightAverage

HERO = "hero"


@dataclass
class Practice:
    """One player in all seats of an environment, learning from itself; or in those of one role, against others.

    practice = Practice(env, PolicyConfig(memory="gru"), PPOConfig(), seed=0)
    for _ in range(100):
        practice.update()
    practice.mean_return()
    """

    env: Environment
    policy: PolicyConfig
    algo: AlgoConfig
    seed: int = 0
    ticks: int = 32
    role: str | None = None  # of the seats that learn; None: all of them
    opponent: FloatArray | None = None  # weights of all other seats; None: they play at random
    lag: int = 0  # updates between the weights that act and those that learn
    ema: float = 0.0  # decay of the average of versions; 0: none
    group: Group = ALONE  # the ranks that it learns with, in step
    share: int = 1  # of this many ranks, each of which has its part of a batch
    decisions: int = 0
    play_cpu: float = 0.0  # seconds of CPU in collecting,
    learn_cpu: float = 0.0  # and in updates
    returns: list[float] = field(default_factory=list)  # of every episode, oldest first: the mean of who learns

    def __post_init__(self):
        spec, slots = self.env.spec, self.env.slots
        start = initial(self.policy, spec, derive_seed(self.seed, "init"))
        self.algorithm = make_algorithm(self.algo, self.policy, spec, start, self.group)
        self.actors = Actors(spec, PerPlayer(self.policy), None, 0)
        self.actors.update_live(HERO, 0, self.algorithm.flat())
        self.acting = Acting(spec, slots, self.actors, np.random.default_rng(derive_seed(self.seed, "act")))
        self.recorder = Recorder(
            spec, slots, self.ticks, lambda player: self.policy.state_size, lambda player: self.policy.sees_state
        )
        self.batcher = Batcher(incarnation=0, batch=-(-self.algo.batch // self.share), max_lag=0)
        self.versions = deque([start], maxlen=self.lag + 1)
        self.average = WeightAverage(self.ema, describe(self.policy, spec)) if self.ema else None
        self.rng = np.random.default_rng(derive_seed(self.seed, "train"))
        self.entry = np.zeros(len(spec.agents), np.intp)
        for number, seat in enumerate(spec.seats):
            self.entry[list(seat.agents)] = number
        learns = [self.role in (None, role) for role in spec.roles]
        self.mine = np.array(learns)[self.entry]
        self.actor = np.where(self.mine, 0, self._other()).astype(np.int16)
        self.earned = np.zeros((slots, len(spec.agents)))
        self.started = 0
        self._start(np.arange(slots, dtype=np.int32))
        owners = [(HERO, 0) if one else None for one in learns]
        self.recorder.assign(np.arange(slots, dtype=np.int32), [owners], [slots], 0.0)

    def _other(self):
        """Return the number of the actor of seats that do not learn."""
        if self.opponent is None:
            return self.actors.number(Entry("random", None, "random"), set)
        self.actors.update_live("other", 0, self.opponent)
        return self.actors.number(Entry("other"), set)

    def _start(self, slots):
        seeds = [derive_seed(self.seed, "episode", self.started + i) for i in range(len(slots))]
        self.started += len(slots)
        self.env.start(slots, np.array(seeds, np.int64))

    def tick(self):
        """Move in every slot; return the slots whose episode is over, with its return at the end of `returns`."""
        rows = self.env.rows()
        acted = self.acting.act(rows, self.actor[rows.agent])
        self.recorder.decide(rows, self.entry[rows.agent], acted, np.zeros(len(rows), np.int32), 0.0)
        self.earned[rows.slot, rows.agent] += rows.reward
        ends = self.env.step(acted.actions)
        assert not ends.faults, ends.faults
        self.earned[ends.slot, ends.agent] += ends.reward
        self.recorder.end(ends, self.entry[ends.agent])
        if len(ends.over):
            self.returns += self.earned[ends.over][:, self.mine].mean(axis=1).tolist()
            self.earned[ends.over] = 0
            self._start(ends.over)
        return ends.over

    def collect(self):
        """Play until there is a batch."""
        while not self.batcher.full:
            self.tick()
            for segments in self.recorder.take(0.0, 1, 1e9):
                self.batcher.add(segments, "practice", version=0)
        return self.batcher.take(version=0)

    def update(self):
        """Play, learn, and act with what was learned; return metrics."""
        began = time.process_time()
        batch = self.collect()
        played = time.process_time()
        metrics = self.algorithm.update(batch, self.rng)
        self.versions.append(self.algorithm.flat())
        if self.average is not None:
            self.average.add(self.versions[-1])
        self.actors.update_live(HERO, 0, self.versions[0])
        self.decisions += batch.decisions
        self.play_cpu, self.learn_cpu = self.play_cpu + played - began, self.learn_cpu + time.process_time() - played
        return metrics

    def candidate(self):
        """Return the weights that a candidate would have: the newest, or the average of versions."""
        newest = self.algorithm.flat()
        return newest if self.average is None else self.average.read(newest)

    def mean_return(self, episodes=1000):
        """Return what the agents earned on average in the newest episodes."""
        return float(np.mean(self.returns[-episodes:])) if self.returns else float("nan")

    def until(self, decisions):
        """Learn until so many decisions were trained on."""
        while self.decisions < decisions:
            self.update()
        return self

    def baseline(self, episodes):
        """Return the mean return of random play in the seats that learn; nothing is trained."""
        self.actor[self.mine] = self.actors.number(Entry("random", None, "random"), set)
        while len(self.returns) < episodes:
            self.tick()
            self.recorder.take(0.0, 1, 1e9)
        return self.mean_return(episodes)

    def evaluate(self, flat):
        """Return the mean return of these weights as a frozen player: of the first episode in each slot."""
        views = describe(self.policy, self.env.spec).views(flat)
        if "exploration" in views:
            views["exploration"][:] = (self.policy.epsilon if self.policy.valued else 0, 0)
        for name in views:
            if NOISE in name:
                views[name][:] = 0  # as a frozen player
        self.actors.update_live(HERO, 0, flat)
        first = {}
        while len(first) < self.env.slots:
            before = len(self.returns)
            for slot, earned in zip(self.tick().tolist(), self.returns[before:], strict=True):
                first.setdefault(slot, earned)
            self.recorder.take(0.0, 1, 1e9)
        return float(np.mean(list(first.values())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("overrides", nargs="*", help="as for ludus run: env=..., policy=..., algo.lr=...")
    parser.add_argument("--decisions", type=int, default=400_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--points", type=int, default=5, help="of the curve")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--episodes", type=int, default=1000, help="newest ones, of which the mean return is told")
    parser.add_argument("--baseline", type=int, default=1000, metavar="N", help="episodes of random play")
    parser.add_argument("--evaluate", type=int, default=0, metavar="N", help="episodes that frozen weights play")
    parser.add_argument("--lag", type=int, default=0, help="updates between the weights that act and those that learn")
    parser.add_argument("--against", help="a bot: tell the score against it, too")
    parser.add_argument("--games", type=int, default=2000, help="against the bot")
    parser.add_argument("--role", help="who learns; all others are the opponent")
    parser.add_argument("--opponent", type=int, default=0, metavar="N", help="decisions it learns beforehand")
    parser.add_argument("--allow", action="append", default=[])
    arguments = parser.parse_args()
    from benchmarks.evolving import EvolvingPractice  # which derives from Practice

    config = compose(["experiment=null", *arguments.overrides], arguments.allow)
    with closing(make_environment(config.env, arguments.slots, arguments.allow)) as env:
        others = [role for role in dict.fromkeys(env.spec.roles) if arguments.role not in (None, role)]
        player = bound_settings(config, env.spec, arguments.allow).default
    finals, randoms = [], []

    def practise(env, seed, kind=Practice, **how):
        return kind(env, player.policy, player.algo, seed, config.collector.ticks, **how)

    for seed in range(arguments.first, arguments.first + arguments.seeds):
        began, opponent = time.perf_counter(), None
        made = [make_environment(config.env, arguments.slots, arguments.allow) for _ in range(3)]
        if arguments.opponent:
            opponent = practise(made[0], seed, role=others[0]).until(arguments.opponent).algorithm.flat()
        how = {"role": arguments.role, "opponent": opponent, "lag": arguments.lag, "ema": config.learner.ema}
        randoms.append(practise(made[1], seed, **how).baseline(arguments.baseline))
        kind = EvolvingPractice if player.algo.weight_noise else Practice
        practice = practise(made[2], seed, kind, **how)
        for point in range(1, arguments.points + 1):
            practice.until(point * arguments.decisions / arguments.points)
            seconds = time.perf_counter() - began
            told = {"seed": seed, "decisions": practice.decisions, "seconds": round(seconds, 1)}
            told["play_ms"] = 1e6 * practice.play_cpu / practice.decisions
            told["learn_ms"] = 1e6 * practice.learn_cpu / practice.decisions
            told["mean_return"] = practice.mean_return(arguments.episodes)
            if arguments.evaluate:
                with closing(make_environment(config.env, arguments.evaluate, arguments.allow)) as fresh:
                    evaluation = practise(fresh, derive_seed(seed, "evaluation"), **how)
                    told["evaluated"] = evaluation.evaluate(practice.candidate())
            if arguments.against:
                flat = practice.candidate()
                with closing(make_environment(config.env, arguments.slots, arguments.allow)) as fresh:
                    told["score"] = score_against(arguments.against, fresh, config.policy, flat, arguments.games, seed)
            emit("curve", **told, random=randoms[-1])
        finals.append(told[list(told)[-1]])
        for env in made:
            env.close()
    told = {"decisions": arguments.decisions, "finals": finals, "mean": float(np.mean(finals))}
    emit(" ".join(arguments.overrides), **told, random=randoms)


if __name__ == "__main__":
    main()
