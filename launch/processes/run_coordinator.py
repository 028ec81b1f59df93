"""The coordinator's process: serve the league, keep its replica alive, and leave last."""

import logging
import time
from contextlib import closing, suppress

from coordinator.coordinator import Coordinator
from launch.config.config import Config
from launch.processes.build import Composition
from launch.processes.companion import Companion
from launch.processes.context import ProcessContext, StopFlag
from launch.processes.ending import find_end_problem, stop_reason
from launch.processes.failing import refuse
from launch.topology.endpoints import Endpoints, listening_host
from launch.topology.roles import ProcessRole
from league.plugins import PluginError
from league.state import OVER, LeagueState
from league.store.files import publish
from league.store.ledger import Ledger, LedgerLocked
from league.store.run_directory import RunDirectory

log = logging.getLogger("ludus.process")

QUIET_SECONDS = 5.0  # without a message from anybody after which a coordinator of a league that is over may leave
LONGEST_DEPARTURE = 120.0  # seconds after which it leaves in any case
LOCK_SECONDS = 10.0  # between two lines that name who holds the ledger


class Departure:
    """Decides when the coordinator of a league that is over, or stopped, may leave: when everybody else has left."""

    def __init__(self) -> None:
        self._since: float | None = None

    def due(self, coordinator: Coordinator, now: float) -> bool:
        """Return whether nobody is left to serve."""
        if not coordinator.stopping and coordinator.state.phase != OVER:
            self._since = None
            return False
        self._since = now if self._since is None else self._since
        waited = now - self._since
        silent = all(worker.age > QUIET_SECONDS for worker in coordinator.workers(now))
        return (waited > QUIET_SECONDS and silent) or waited > LONGEST_DEPARTURE


def run_coordinator(context: ProcessContext) -> int:
    """Serve the league; return REFUSED, with one line in the log, if it names rules that are not allowed or not there.

    Another start would fail in the same way, unlike after any other error.
    """
    try:
        return _serve(context)
    except PluginError as error:
        return refuse(context.run, error)


def _serve(context: ProcessContext) -> int:
    """Serve the league until SIGTERM or, without a parent, until it is over and everybody else has left."""
    config, run, stop = context.config, context.run, context.stop
    ledger = open_ledger(run, stop)
    if ledger is None:
        return 0
    host, departure = listening_host(config.launch), Departure()
    replica = Companion(ProcessRole.REPLICA, run, time.monotonic)
    with Endpoints(run, "operator", config.launch.transport, host=host) as endpoints, closing(replica):
        server, feed = endpoints.serve("coordinator"), endpoints.serve_feed()
        service = Composition(config, run, time.monotonic, context.allow).coordinator(ledger, server, feed)
        term = service.coordinator.state.term
        run.publish_rendezvous(endpoints.rendezvous(server, term))
        log.info("term %d at %s", term, server.address)
        while not stop.asked:
            replica.poll()
            service.step(0.02)
            if context.lone and departure.due(service.coordinator, time.monotonic()):
                log.info("%s: nobody is left, the coordinator ends too", service.coordinator.state.why or "stopped")
                note_failure(service.coordinator.state, config, run)
                break
        service.close()
    with suppress(OSError):  # others still listen there, or it is gone
        run.sockets.rmdir()
    return 0


def note_failure(state: LeagueState, config: Config, run: RunDirectory) -> None:
    """Record, where `ludus status` looks, that a league on Slurm is over and was never trained."""
    problem = find_end_problem(state, config, stop_reason(run))
    if problem is not None and problem.failed:
        log.error("%s", problem.line)
        if run.slurm.exists():
            publish(run.ended, f"{problem.line}\n".encode())


def open_ledger(run: RunDirectory, stop: StopFlag) -> Ledger | None:
    """Open the ledger; wait until another coordinator releases it, and log who that is. Never steal it."""
    while not stop.asked:
        try:
            return Ledger.open(run.ledger, LOCK_SECONDS)
        except LedgerLocked as error:
            log.warning("%s: waiting for it. Last seen: %s", error, run.read_rendezvous())
    return None
