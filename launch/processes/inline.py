"""`launch=inline`: the same coordinator, collectors and learners, stepped in turn in one process.

A logical clock, ids from counters and messages through memory make it reproducible: the same seed gives the same
events and the same snapshots. Tests, debuggers and notebooks like it, too.
"""

import logging
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from collectors.collector import Collector
from collectors.envs.names import is_ours
from coordinator.service import Service
from launch.config.config import Config
from launch.config.env_spec import prepare_league
from launch.config.foreign import with_foreign
from launch.processes.build import CollectorSockets, Composition, LearnerSockets
from launch.processes.ending import find_end_problem, finished, noting_stops
from launch.spawn.descendants import descendants_end
from launch.spawn.left_over import children, end_left_over
from launch.topology.parts import learner_names
from league.rulebook import BY_EPISODES
from league.state import OVER, LeagueState
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.wire.in_memory import Exchange
from league.wire.messages import Message
from league.wire.ports import Arrays, Client
from learners.buffer import Buffer
from learners.inference import Inference
from learners.learner import Learner

log = logging.getLogger("ludus.process")

COORDINATOR = "memory://coordinator"
TICK = 1 / 64  # seconds of logical time in one round: a binary fraction, so that sums are exact
BEAT = 1 / 4  # seconds of it between two reports, and two rows of metrics: a short league is over in some seconds


class LogicalClock:
    """Time that only its owner moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the present."""
        return self.now


class SteppedClient:
    """A client of a process that is stepped whenever an answer of it is received."""

    def __init__(self, client: Client, process: Inference | Buffer) -> None:
        self._client, self._process = client, process

    def send(self, message: Message, arrays: Arrays | None = None) -> bool:
        """Send."""
        return self._client.send(message, arrays)

    def receive(self, timeout: float) -> list[tuple[Message, Arrays]]:
        """Let the process work, and return all its answers."""
        self._process.step(0.0)
        return self._client.receive(timeout)

    def close(self) -> None:
        """Close."""
        self._client.close()


@dataclass(frozen=True, slots=True)
class InlineLeague:
    """The parts of a league, stepped in turn.

    league = assemble(config, run)
    while not league.over:
        league.step()
    league.close()
    """

    clock: LogicalClock
    exchange: Exchange
    coordinator: Service
    buffers: dict[str, Buffer] = field(default_factory=dict)  # by learner
    learners: list[Learner] = field(default_factory=list)
    inferences: dict[str, Inference] = field(default_factory=dict)  # by address
    collectors: list[Collector] = field(default_factory=list)

    @property
    def state(self) -> LeagueState:
        """The state of the league."""
        return self.coordinator.coordinator.state

    @property
    def over(self) -> bool:
        """Whether the league has ended."""
        return self.state.phase == OVER

    def to_coordinator(self) -> Client:
        """Return a client of the coordinator."""
        return self.exchange.client(COORDINATOR)

    def to_buffer(self, learner: str) -> Client | None:
        """Return a client of the buffer beside a learner, if there is one."""
        buffer = self.buffers.get(learner)
        return None if buffer is None else SteppedClient(self.exchange.client(buffer.server.address), buffer)

    def connect(self, address: str) -> Client:
        """Return a collector's client of a learner, a buffer or an inference process."""
        client, inference = self.exchange.client(address), self.inferences.get(address)
        return client if inference is None else SteppedClient(client, inference)

    def step(self) -> None:
        """Step every part once; the coordinator after each learner and collector.

        A buffer steps with its learner only, so collectors get credit in the round in which the learner would grant it.
        """
        for inference in self.inferences.values():
            inference.step(0.0)
        for learner in self.learners:
            learner.step(0.0)
            if learner.name in self.buffers:
                self.buffers[learner.name].step(0.0)  # it passes on the weights of an update in the same round
            self.coordinator.step(0.0)
        for collector in self.collectors:
            collector.step(0.0)
            self.coordinator.step(0.0)
        self.clock.now += TICK

    def close(self) -> None:
        """Let the learners write their last candidates, close the ledger and the environments."""
        try:
            for learner in self.learners:
                learner.ask_to_stop()
                learner.step(0)
            for buffer in self.buffers.values():
                buffer.finish()
        finally:
            self.coordinator.close()
            for collector in self.collectors:
                collector.close()


