"""The composition root: from a config and a run directory to the processes of a league.

                  ticket                segments               candidate
 coordinator ---------------> collector --------------> learner --------------> store
      ^                        |     ^                   |
      +-- result, progress ----+     +---- weights ------+

    build = Composition(config, run, time.monotonic)
    service = build.coordinator(ledger, server)
    collector = build.collector(0, session, CollectorSockets(coordinator, connect))
    learner = build.learner(0, session, LearnerSockets(coordinator, inbox))

Beside a learner there may be its inference process and its buffer process, beside the coordinator its replica. All
parts are put together here, in the same way for one process and for many. Only `learner` and `inference` import torch.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from collectors.actors import Actors
from collectors.collector import Collector
from collectors.config import TURNS
from collectors.envs.config import make_environment
from collectors.envs.rows import BuildsSlots, BuildTold, Compiles, Environment
from collectors.envs.turns import TurnTakingEnvironment
from collectors.inference_client import InferenceClient
from collectors.journal import Journal
from collectors.learner_client import LearnerClient
from coordinator.coordinator import Coordinator
from coordinator.opening import open_league
from coordinator.replica import Replica
from coordinator.service import Service
from launch.config.config import Config, bound_settings, policies_of, settings_of
from launch.config.env_spec import read_spec
from launch.topology.parts import key_holders, learner_names, topology
from league.per_player import PerPlayer
from league.policies.binding import bind
from league.policies.layout import PolicyConfig
from league.policies.network_actor import make_actor
from league.spec import EnvSpec
from league.state import OVER
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotError, SnapshotMissing, SnapshotStore
from league.wire.addresses import this_host
from league.wire.messages import Candidate
from league.wire.ports import Client, Server
from learners.buffer import Buffer
from learners.player_settings import PlayerSettings
from learners.replay_files import ReplayFiles

if TYPE_CHECKING:
    from learners.candidate_writer import Measure
    from learners.distributed import Group
    from learners.inference import Inference
    from learners.learner import Learner

Clock = Callable[[], float]

log = logging.getLogger("ludus.process")


@dataclass(frozen=True, slots=True)
class CollectorSockets:
    """What a collector talks through: to the coordinator, and to learners and inference processes by address."""

    coordinator: Client
    connect: Callable[[str], Client]


@dataclass(frozen=True, slots=True)
class LearnerSockets:
    """What a learner talks through: to the coordinator, with collectors, and to its buffer process if it has one."""

    coordinator: Client
    inbox: Server
    buffer: Client | None = None


@dataclass(frozen=True)
class Composition:
    """Builds the processes of one league."""

    config: Config
    run: RunDirectory
    clock: Clock
    allow: Collection[str] = ()
    inline: bool = False  # all parts are stepped in one process, so nothing is requested ahead or done in halves
    built: BuildTold = lambda built, slots, left: None  # called after each environment of a collector that is built

    @cached_property
    def spec(self) -> EnvSpec:
        """What the environment looks like."""
        return read_spec(self.run)

    @cached_property
    def snapshots(self) -> SnapshotStore:
        """The store of frozen weights."""
        return SnapshotStore(self.run.snapshots)

    @cached_property
    def policies(self) -> PerPlayer[PolicyConfig]:
        """The network of every player."""
        return policies_of(self.config, self.spec.roles)

    @cached_property
    def players(self) -> PerPlayer[PlayerSettings]:
        """The network and the algorithm of every player: loads the code of other packages."""
        return bound_settings(self.config, self.spec, self.allow)

    def coordinator(self, ledger: Ledger, server: Server, feed: Server | None = None) -> Service:
        """Return the coordinator of a new term; a league that was over goes on if its budget was raised."""
        config, run = self.config, self.run
        state = open_league(ledger, config.league, config.seed, self.spec, run.config_hash(), run.fold)
        admitted, inspect = key_holders(topology(config)), inspector(self.snapshots, self.spec)
        coordinator = Coordinator(state, learner_names(config), self.clock(), admitted, inspect, self.allow)
        service = Service(coordinator, ledger, server, self.clock, self.snapshots.remove, run.fold, feed)
        if state.phase == OVER and not coordinator.budget_spent(service.elapsed(self.clock())):
            coordinator.reopen()
        return service

    def replica(self, feed: Client, server: Server) -> Replica:
        """Return the replica, which serves viewers and trackers."""
        return Replica(feed, server, self.config.league, self.clock, self.run.fold, self.config.track.to)

    def collector(self, index: int, session: str, sockets: CollectorSockets) -> Collector:
        """Return a collector with its environment."""
        name, config = f"collector-{index}", self.config.collector
        central = config.inference == "central"
        env = self._environment(TURNS if central and not self.inline else 1)
        actors = Actors(
            env.spec, self.policies, self.snapshots, config.cache_megabytes << 20, self.allow, config.act_in
        )
        learner_client = LearnerClient(name, session, sockets.connect, weights=not central)
        return Collector(
            name=name,
            session=session,
            env=env,
            coordinator=sockets.coordinator,
            learner_client=learner_client,
            actors=actors,
            run_seed=self.config.seed,
            config=config,
            clock=self.clock,
            journal=Journal(self.run.journal(name)).note,
            inference_client=InferenceClient(session, env.spec, actors, learner_client.live, sockets.connect)
            if central
            else None,
            sigmas=settings_of(self.config, self.allow, env.spec.roles).map(lambda player: player.algo.weight_noise),
            host=this_host(),
        )

    def learner(self, index: int, session: str, sockets: LearnerSockets, group: "Group | None" = None) -> "Learner":
        """Return a learner, or one rank of it."""
        from learners.algorithms.algorithm import make_algorithm
        from learners.distributed import ALONE
        from learners.learner import Learner
        from learners.remote_replay import AHEAD
        from learners.trainee_store import TraineeStore

        store = TraineeStore(
            snapshots=self.snapshots,
            checkpoint_path=self.run.checkpoint,
            spec=self.spec,
            players=self.players,
            seed=self.config.seed,
            algorithm=partial(make_algorithm, allow=self.allow, snapshots=self.run.snapshots),
            group=group or ALONE,
            config=self.config.learner,
            replay_files=self._replay_files((group or ALONE).rank, "learner"),
        )
        return Learner(
            name=f"learner-{index}",
            session=session,
            coordinator=sockets.coordinator,
            inbox=sockets.inbox,
            store=store,
            clock=self.clock,
            buffer=sockets.buffer,
            ahead=0 if self.inline else AHEAD,  # inline: the same minibatches as from a replay in the learner
            measure=self._measure(),
            host=this_host(),
        )

    def _measure(self) -> "Measure | None":
        """Return what learners measure of new candidates."""
        if self.config.league.exploit_every is None:
            return None
        from launch.processes.nash_conv_meter import NashConvMeter

        return NashConvMeter(self.config, self.spec, self.snapshots, self.allow)

    def inference(self, session: str, learner: Client, server: Server) -> "Inference":
        """Return the inference process beside a learner; if that has a GPU, its networks are there, too."""
        import torch

        from league.policies.torch_actor import TorchActor
        from learners.inference import Inference

        # Inline on the CPU: the same numbers as in collectors.
        act_in = self.config.collector.act_in
        on_gpu = torch.cuda.is_available() and self.config.learner.device != "cpu" and not self.inline
        return Inference(
            session=session,
            learner=learner,
            server=server,
            spec=self.spec,
            policies=self.policies.map(lambda policy: bind(policy, self.spec, self.allow)),
            clock=self.clock,
            network=partial(TorchActor, device="cuda") if on_gpu else partial(make_actor, act_in=act_in),
        )

    def buffer(self, index: int, session: str, server: Server) -> Buffer:
        """Return the buffer process beside a learner, or beside one of its ranks."""
        return Buffer(
            session=session,
            server=server,
            spec=self.spec,
            players=self.players,
            seed=self.config.seed,
            clock=self.clock,
            rank=index % self.config.launch.ranks,
            ranks=self.config.launch.ranks,
            replay_files=self._replay_files(index % self.config.launch.ranks, "buffer"),
            keep_every=-(-self.config.learner.candidate_decisions // self.config.launch.ranks),
        )

    def _replay_files(self, rank: int, where: str) -> ReplayFiles | None:
        """Return where a rank keeps its replays; None if it does not, or if they are in another process."""
        config = self.config.learner
        return ReplayFiles(self.run.replays_of, rank) if config.keep_replay and config.replay_in == where else None

    def _environment(self, turns: int) -> Environment:
        """Return the slots of a collector; if they take turns, in as many environments."""
        slots = self.config.collector.slots
        if turns == 1:
            return self._slots(slots)
        shares = [slots * (turn + 1) // turns - slots * turn // turns for turn in range(turns)]
        return TurnTakingEnvironment([self._slots(share) for share in shares])

    def _slots(self, count: int) -> Environment:
        """Return some slots, built, and compiled if they have to be: in the first tick that would seem to be a hang."""
        env = make_environment(self.config.env, count, self.allow)
        if isinstance(env, Compiles) and (told := env.prepare()):
            log.info(told)
        if isinstance(env, BuildsSlots):
            env.build_slots(self.built)
        return env


def inspector(store: SnapshotStore, spec: EnvSpec) -> Callable[[Candidate], str | None]:
    """Return a function that checks the file of a candidate against the learner's report.

    It returns None if there is no file, an empty text if all is well, and else what is wrong.
    """

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
