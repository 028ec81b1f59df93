"""The composition root: from a config and a run directory to the three kinds of process.

    coordinator <- Ledger, Server       collector <- Environment, Actors, LearnerClient       learner <- Inbox, Store

Everything is wired here and nowhere else, and in the same way for one process and for many.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from collectors.actors import Actors
from collectors.collector import Collector
from collectors.config import TURNS
from collectors.envs.config import make_environment
from collectors.envs.rows import Environment
from collectors.envs.turns import TurnTakingEnvironment
from collectors.inference_client import InferenceClient
from collectors.journal import Journal
from collectors.learner_client import LearnerClient
from coordinator.coordinator import Coordinator
from coordinator.opening import open_league
from coordinator.replica import Replica
from coordinator.service import Service
from launch.config.config import Config, algo_of, own_algos, own_policies
from launch.config.env_spec import read_spec
from launch.topology.parts import key_holders, learner_names, topology
from league.spec import EnvSpec
from league.state import OVER
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotError, SnapshotMissing, SnapshotStore
from league.wire.messages import Candidate
from league.wire.ports import Client, Server
from learners.buffer import Buffer

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Lines:
    """What a collector talks through: one line to the coordinator, and a way to call learners and their inference."""

    coordinator: Client
    connect: Callable[[str], Client]
    turns: int = TURNS  # halves of the slots that alternate while answers are under way


def build_coordinator(
    config: Config, run: RunDirectory, ledger: Ledger, server: Server, clock: Clock, feed: Server | None = None
) -> Service:
    """Return the coordinator of a new term; a league that was over goes on if its budget was raised."""
    state = open_league(ledger, config.league, config.seed, read_spec(run), run.config_hash(), run.fold)
    store = SnapshotStore(run.snapshots)
    roster = key_holders(topology(config))
    coordinator = Coordinator(state, learner_names(config), clock(), roster, inspector(store, read_spec(run)))
    service = Service(coordinator, ledger, server, clock, store.remove, run.fold, feed)
    if state.phase == OVER and not coordinator.budget_spent(service.elapsed(clock())):
        coordinator.reopen()
    return service


def build_replica(config: Config, run: RunDirectory, feed: Client, server: Server, clock: Clock) -> Replica:
    """Return the replica of a league, which serves its viewers and trackers."""
    return Replica(feed, server, config.league, clock, run.fold, config.track.to)


def inspector(store: SnapshotStore, spec: EnvSpec) -> Callable[[Candidate], str | None]:
    """Return what looks at the file of a candidate: whether it is there, whole, and what the learner says it is."""

    def inspect(candidate: Candidate) -> str | None:
        try:
            manifest = store.get(candidate.snapshot).manifest
        except SnapshotMissing:
            return None
        except SnapshotError as error:
            return str(error)
        found = (manifest.player, manifest.incarnation, manifest.version, manifest.decisions, manifest.signature)
        told = (candidate.player, candidate.incarnation, candidate.version, candidate.decisions, spec.signature)
        return "" if found == told else f"its file says {found}, the learner {told}"

    return inspect


def build_collector(
    config: Config,
    run: RunDirectory,
    index: int,
    session: str,
    lines: Lines,
    clock: Clock,
    allow: Collection[str] = (),
) -> Collector:
    """Return a collector with its environment."""
    name = f"collector-{index}"
    central = config.collector.inference == "central"
    env = _environment(config, lines.turns if central else 1, allow)
    store = SnapshotStore(run.snapshots)
    cache = config.collector.cache_megabytes << 20
    actors = Actors(env.spec, config.policy, store, cache, allow, own_policies(config))
    learner_client = LearnerClient(name, session, lines.connect, weights=not central)
    return Collector(
        name=name,
        session=session,
        env=env,
        coordinator=lines.coordinator,
        learner_client=learner_client,
        actors=actors,
        run_seed=config.seed,
        config=config.collector,
        clock=clock,
        journal=Journal(run.journal(name)).note,
        inference_client=InferenceClient(session, env.spec, actors, learner_client.live, lines.connect)
        if central
        else None,
    )


def build_buffer(
    config: Config,
    run: RunDirectory,
    index: int,
    session: str,
    server: Server,
    clock: Clock,
    allow: Collection[str] = (),
) -> Buffer:
    """Return the buffer process beside a learner, or beside one of its ranks."""
    return Buffer(
        session=session,
        server=server,
        spec=read_spec(run),
        policy=config.policy,
        algo=algo_of(config, allow),
        seed=config.seed,
        clock=clock,
        policies=own_policies(config),
        algos=own_algos(config, allow),
        rank=index % config.launch.ranks,
        ranks=config.launch.ranks,
    )


def _environment(config: Config, turns: int, allow: Collection[str]) -> Environment:
    """Return the slots of a collector; if they take turns, in as many environments."""
    slots = config.collector.slots
    if turns == 1:
        return make_environment(config.env, slots, allow)
    shares = [slots * (turn + 1) // turns - slots * turn // turns for turn in range(turns)]
    return TurnTakingEnvironment([make_environment(config.env, share, allow) for share in shares])