def assemble(config: Config, run: RunDirectory, allow: Sequence[str] = ()) -> InlineLeague:
    """Return all parts of a league, connected through memory."""
    clock, exchange, learners = LogicalClock(), Exchange(), list(enumerate(learner_names(config)))
    build = Composition(_often(config), run, clock, allow, inline=True)
    service = build.coordinator(Ledger.open(run.ledger), exchange.server("coordinator"))
    service.metrics_every = BEAT
    term, league = service.coordinator.state.term, InlineLeague(clock, exchange, service)
    for i, name in learners if config.learner.replay_in == "buffer" else ():
        league.buffers[name] = build.buffer(i, f"buffer-{i}/{term}", exchange.server(f"buffer-{i}"))
    for i, name in learners:
        ports = LearnerSockets(league.to_coordinator(), exchange.server(name), league.to_buffer(name))
        league.learners.append(build.learner(i, f"{name}/{term}", ports))
    for _, name in learners if config.collector.inference == "central" else ():
        server, learner = exchange.server(f"inference-of-{name}"), exchange.client(f"memory://{name}")
        league.inferences[server.address] = build.inference(f"inference-of-{name}/{term}", learner, server)
    for i in range(max(1, config.launch.collectors)):
        sockets = CollectorSockets(league.to_coordinator(), league.connect)
        league.collectors.append(build.collector(i, f"collector-{i}/{term}", sockets))
    return league


def play(
    config: Config,
    run: RunDirectory,
    allow: Sequence[str] = (),
    on_round: Callable[[LeagueState], bool | None] = lambda state: None,
) -> LeagueState:
    """Run a league in this process until it is over, or until `on_round` returns False; return its state."""
    import torch

    torch.set_num_threads(1)
    with nullcontext() if is_ours(config.env.name) else descendants_end():
        before = children()
        try:
            prepare_league(config, run, allow)
            return _played(assemble(config, run, allow), on_round)
        finally:
            if left := end_left_over(before):
                log.warning("the environment left %d processes, which were ended: end them in its close()", left)


def _played(league: InlineLeague, on_round: Callable[[LeagueState], bool | None]) -> LeagueState:
    try:
        while not league.over:
            league.step()
            if on_round(league.state) is False:
                break
        return league.state
    finally:
        league.close()


def _often(config: Config) -> Config:
    """Return a config under which processes report often enough for curves, by the logical clock."""
    learner, collector = config.learner, config.collector
    return replace(
        config,
        learner=replace(learner, heartbeat=min(BEAT, learner.heartbeat)),
        collector=replace(collector, heartbeat=min(BEAT, collector.heartbeat)),
    )


def run(config: Config, run: RunDirectory, *, quiet: bool, allow: Sequence[str] = (), as_json: bool = False) -> int:
    """`ludus run launch=inline`: play, then print the final report."""
    from launch.terminal.spinner import Spinner
    from launch.trackers.exporting import export
    from launch.viewers.final_progress import final_words
    from launch.viewers.live import final_report
    from launch.viewers.reading import standings_with_costs

    over, stops = finished(run), list[str]()
    if over is None:
        with Spinner(run.name) as progress, noting_stops() as stops:

            def tell(state: LeagueState) -> None:
                if progress.due:
                    progress.update(f"{final_words(state) or state.phase}, {state.env_steps:,} env steps")

            state = play(config, run, allow, tell)
    else:
        state = over.state
        if not quiet:
            sys.stderr.write(f"ludus: {over.line}\n")
    for name in config.track.to:  # a tracker beside it would not be reproducible, and all is in the ledger
        export(run, name, run.track / name, allow=allow)
    if not quiet:
        final_report(state, run.name, as_json=as_json, allow=with_foreign(config, allow))
        if config.league.rate_by != BY_EPISODES and not as_json:
            standings_with_costs(run)
    problem = find_end_problem(state, config, stops[-1] if stops else "")
    if problem is not None and (problem.failed or not quiet):
        sys.stderr.write(f"ludus: {problem.line}\n")
    return 1 if problem is not None and problem.failed else 0
