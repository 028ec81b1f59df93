"""Ways to share gradients, in real processes: the score after equal decisions, and decisions per second.

python -m benchmarks.sharing_ranks --share ddp async gossip --seeds 3
python -m benchmarks.sharing_ranks --share ddp async gossip --slow 0.5 --seeds 1

Each rank plays and learns on its own, by the parts of benchmarks.curves; what it shares goes through the real group
(gloo) or the real exchange of weights. With --slow the last rank sleeps so long before each update.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import closing

import numpy as np

from benchmarks.curves import Practice
from benchmarks.measure import emit
from benchmarks.scoring import score_against
from collectors.envs.config import make_environment
from launch.config.compose import compose
from launch.config.config import bound_settings
from league.ids import derive_seed
from league.policies.layout import initial
from league.policies.perturbation import fixed_part
from learners.config import SHARES
from learners.distributed import ALONE, join, leave
from learners.weight_exchange import make_exchange

TASK = [
    "env=tic_tac_toe", "policy.hidden=[64,64]", "algo.batch=2048", "algo.minibatch=256", "algo.lr=1e-3",
    "algo.epochs=4",
]  # fmt: skip
RANK = "LUDUS_BENCHMARK_RANK"  # set in the processes of ranks


class RankPractice(Practice):
    """A rank: after each update it shares what it learned."""

    exchange = None

    def begin(self, group, share, start, fixed):
        self.algorithm.restore({**self.algorithm.state(), "flat": start})
        self.board = group.board
        if self.board is not None:
            self.exchange = make_exchange(share, self.board, "hero/0", start, fixed)

    def update(self):
        before = self.algorithm.flat()
        metrics = super().update()
        if self.exchange is not None:
            flat = self.exchange.mix(before, self.algorithm.flat())
            self.algorithm.restore({**self.algorithm.state(), "flat": flat})
            self.actors.update_live("hero", 0, flat)
        return metrics


class Counter:
    """The decisions of all ranks: exact in step, else as far as notes tell."""

    def __init__(self, group):
        self.group, self.others = group, {}

    def total(self, mine):
        board = self.group.board
        if board is None:
            return self.group.total(mine)
        board.write("count", str(mine).encode())
        for rank in range(board.size):
            note = board.newer("count", rank) if rank != board.rank else None
            if note is not None:
                self.others[rank] = int(note)
        return mine + sum(self.others.values())


def run_rank(arguments):
    """Play and learn until all ranks together have trained on enough decisions; rank 0 prints what came of it."""
    config = compose(["experiment=null", *TASK, *arguments.overrides])
    group = join("cpu", 120, arguments.share[0])
    seed, rank = arguments.first, group.rank
    with closing(make_environment(config.env, arguments.slots)) as env:
        player = bound_settings(config, env.spec, ()).default
        start = initial(player.policy, env.spec, derive_seed(seed, "init"))
        among = group if group.board is None else ALONE
        practice = RankPractice(env, player.policy, player.algo, derive_seed(seed, rank), group=among, share=group.size)
        practice.begin(group, arguments.share[0], start, fixed_part(player.policy, env.spec))
        counter, done = Counter(group), 0
        group.gather("ready")
        began = time.perf_counter()
        while done < arguments.decisions:
            if rank == group.size - 1:
                time.sleep(arguments.slow)
            practice.update()
            done = counter.total(practice.decisions)
        seconds = time.perf_counter() - began
    if rank == 0:
        with closing(make_environment(config.env, 256)) as fresh:
            flat = practice.algorithm.flat()
            score = score_against("random", fresh, player.policy, flat, arguments.games, seed)
        print(json.dumps({"decisions": done, "seconds": seconds, "per_second": done / seconds, "score": score}))
    group.gather("done")  # rank 0 has the store
    leave()


def measure(arguments, share, seed):
    """Start the ranks and return what rank 0 printed."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    shared = {**os.environ, "WORLD_SIZE": str(arguments.ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    shared |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", RANK: "1"}
    words = [*arguments.overrides, "--share", share, "--first", str(seed), "--slow", str(arguments.slow)]
    words += ["--decisions", str(arguments.decisions), "--slots", str(arguments.slots), "--games", str(arguments.games)]
    command = [sys.executable, "-m", "benchmarks.sharing_ranks", *words]
    children = [
        subprocess.Popen(command, env={**shared, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
        for rank in range(arguments.ranks)
    ]
    texts = [child.communicate()[0] for child in children]
    assert all(child.returncode == 0 for child in children), texts
    return json.loads(texts[0].splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("overrides", nargs="*", help="of the task, as for ludus run")
    parser.add_argument("--share", nargs="+", choices=SHARES, default=["ddp", "async", "gossip"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--decisions", type=int, default=100_000, help="of all ranks together")
    parser.add_argument("--slots", type=int, default=64, help="of each rank")
    parser.add_argument("--slow", type=float, default=0.0, help="seconds that the last rank sleeps before each update")
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    if RANK in os.environ:
        run_rank(arguments)
        return
    for share in arguments.share:
        found = [measure(arguments, share, seed) for seed in range(arguments.first, arguments.first + arguments.seeds)]
        scores = [one["score"] for one in found]
        emit(
            share,
            ranks=arguments.ranks,
            slow=arguments.slow,
            scores=scores,
            mean=float(np.mean(scores)),
            per_second=[one["per_second"] for one in found],
        )


if __name__ == "__main__":
    main()
