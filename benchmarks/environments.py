"""The sweep: random players finish matches of every known environment through the real collector.

python -m benchmarks.environments                       # the table of docs/environments.md; takes minutes
python -m benchmarks.environments classic/chess_v6 mpe2/simple_tag_v3
python -m benchmarks.environments --into docs/environments.md classic/chess_v6       # replaces its row there

What the collector reports of each match is compared with the environment's own project: PettingZoo's own loop (or
OpenSpiel's) is given the same seed and the same actions, and must pay every agent the same.
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import numpy as np

from collectors.actors import Actors
from collectors.check import speed
from collectors.collector import Collector
from collectors.config import CollectorConfig
from collectors.conformance import Transcript
from collectors.conforming import conform
from collectors.envs.config import EnvConfig, parse_environment, planned
from collectors.envs.plan import Plan
from collectors.envs.rows import Environment
from collectors.learner_client import LearnerClient
from collectors.outcome_notes import look_at_outcomes
from collectors.played_episodes import from_transcripts
from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig
from league.spec import EnvSpec
from league.store.snapshots import SnapshotStore
from league.ticket import Entry, Purpose, Result, Ticket, episode_seeds, seating
from league.wire.in_memory import Exchange
from league.wire.messages import Orders

SLOTS, EPISODES = 2, 4
BARE_SECONDS = 1.0  # for the project's own loop
STEPS = 20_000  # ticks of a collector, in which all matches must be finished


@dataclass(frozen=True, slots=True)
class Known:
    """An environment of the list; `quick` ones are played in the fast tests."""

    api: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    quick: bool = False
    remark: str = ""


AEC, PARALLEL = "AEC", "Parallel"
KNOWN: dict[str, Known] = {
    "classic/chess_v6": Known(AEC),
    "classic/connect_four_v3": Known(AEC, quick=True, remark="native twin: `env=connect_four`"),
    "classic/go_v5": Known(AEC, {"board_size": 9}),
    "classic/hanabi_v5": Known(AEC, remark="co-operative; random play soon loses all lives, which pays nothing"),
    "classic/leduc_holdem_v4": Known(AEC, quick=True),
    "classic/rps_v2": Known(PARALLEL, quick=True, remark="native twin: `env=rock_paper_scissors`"),
    "classic/texas_holdem_no_limit_v6": Known(AEC, remark="an agent may be paid that never acts"),
    "classic/texas_holdem_v4": Known(AEC, quick=True, remark="an agent may be paid that never acts"),
    "classic/tictactoe_v3": Known(AEC, quick=True, remark="native twin: `env=tic_tac_toe`"),
    "butterfly/cooperative_pong_v6": Known(PARALLEL, remark="wrap it (resize) before you train: the picture is big"),
    "butterfly/knights_archers_zombies_v11": Known(
        PARALLEL, {"max_cycles": 200}, remark="leaks over resets: rebuilt for each episode"
    ),
    "butterfly/pistonball_v6": Known(PARALLEL, {"max_cycles": 30}, remark="wrap it (resize) before you train"),
    "sisl/multiwalker_v9": Known(PARALLEL),
    "sisl/pursuit_v5": Known(PARALLEL, {"max_cycles": 50}),
    "mpe2/collect_treasure_v1": Known(PARALLEL),
    "mpe2/simple_adversary_v3": Known(PARALLEL),
    "mpe2/simple_crypto_v3": Known(PARALLEL),
    "mpe2/simple_formation_v1": Known(PARALLEL),
    "mpe2/simple_line_v1": Known(PARALLEL),
    "mpe2/simple_push_v3": Known(PARALLEL),
    "mpe2/simple_reference_v3": Known(PARALLEL),
    "mpe2/simple_speaker_listener_v4": Known(PARALLEL, quick=True),
    "mpe2/simple_spread_v3": Known(PARALLEL, {"continuous_actions": True}, quick=True, remark="or 5 discrete actions"),
    "mpe2/simple_tag_v3": Known(PARALLEL, quick=True),
    "mpe2/simple_v3": Known(PARALLEL),
    "mpe2/simple_world_comm_v3": Known(PARALLEL),
    "openspiel/go(board_size=9)": Known("OpenSpiel"),
    "openspiel/chess": Known("OpenSpiel"),
    "openspiel/connect_four": Known("OpenSpiel"),
    "openspiel/breakthrough(rows=6,columns=6)": Known("OpenSpiel"),
    "openspiel/backgammon": Known("OpenSpiel", remark="chance nodes"),
    "openspiel/kuhn_poker": Known("OpenSpiel", quick=True),
    "openspiel/leduc_poker(players=3)": Known("OpenSpiel"),
    "openspiel/liars_dice": Known("OpenSpiel"),
    "openspiel/goofspiel(num_cards=5,imp_info=true)": Known("OpenSpiel", quick=True, remark="simultaneous moves"),
    "openspiel/oshi_zumo": Known("OpenSpiel", remark="simultaneous moves"),
    "openspiel/hanabi": Known("OpenSpiel", remark="co-operative"),
    "atari/pong_v3": Known(PARALLEL, {"max_cycles": 40}, remark="frames as they are: wrap it before you train"),
    "atari/boxing_v2": Known(PARALLEL, {"max_cycles": 40}, remark="frames as they are: wrap it before you train"),
    "atari/warlords_v3": Known(PARALLEL, {"max_cycles": 40}, remark="frames as they are: wrap it before you train"),
    "atari/quadrapong_v4": Known(PARALLEL, {"max_cycles": 40}, remark="two pairs; wrap it before you train"),
    "gymnasium_multi/Foraging-8x8-2p-1f-v3": Known("Gymnasium, tuples", quick=True, remark="Level-Based Foraging"),
    "gymnasium_multi/rware-tiny-2ag-v2": Known("Gymnasium, tuples", {"max_steps": 100}, remark="RWARE"),
    "gymnasium/CartPole-v1": Known("Gymnasium", quick=True),
    "gymnasium/Pendulum-v1": Known("Gymnasium"),
    "gymnasium/Acrobot-v1": Known("Gymnasium"),
    "gymnasium/MountainCarContinuous-v0": Known("Gymnasium"),
    "gymnasium/Blackjack-v1": Known("Gymnasium"),
    "gymnasium/Taxi-v4": Known("Gymnasium", remark="action mask in the info"),
    "ALE/Pong-v5": Known("Gymnasium", {"max_num_frames_per_episode": 2000}, remark="preprocessed as in papers"),
    "ALE/Breakout-v5": Known("Gymnasium", {"max_num_frames_per_episode": 2000}, remark="preprocessed as in papers"),
    "pgx/tic_tac_toe": Known("Pgx"),
    "pgx/connect_four": Known("Pgx"),
    "pgx/othello": Known("Pgx"),
    "pgx/hex": Known("Pgx"),
    "pgx/go_9x9": Known("Pgx", {"env.max_steps": 60}),
    "pgx/backgammon": Known("Pgx", remark="dice"),
    "pgx/kuhn_poker": Known("Pgx"),
    "pgx/leduc_holdem": Known("Pgx"),
    "pgx/sparrow_mahjong": Known("Pgx"),
    "pgx/2048": Known("Pgx"),
}

PACKAGES = {
    "PettingZoo": "pettingzoo",
    "mpe2": "mpe2",
    "OpenSpiel": "open_spiel",
    "Gymnasium": "gymnasium",
    "ale-py": "ale-py",
    "multi-agent-ale-py": "multi-agent-ale-py",
    "lbforaging": "lbforaging",
    "rware": "rware",
    "Pgx": "pgx",
    "JAX": "jax",
}
"""What the sweep plays, as pip names it."""


def config_of(id: str) -> EnvConfig:
    """Return the config of an environment."""
    known = KNOWN.get(id)
    return parse_environment(id, dict(known.kwargs) if known else {})


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


# --- the table ---


@dataclass(frozen=True, slots=True)
class Line:
    """What the sweep found of one environment."""

    id: str
    spec: EnvSpec | None
    problems: list[str]
    rule: str = ""  # who wins
    speed: float = 0.0  # decisions in a CPU second
    bare: float = 0.0  # the same in the project's own loop


def sweep(id: str) -> Line:
    """Play an environment in every way that matters."""
    try:
        config = config_of(id)
        made = planned(config)
        env = made.build(1)
        spec = env.spec
        env.close()
        found = conform(made.build, range(1, 4), SLOTS, made.returns)
        problems = wrong(made) + [one.what for one in found.problems]
        rule, _ = look_at_outcomes(spec, from_transcripts(spec, found.complete), config)
        return Line(
            id, spec, problems, who_wins(spec, rule), speed(made.build(SLOTS)), bare_speed(made, found.complete)
        )
    except Exception as error:  # the table must show all others
        return Line(id, None, [f"{type(error).__name__}: {error}"])


def own_speed(env: Environment) -> float:
    """Return how many decisions of random players Ludus makes in a CPU second."""
    wall, cpu = time.perf_counter(), time.process_time()
    by_wall = speed(env)
    return by_wall * (time.perf_counter() - wall) / (time.process_time() - cpu)


def bare_speed(made: Plan, episodes: Sequence[Transcript]) -> float:
    """Return how many decisions the project's own loop makes in a CPU second, given the same actions.

    What it takes to build the environment is left out.
    """
    assert made.returns is not None
    made.returns(episodes[0].seed, episodes[0].ticks)  # the first time is slower
    decisions, spent, end = 0, 0.0, time.perf_counter() + BARE_SECONDS
    while time.perf_counter() < end:
        for episode in episodes:
            began = time.process_time()
            made.returns(episode.seed, [])
            built = time.process_time()
            made.returns(episode.seed, episode.ticks)
            spent += (time.process_time() - built) - (built - began)
            decisions += len(episode.acts)
    return decisions / max(spent, 1e-9)


def who_wins(spec: EnvSpec, rule: str) -> str:
    """Return the rule in short.

    >>> from collectors.envs.native.connect_four import SPEC
    >>> who_wins(SPEC, "the highest return wins")
    'highest return'
    """
    if spec.cooperative:
        return "nobody: returns count"
    return "named in infos" if "infos" in rule else "highest return"


def seats_of(spec: EnvSpec) -> str:
    """Return the seats in short.

    >>> from collectors.envs.native.connect_four import SPEC
    >>> seats_of(SPEC)
    '2 x player'
    """
    counts: dict[str, int] = {}
    for seat in spec.seats:
        name = seat.role if len(seat.agents) == 1 else f"{seat.role} ({len(seat.agents)})"
        counts[name] = counts.get(name, 0) + 1
    text = ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())
    return f"{text}; together" if spec.cooperative and len(spec.seats) > 1 else text


def actions_of(spec: EnvSpec) -> str:
    """Return the actions in short."""
    parts = [" x ".join(map(str, spec.heads))] if spec.heads else []
    return " + ".join([*parts, *([f"{spec.continuous} continuous"] if spec.continuous else [])])


def row(line: Line) -> str:
    """Return a row of the table in Markdown."""
    known = KNOWN.get(line.id, Known(""))
    if line.spec is None:
        return f"| `{line.id}` | {known.api} | | | | | **no** | | | | {line.problems[0]} |"
    seen = f"{line.spec.observation.dtype} {'x'.join(map(str, line.spec.observation.shape))}"
    mark = "yes" if not line.problems else "**no**"
    told = "; ".join(filter(None, [*line.problems, known.remark]))
    cells = [f"`{line.id}`", known.api, str(len(line.spec.agents)), seats_of(line.spec), actions_of(line.spec), seen]
    return f"| {' | '.join([*cells, mark, line.rule, f'{line.speed:,.0f}', f'{line.bare:,.0f}', told])} |"


HEAD = (
    "| environment | API | agents | seats | actions | observation | passes | who wins | decisions/s | bare | remarks |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
)
BEGIN, END = "<!-- the sweep writes this: begin -->", "<!-- the sweep writes this: end -->"


def renewed(page: str, rows: Mapping[str, str], versions: str) -> str:
    """Return a page with these rows, by id, in its table; rows of other environments stay as they are.

    >>> page = renewed(f"text {BEGIN}{END}", {"b": "| `b` | old |"}, "Zoo 1.0")
    >>> renewed(page, {"a": "| `a` | new |", "b": "| `b` | new |"}, "Zoo 1.1").splitlines()[-4:-2]
    ['| `b` | new |', '| `a` | new |']
    """
    before, rest = page.split(BEGIN)
    table, after = rest.split(END)
    old = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}
    merged = old | dict(rows)
    order = sorted(merged, key=lambda id: list(KNOWN).index(id) if id in KNOWN else len(KNOWN))
    lines = [BEGIN, "", f"{versions}.", "", *HEAD, *(merged[id] for id in order), "", END]
    return before + "\n".join(lines) + after


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
