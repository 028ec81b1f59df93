"""(o) A batched simulator: Pgx through rows beside Pgx alone, and leagues on it beside PettingZoo and OpenSpiel.

Pgx alone is one compiled function that chooses random legal actions, steps all worlds and begins again those that are
over. Both leagues of a pair have the same settings, and take turns: one is stopped while the other plays. They train
with IMPALA, which passes once over the data: with the four passes of PPO a fast game may wait for the learner.

python -m benchmarks --only o                                           # everything, one after the other
python -m benchmarks.batched connect_four chess                         # these through rows
python -m benchmarks.batched --leagues othello --algo ppo --seconds 2 --rounds 4
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.children import go_on
from benchmarks.measure import Measure, Verdict, alternate, by_cpu, by_wall, paired, summarise, timed
from benchmarks.whole import Case, League, configure
from collectors.envs.adapters.pgx import keys_of, make, share_machine
from collectors.envs.config import EnvConfig
from collectors.players.bots import choose
from launch.config.config import to_plain
from launch.config.env_spec import describe_environment
from launch.processes.supervisor import Supervisor
from launch.topology.endpoints import Endpoints
from launch.topology.parts import topology
from launch.viewers.view import Viewer
from league.store.run_directory import RunDirectory
from league.wire.sockets import PAGE_LIMIT
from learners.algorithms.impala_config import IMPALAConfig
from learners.algorithms.ppo_config import PPOConfig

SLOTS, LEAST, TIMES = 256, 0.6, 3.0
ALGORITHMS = {"impala": IMPALAConfig, "ppo": PPOConfig}
GAMES = ("connect_four", "othello", "hex", "backgammon", "go_9x9", "chess")


@dataclass(frozen=True, slots=True)
class Pair:
    """The same game in a batched simulator and one by one."""

    batched: str
    env: EnvConfig


PAIRS = (
    Pair("go_9x9", EnvConfig(name="pettingzoo", id="classic/go_v5", kwargs={"board_size": 9})),
    Pair("othello", EnvConfig(name="openspiel", id="othello")),
)


def bare(id: str) -> Measure:
    """Return the measure of Pgx alone."""
    share_machine(os.environ)
    import jax
    import jax.numpy as jnp
    import pgx

    env = pgx.make(id)
    begin, step = jax.vmap(env.init), jax.vmap(env.step)

    def tick(state, key):
        choice, chance, start = jax.random.split(key, 3)
        actions = jax.random.categorical(choice, jnp.where(state.legal_action_mask, 0.0, -1e9))
        after = step(state, actions, jax.random.split(chance, SLOTS))
        over, fresh = after.terminated | after.truncated, begin(jax.random.split(start, SLOTS))
        pick = lambda new, old: jnp.where(over.reshape((SLOTS,) + (1,) * (new.ndim - 1)), new, old)  # noqa: E731
        return jax.tree.map(pick, fresh, after), jax.random.fold_in(key, 0)

    compiled = jax.jit(tick)
    now = [compiled(jax.jit(begin)(keys_of(np.arange(SLOTS))), keys_of(np.array([1]))[0])]

    def work(until: float) -> int:
        steps = 0
        while time.perf_counter() < until:
            now[0] = jax.block_until_ready(compiled(*now[0]))
            steps += SLOTS
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


def leagues(pair: Pair, folder: Path, seconds: float, rounds: int, algorithm: str = "impala") -> Verdict:
    """Measure two leagues of one collector each, in turns."""
    algo = asdict(ALGORITHMS[algorithm]())
    with ExitStack() as stack:
        both, supervisors = [], []
        for env in (pair.env, EnvConfig(name="pgx", id=pair.batched)):
            config = replace(configure(Case(f"o: league on {env.name}", env, 1, SLOTS)), algo=algo)
            run = RunDirectory(folder / f"{pair.batched}-{env.name}").create()
            run.write_config(to_plain(config))
            describe_environment(config, run, ())
            doors = stack.enter_context(Endpoints(run, "viewer", config.launch.transport, PAGE_LIMIT))
            supervisors.append(stack.enter_context(Supervisor(run, topology(config))))
            both.append(League(supervisors[-1], Viewer(doors.replica(), config.league)))
            both[-1].warm_up()
        one_by_one, batched = alternate(both[0].measure, both[1].measure, seconds, rounds)
        for supervisor in supervisors:
            go_on(supervisor.alive())
    summarise(f"o: league on {pair.env.name} {pair.env.id}", one_by_one)
    summarise(f"o: league on pgx {pair.batched}", batched)
    name = f"o: {algorithm} league on pgx {pair.batched}, times {pair.env.name}, env steps/s"
    return Verdict.of(name, paired(one_by_one, batched, by_wall), TIMES)


def games(ids: Sequence[str], seconds: float, rounds: int) -> Iterator[Verdict]:
    """Measure games through rows."""
    for id in ids:
        alone, rows = alternate(bare(id), through_rows(id), seconds, rounds)
        summarise(f"o: pgx {id} alone", alone)
        summarise(f"o: pgx {id} through rows", rows)
        yield Verdict.of(f"o: pgx {id} through rows, times alone, CPU", paired(alone, rows, by_cpu), LEAST)


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure leagues, then games through rows."""
    return [leagues(pair, folder, seconds, rounds) for pair in PAIRS] + list(games(GAMES, seconds, rounds))


def main() -> None:
    """Measure some of it: the whole takes minutes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batched", description=__doc__)
    parser.add_argument("games", nargs="*", help="games through rows")
    parser.add_argument("--leagues", nargs="*", default=[], help=f"of {', '.join(pair.batched for pair in PAIRS)}")
    parser.add_argument("--algo", default="impala", choices=ALGORITHMS, help="of the leagues")
    parser.add_argument("--seconds", type=float, default=0.7, help="length of a slice")
    parser.add_argument("--rounds", type=int, default=9, help="slices of each subject")
    given = parser.parse_args()
    Path("runs").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir="runs") as folder:
        for pair in PAIRS:
            if pair.batched in given.leagues:
                leagues(pair, Path(folder), given.seconds, given.rounds, given.algo).tell()
    for verdict in games(given.games, given.seconds, given.rounds):
        verdict.tell()


if __name__ == "__main__":
    main()
