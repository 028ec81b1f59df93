"""(o) A batched simulator: Pgx through rows beside Pgx alone. Leagues on it are measured by (r).

Pgx alone is one compiled function that chooses random legal actions, steps all worlds and begins again those that are
over. Ratios are by CPU time.

python -m benchmarks --only o                                           # all games
python -m benchmarks.batched connect_four chess                         # these
"""

import argparse
import os
import time
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.measure import Measure, Verdict, alternate, by_cpu, paired, summarise, timed
from collectors.envs.adapters.pgx import keys_of, make, share_machine
from collectors.players.bots import choose

SLOTS, LEAST = 256, 0.6
GAMES = ("connect_four", "othello", "hex", "backgammon", "go_9x9", "chess")


def bare(id: str, slots: int = SLOTS) -> Measure:
    """Return the measure of Pgx alone, with this many worlds."""
    share_machine(os.environ)
    import jax
    import jax.numpy as jnp
    import pgx

    env = pgx.make(id)
    begin, step = jax.vmap(env.init), jax.vmap(env.step)

    def tick(state, key):
        choice, chance, start = jax.random.split(key, 3)
        actions = jax.random.categorical(choice, jnp.where(state.legal_action_mask, 0.0, -1e9))
        after = step(state, actions, jax.random.split(chance, slots))
        over, fresh = after.terminated | after.truncated, begin(jax.random.split(start, slots))
        pick = lambda new, old: jnp.where(over.reshape((slots,) + (1,) * (new.ndim - 1)), new, old)  # noqa: E731
        return jax.tree.map(pick, fresh, after), jax.random.fold_in(key, 0)

    compiled = jax.jit(tick)
    now = [compiled(jax.jit(begin)(keys_of(np.arange(slots))), keys_of(np.array([1]))[0])]

    def work(until: float) -> int:
        steps = 0
        while time.perf_counter() < until:
            now[0] = jax.block_until_ready(compiled(*now[0]))
            steps += slots
        return steps

    return lambda seconds: timed(work, seconds)


def through_rows(id: str) -> Measure:
    """Return the measure of the same game through rows, with random legal actions."""
    env, rng = make(SLOTS, id), np.random.default_rng(0)
    env.start(np.arange(SLOTS), np.arange(SLOTS))
    begun = [SLOTS]

    def work(until: float) -> int:
        steps = 0
        while time.perf_counter() < until:
            rows = env.rows()
            ends = env.step(choose(rows.mask, rng)[0])
            env.start(ends.over, begun[0] + np.arange(len(ends.over)))
            begun[0] += len(ends.over)
            steps += len(rows)
        return steps

    return lambda seconds: timed(work, seconds)


def games(ids: Sequence[str], seconds: float, rounds: int) -> Iterator[Verdict]:
    """Measure games through rows."""
    for id in ids:
        alone, rows = alternate(bare(id), through_rows(id), seconds, rounds)
        summarise(f"o: pgx {id} alone", alone)
        summarise(f"o: pgx {id} through rows", rows)
        yield Verdict.of(f"o: pgx {id} through rows, times alone, CPU", paired(alone, rows, by_cpu), LEAST)


def run(seconds: float, rounds: int) -> list[Verdict]:
    """Measure all games."""
    return list(games(GAMES, seconds, rounds))


def main() -> None:
    """Measure some games."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batched", description=__doc__)
    parser.add_argument("games", nargs="+", help=f"such as {', '.join(GAMES)}")
    parser.add_argument("--seconds", type=float, default=0.7, help="length of a slice")
    parser.add_argument("--rounds", type=int, default=9, help="slices of each subject")
    given = parser.parse_args()
    for verdict in games(given.games, given.seconds, given.rounds):
        verdict.tell()


if __name__ == "__main__":
    main()
