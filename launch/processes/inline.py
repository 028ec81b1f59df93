"""`launch=inline`: the same coordinator, collectors and learners, stepped in turn in one process.

A logical clock, ids from counters and messages through memory make it reproducible: the same seed gives the same
events and the same snapshots. Tests, debuggers and notebooks like it, too.
"""

import sys
from collections.abc import Callable, Sequence

from launch.config.config import Config
from launch.config.env_spec import describe_environment
from launch.processes.build import Lines, build_buffer, build_collector, build_coordinator
from launch.processes.build_learner import build_inference, build_learner
from launch.processes.ending import find_end_problem
from launch.topology.parts import learner_names
from league.state import OVER, LeagueState
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.wire.in_memory import Exchange
from league.wire.messages import Message
from league.wire.ports import Arrays, Client
from learners.buffer import Buffer
from learners.inference import Inference

TICK = 1 / 64  # seconds of logical time in one round: binary, so that they add up, and enough to listen in each


class LogicalClock:
    """Time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the present."""
        return self.now


class Prompt:
    """A client of a process that answers at once: whoever looks for the answer lets it work."""

    def __init__(self, client: Client, process: Inference | Buffer) -> None:
        self._client, self._process = client, process

    def send(self, message: Message, arrays: Arrays | None = None) -> bool:
        """Send."""
        return self._client.send(message, arrays)

    def receive(self, timeout: float) -> list[tuple[Message, Arrays]]:
        """Return all answers."""
        self._process.step(0.0)
        return self._client.receive(timeout)

    def close(self) -> None:
        """Close."""
        self._client.close()


def play(
    config: Config,
    run: RunDirectory,
    allow: Sequence[str] = (),
    on_round: Callable[[LeagueState], bool | None] = lambda state: None,
) -> LeagueState:
    """Run a league in this process until it is over, or until `on_round` returns False; return its state."""
    import torch

    torch.set_num_threads(1)
    describe_environment(config, run, allow)
    clock, exchange = LogicalClock(), Exchange()
    ledger = Ledger.open(run.ledger)
    service = build_coordinator(config, run, ledger, exchange.server("coordinator"), clock)
    term = service.coordinator.state.term

    def line() -> Client:
        return exchange.client("memory://coordinator")

    buffers = {
        name: build_buffer(config, run, i, f"buffer-{i}/{term}", exchange.server(f"buffer-{i}"), clock, allow)
        for i, name in enumerate(learner_names(config))
        if config.learner.replay_in == "buffer"
    }

    def buffer_of(name: str) -> Client | None:
        buffer = buffers.get(name)
        return None if buffer is None else Prompt(exchange.client(buffer.server.address), buffer)

    learners = [
        build_learner(
            config, run, i, f"{name}/{term}", line(), exchange.server(name), clock, allow=allow, buffer=buffer_of(name)
        )
        for i, name in enumerate(learner_names(config))
    ]
    inferences = {
        server.address: build_inference(config, run, f"{name}/{term}", exchange.client(learner), server, clock)
        for learner, name in [(f"memory://{name}", f"inference-of-{name}") for name in learner_names(config)]
        if config.collector.inference == "central" and (server := exchange.server(name))
    }

    def connect(address: str) -> Client:
        client, inference = exchange.client(address), inferences.get(address)
        return client if inference is None else Prompt(client, inference)

    collectors = [
        build_collector(config, run, i, f"collector-{i}/{term}", Lines(line(), connect, turns=1), clock, allow)
        for i in range(max(1, config.launch.collectors))
    ]
    try:
        while service.coordinator.state.phase != OVER:
            for inference in inferences.values():
                inference.step(0.0)
            for step in [w.step for w in learners] + [w.step for w in collectors]:
                step(0.0)
                for buffer in buffers.values():
                    buffer.step(0.0)
                service.step(0.0)
            clock.now += TICK
            if on_round(service.coordinator.state) is False:
                break
        return service.coordinator.state
    finally:
        try:
            for learner in learners:
                learner.ask_to_stop()
                learner.step(0)
        finally:
            service.close()


def run(config: Config, run: RunDirectory, *, quiet: bool, allow: Sequence[str] = (), as_json: bool = False) -> int:
    """`ludus run launch=inline`: play, then print the final report."""
    from launch.terminal.spinner import Spinner
    from launch.trackers.exporting import export
    from launch.viewers.final import final_words
    from launch.viewers.live import final_report

    with Spinner(run.name) as progress:

        def tell(state: LeagueState) -> None:
            if progress.due:
                progress.update(f"{final_words(state) or state.phase}, {state.env_steps:,} env steps")

        state = play(config, run, allow, tell)
    for name in config.track.to:  # a tracker beside it would not be reproducible, and all is in the ledger
        export(run, name, run.track / name, allow=allow)
    if not quiet:
        final_report(state, run.name, as_json=as_json, allow=allow)
    problem = find_end_problem(state, config)
    if problem is not None and (problem.failed or not quiet):
        sys.stderr.write(f"ludus: {problem.line}\n")
    return 1 if problem is not None and problem.failed else 0
