"""The sweep: random players finish matches of every known environment through the real collector.

python -m benchmarks.environments                       # the table of docs/environments.md; takes minutes
python -m benchmarks.environments classic/chess_v6 mpe2/simple_tag_v3
python -m benchmarks.environments --into docs/environments.md classic/chess_v6       # replaces its row there

What the collector reports of each match is compared with the environment's own project: PettingZoo's own loop (or
OpenSpiel's) is given the same seed and the same actions, and must pay every agent the same.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import numpy as np

from benchmarks.bare import bare
from benchmarks.environment_table import HEAD, Line, Pace, renewed, row, who_wins
from benchmarks.known_environments import KNOWN, PACKAGES
from benchmarks.measure import Measure, alternate, by_cpu, paired, timed
from collectors.actors import Actors
from collectors.collector import Collector
from collectors.config import CollectorConfig
from collectors.conforming import conform
from collectors.envs.config import EnvConfig, planned
from collectors.envs.names import read_name
from collectors.envs.plan import Plan
from collectors.envs.rows import Environment
from collectors.learner_client import LearnerClient
from collectors.outcome_notes import look_at_outcomes
from collectors.played_episodes import from_transcripts
from collectors.players.bots import RandomBot
from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig
from league.spec import EnvSpec
from league.store.snapshots import SnapshotStore
from league.ticket import Entry, Purpose, Result, Ticket, episode_seeds, seating
from league.wire.in_memory import Exchange
from league.wire.messages import Orders

SLOTS, EPISODES = 2, 4
PACE_SLOTS = 8  # of the speed through rows
SLICE, ROUNDS = 0.5, 3  # seconds of each side, in turns, and how often
PATIENCE = 5.0  # how long a slice may wait for the end of episodes
CONFORM_SECONDS = 180.0
STEPS = 20_000  # ticks of a collector, in which all matches must be finished


def config_of(id: str) -> EnvConfig:
    """Return the config of an environment."""
    known = KNOWN.get(id)
    found = read_name(id)
    return EnvConfig(name=found.name, id=found.id, kwargs=dict(known.kwargs) if known else {})


def plan_of(id: str) -> Plan:
    """Return how the environment is made."""
    return planned(config_of(id))


def installed() -> str:
    """Return the versions of everything that the sweep can play."""
    return ", ".join(f"{name} {version(package)}" for name, package in PACKAGES.items())


# --- matches through the collector ---


class Watched:
    """Passes an environment on, and keeps what was played: seed and actions of each episode, in the order of seeds."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self.spec, self.slots = env.spec, env.slots
        self.ticks: dict[int, list[dict[str, Any]]] = {}
        self._seed: dict[int, int] = {}
        self._rows: Any = None

    def start(self, slots: Any, seeds: Any) -> None:
        """Note the seeds."""
        self._seed.update(zip(np.asarray(slots).tolist(), np.asarray(seeds).tolist(), strict=True))
        self._env.start(slots, seeds)

    def rows(self) -> Any:
        """Note the rows."""
        self._rows = self._env.rows()
        return self._rows

    def step(self, actions: Any) -> Any:
        """Note the actions."""
        acting: set[int] = set()
        for slot, agent, action in zip(self._rows.slot, self._rows.agent, actions, strict=True):
            ticks = self.ticks.setdefault(self._seed[int(slot)], [])
            if slot not in acting:
                acting.add(slot)
                ticks.append({})
            ticks[-1][self.spec.agents[agent]] = int(action) if self.spec.single else tuple(action.tolist())
        return self._env.step(actions)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


@contextmanager
def collecting(env: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a real collector and the coordinator's end of its wire."""
    exchange, now = Exchange(), [0.0]
    server = exchange.server("coordinator")

    def clock() -> float:
        now[0] += 0.02
        return now[0]

    with tempfile.TemporaryDirectory() as folder:
        collector = Collector(
            name="collector-0",
            session="sweep",
            env=env,
            coordinator=exchange.client(server.address),
            learner_client=LearnerClient("collector-0", "sweep", exchange.client),
            actors=Actors(env.spec, PerPlayer(PolicyConfig()), SnapshotStore(Path(folder)), 1 << 20),
            run_seed=1,
            config=CollectorConfig(slots=env.slots),
            clock=clock,
        )
        yield collector, server


def random_ticket(spec: EnvSpec, episodes: int) -> Ticket:
    """Return a ticket for random players, each episode with a seed of its own."""
    entries = tuple(Entry(f"random-{seat}", bot="random") for seat in range(len(spec.seats)))
    return Ticket(number=1, purpose=Purpose.EVALUATE, entries=entries, episodes=episodes)


def play_matches(env: Any, episodes: int = EPISODES) -> Result:
    """Let random players play one ticket; return its result. Raise if it breaks or does not end."""
    ticket = random_ticket(env.spec, episodes)
    with collecting(env) as (collector, server):
        given = False
        for _ in range(STEPS):
            collector.step(0.0)
            for incoming in server.receive(0):
                report = incoming.message
                if report.faults:
                    raise AssertionError(report.faults[0].reason)
                if report.results:
                    return report.results[0]
                tickets = () if given else (ticket,)
                server.send(incoming.peer, Orders(term=1, request=report.request, tickets=tickets))
                given = True
    raise AssertionError(f"{episodes} matches did not end within {STEPS} ticks")


def wrong(made: Plan, episodes: int = EPISODES) -> list[str]:
    """Play matches through the collector; return where its results differ from what the project itself pays."""
    env = Watched(made.build(SLOTS))
    try:
        result = play_matches(env, episodes)
    finally:
        env.close()
    found = []
    seeds = episode_seeds(1, random_ticket(env.spec, episodes), 0, range(episodes))
    for number, (episode, seed) in enumerate(zip(result.episodes, seeds, strict=True)):
        assert made.returns is not None
        paid = made.returns(seed, env.ticks[seed])
        order = seating(env.spec.roles, number, env.spec.sides)
        for seat, entry in enumerate(order):
            expected = sum(paid[env.spec.agents[agent]] for agent in env.spec.seats[seat].agents)
            if not np.isclose(episode.returns[entry], expected, rtol=1e-4, atol=1e-4):
                found.append(f"episode {number}, seat {seat}: {episode.returns[entry]} and not {expected}")
        found += _wrong_ranks(env.spec, episode, order)
    return found


def _wrong_ranks(spec: EnvSpec, episode: Any, order: Sequence[int]) -> list[str]:
    """Hold the rank of each seat against returns, where every seat is on its own; `order` has the entry of each."""
    if len(set(spec.sides)) < len(spec.seats):
        return []
    means = [episode.returns[entry] / len(seat.agents) for entry, seat in zip(order, spec.seats, strict=True)]
    better = [sum(other > own for other in means) for own in means]
    told = [episode.ranks[entry] for entry in order]
    return [] if told == better else [f"ranks {episode.ranks} of returns {episode.returns}"]


# --- the sweep ---


def sweep(id: str) -> Line:
    """Play an environment in every way that matters."""
    try:
        config = config_of(id)
        made = planned(config)
        env = made.build(1)
        spec = env.spec
        env.close()
        found = conform(made.build, range(1, 4), SLOTS, made.returns, CONFORM_SECONDS)
        problems = wrong(made) + [one.what for one in found.problems]
        problems += [] if found.complete else [f"no episode ended within {CONFORM_SECONDS:.0f} s"]
        rule, _ = look_at_outcomes(spec, from_transcripts(spec, found.complete), config)
        return Line(id, spec, problems, who_wins(spec, rule), pace(config, made))
    except Exception as error:  # the table must show all others
        return Line(id, None, [f"{type(error).__name__}: {error}"])


def pace(config: EnvConfig, made: Plan, seconds: float = SLICE, rounds: int = ROUNDS) -> Pace:
    """Return the steady speed of random legal play through rows, and of the project's own loop: in turns, by CPU."""
    env = made.build(PACE_SLOTS)
    own, alone = through_rows(env), bare(config, PACE_SLOTS)
    for warm_up in (own, alone):
        warm_up(seconds)
    before, found = alternate(alone, own, seconds, rounds)
    env.close()
    ratio = statistics.median(paired(before, found, by_cpu))
    return Pace(statistics.median(map(by_cpu, found)), statistics.median(map(by_cpu, before)), ratio)


def through_rows(env: Environment) -> Measure:
    """Return the measure of random legal play in all slots of an environment; those that are over begin again.

    A slice has as many episodes as there are slots, so that it has its share of their beginnings.
    """
    bot, rng = RandomBot(env.spec), np.random.default_rng(0)
    free = [np.arange(env.slots, dtype=np.int32)]

    def work(until: float) -> int:
        decisions, ended = 0, 0
        while (now := time.perf_counter()) < until or (ended < env.slots and now < until + PATIENCE):
            env.start(free[0], rng.integers(2**31, size=len(free[0])))
            rows = env.rows()
            ends = env.step(bot.act(rows.observation, rows.mask, rng)[0])
            decisions += len(rows)
            free[0] = np.array([*ends.over, *(fault.slot for fault in ends.faults)], dtype=np.int32)
            ended += len(free[0])
        return decisions

    return lambda seconds: timed(work, seconds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Play every known environment and print the table of them.")
    parser.add_argument("ids", nargs="*", help="environments, as `ludus check-env` takes them; default: all known")
    parser.add_argument("--into", type=Path, help="a page with such a table, in which these rows are replaced")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.into is None:
        print("\n".join(HEAD))
    for id in arguments.ids or list(KNOWN):
        begin = time.perf_counter()
        found = row(sweep(id))
        print(found, flush=True)
        if arguments.into is not None:
            page = arguments.into.read_text()
            arguments.into.write_text(renewed(page, {id: found}, installed()))
        print(f"{id}: {time.perf_counter() - begin:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
