"""One process of a league: `python -m launch.processes --run RUN --role collector --index 3`.

It reads the resolved config from the run directory, serves its role until it is told to stop, and ends when its
parent does: the parent holds the other end of its standard input. With `--lone` there is no parent, but a batch
system: the coordinator ends by itself when the league is over. TERM and USR1 ask for a checkpoint and the end.
"""

import argparse
import faulthandler
import gc
import logging
import os
import resource
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from coordinator.coordinator import Coordinator
from launch.config.config import Config, from_plain
from launch.processes.build import CollectorSockets, Composition, LearnerSockets
from launch.processes.companion import Companion
from launch.processes.ending import untrained
from launch.spawn.interpreter import settle
from launch.spawn.lifeline import end_with_parent
from launch.topology.endpoints import Endpoints, listening_host
from launch.topology.parts import HUNG, rank_name
from league.state import OVER, LeagueState
from league.store.files import publish
from league.store.ledger import Ledger, LedgerLocked
from league.store.run_directory import RunDirectory
from league.wire.keys import KeysError
from league.wire.sockets import PAGE_LIMIT, SEGMENTS_LIMIT, WISH_LIMIT

log = logging.getLogger("ludus.process")

ROLES = ("coordinator", "collector", "learner", "inference", "buffer", "tracker", "replica")
POLITE = 5  # collectors give way to the learner and the coordinator on a crowded machine: all wait for those two
REPLACED = 71  # exit code of a process that found another one of its name
QUIET = 5.0  # seconds without a word from anybody after which a coordinator of a league that is over may go
LAST_WORDS = 120.0  # seconds after which it goes in any case
ORDER = "LUDUS_ORDER"  # the variable with which a batch system tells its later processes from its earlier ones
CLAIM = 1.0  # seconds between two looks at whose name it is
MODEST = 10  # viewers give way to everybody
REPLICA_BYTES = 2 << 30  # of memory: a replica that is made to take more ends, and is started again
LOCK_PATIENCE = 10.0  # seconds between two lines that say who holds the ledger


class Stop:
    """Set by SIGTERM, and by SIGUSR1 before a time limit; read by the loop."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._ask)
        signal.signal(signal.SIGUSR1, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        self.asked = True


def die_with_parent() -> None:
    """End this process when standard input ends: then the parent is gone, however it died."""

    def watch() -> None:
        while os.read(0, 1024):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent").start()


def watch_progress(ticks: Callable[[], int], seconds: float, env: str) -> None:
    """End this process, with its stack in the log, when its loop stands still: a hang cannot be interrupted."""

    def watch() -> None:
        seen, since = -1, time.monotonic()
        while True:
            time.sleep(min(1.0, seconds / 4))
            now = ticks()
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > seconds:
                log.error(
                    "no tick for %g s: the environment %s hangs. Fix it (see: ludus check-env %s), or set "
                    "collector.hang_seconds if it is only slow. This is where it is:", seconds, env, env
                )  # fmt: skip
                faulthandler.dump_traceback(all_threads=True)
                os._exit(HUNG)

    threading.Thread(target=watch, daemon=True, name="watchdog").start()


class Claim:
    """A process's claim to its name. Slurm may start it again while the old one, on a node that it lost, goes on.

    The one of the later order stays; where there is no order, the one that came last.
    """

    def __init__(self, path: Path, session: str) -> None:
        self._path, self._text = path, f"{os.environ.get(ORDER, '0')} {session}\n"
        self._looked = float("-inf")
        path.parent.mkdir(exist_ok=True)
        if path.exists() and path.read_text().split()[0] > self._text.split()[0]:
            self._leave()
        publish(path, self._text.encode())

    def check(self) -> None:
        """End this process, at once and without a trace, if there is a newer one of its name."""
        now = time.monotonic()
        if now - self._looked < CLAIM:
            return
        self._looked = now
        if not self._path.exists() or self._path.read_text() != self._text:  # gone: the league was started anew
            self._leave()

    def _leave(self) -> None:
        log.error("another process took the name %s: leaving it to that one", self._path.name)
        os._exit(REPLACED)


class Farewell:
    """Tells when the coordinator of a league that is over, or stopped, may go: when everybody else has gone."""

    def __init__(self) -> None:
        self._since: float | None = None

    def said(self, coordinator: Coordinator, now: float) -> bool:
        """Whether nobody is left to talk to."""
        if not coordinator.stopping and coordinator.state.phase != OVER:
            self._since = None
            return False
        self._since = now if self._since is None else self._since
        waited = now - self._since
        silent = all(worker.age > QUIET for worker in coordinator.workers(now))
        return (waited > QUIET and silent) or waited > LAST_WORDS


def run_coordinator(config: Config, run: RunDirectory, stop: Stop, lone: bool) -> None:
    """Serve the league until SIGTERM, or, if nobody sends one, until it is over and everybody knows."""
    ledger = open_ledger(run, stop)
    if ledger is None:
        return
    host, farewell = listening_host(config.launch), Farewell()
    replica = Companion("replica", run, time.monotonic)
    with Endpoints(run, "operator", config.launch.transport, host=host) as doors, closing(replica):
        server, feed = doors.serve("coordinator"), doors.serve_feed()
        service = Composition(config, run, time.monotonic).coordinator(ledger, server, feed)
        term = service.coordinator.state.term
        run.publish_rendezvous(doors.rendezvous(server, term))
        log.info("term %d at %s", term, server.address)
        while not stop.asked:
            replica.poll()
            service.step(0.02)
            if lone and farewell.said(service.coordinator, time.monotonic()):
                log.info("%s: nobody is left, the coordinator goes too", service.coordinator.state.why or "stopped")
                note_failure(service.coordinator.state, config, run)
                break
        service.close()
    with suppress(OSError):  # others still listen there, or it is gone
        run.sockets.rmdir()


def run_replica(config: Config, run: RunDirectory, stop: Stop) -> None:
    """Serve viewers and trackers on behalf of the coordinator that started this process, until SIGTERM."""
    os.nice(MODEST)  # before libzmq starts its threads: play comes first, whatever viewers want
    resource.setrlimit(resource.RLIMIT_DATA, (REPLICA_BYTES, REPLICA_BYTES))
    host, transport = listening_host(config.launch), config.launch.transport
    with (
        Endpoints(run, "viewer", transport, PAGE_LIMIT) as inner,
        Endpoints(run, "viewer", transport, WISH_LIMIT, host) as doors,
    ):
        server = doors.serve("replica")
        replica, published = Composition(config, run, time.monotonic).replica(inner.feed(), server), False
        gc.freeze()
        while not stop.asked:
            replica.step(0.05)
            if replica.ready and not published:
                published = True
                run.publish_rendezvous(doors.rendezvous(server, replica.term), "replica")
                log.info("term %d, event %d, at %s", replica.term, replica.mirror.seq, server.address)


def note_failure(state: LeagueState, config: Config, run: RunDirectory) -> None:
    """Write where `ludus status` looks that a league on Slurm is over and was never trained."""
    shortfall = untrained(state, config)
    if shortfall is not None and shortfall.failed:
        log.error("%s", shortfall.line)
        if run.slurm.exists():
            publish(run.ended, f"{shortfall.line}\n".encode())


def open_ledger(run: RunDirectory, stop: Stop) -> Ledger | None:
    """Open the ledger; wait for another coordinator to let go of it, and say who it is. Never steal it."""
    while not stop.asked:
        try:
            return Ledger.open(run.ledger, LOCK_PATIENCE)
        except LedgerLocked as error:
            log.warning("%s: waiting for it. Last seen: %s", error, run.read_rendezvous())
    return None


def run_collector(config: Config, run: RunDirectory, index: int, stop: Stop, allow: Sequence[str]) -> None:
    """Play until the coordinator says stop, or until SIGTERM."""
    os.nice(POLITE)
    with Endpoints(run, f"collector-{index}", config.launch.transport, SEGMENTS_LIMIT) as doors:
        build, sockets = (
            Composition(config, run, time.monotonic, allow),
            CollectorSockets(doors.coordinator(), doors.connect),
        )
        collector = build.collector(index, secrets.token_hex(8), sockets)
        watch_progress(lambda: collector.ticks, config.collector.hang_seconds, config.env.id or config.env.name)
        gc.freeze()  # what is here by now stays: no need to look through it for garbage again and again
        while collector.step(0.02) and not stop.asked:
            pass


def run_learner(config: Config, run: RunDirectory, index: int, stop: Stop, allow: Sequence[str]) -> None:
    """Train until the coordinator says stop, or until SIGTERM."""
    import torch

    from learners.distributed import join, leave

    torch.set_num_threads(1)
    group = join(config.learner.device, config.learner.join_seconds)
    if group.size > 1:
        end_with_parent()  # torchrun's agent: else it could not be told apart from a rank of the next group
    host = listening_host(config.launch)
    name = rank_name(f"learner-{index}", group.rank)
    with Endpoints(run, name, config.launch.transport, SEGMENTS_LIMIT, host) as doors:
        session, inbox = secrets.token_hex(8), doors.serve(name)
        claim = Claim(run.claim(name), session)
        run.publish_rendezvous(doors.rendezvous(inbox), name)
        coordinator, beside = doors.coordinator(), config.learner.replay_in == "buffer"
        buffer = doors.buffer(index * config.launch.ranks + group.rank) if beside else None
        sockets = LearnerSockets(coordinator, inbox, buffer)
        learner = Composition(config, run, time.monotonic, allow).learner(index, session, sockets, group)
        while learner.step(0.02):
            claim.check()
            if stop.asked:
                learner.ask_to_stop()
    leave()


def run_inference(config: Config, run: RunDirectory, index: int, stop: Stop) -> None:
    """Answer collectors for the players of one learner, until SIGTERM."""
    host = listening_host(config.launch)
    name = f"inference-{index}"
    with Endpoints(run, name, config.launch.transport, SEGMENTS_LIMIT, host) as doors:
        session, server = secrets.token_hex(8), doors.serve(name)
        inference = Composition(config, run, time.monotonic).inference(session, doors.learner(index), server)
        while not stop.asked:
            inference.step(0.02)


def run_buffer(config: Config, run: RunDirectory, index: int, stop: Stop, allow: Sequence[str]) -> None:
    """Keep the replays of the players of one learner, or of one of its ranks, until SIGTERM."""
    host = listening_host(config.launch)
    name, session = f"buffer-{index}", secrets.token_hex(8)
    with Endpoints(run, name, config.launch.transport, SEGMENTS_LIMIT, host) as doors:
        server = doors.serve(name)
        run.publish_rendezvous(doors.rendezvous(server), name)
        buffer = Composition(config, run, time.monotonic, allow).buffer(index, session, server)
        gc.freeze()
        while not stop.asked:
            buffer.step(0.02)


def run_tracker(config: Config, run: RunDirectory, index: int, stop: Stop, allow: Sequence[str]) -> int:
    """Feed one tracker until SIGTERM; 1 if it cannot be fed now."""
    from launch.trackers.sink import SinkError
    from launch.trackers.tracker import run_tracker

    os.nice(POLITE)
    try:
        run_tracker(config, run, index, lambda: stop.asked, allow)
    except (SinkError, OSError) as error:
        log.error("%s: %s", config.track.to[index], error)
        return 1
    return 0


def main(argv: Sequence[str] | None = None) -> None:
    """Serve one role; a key that is missing or revoked ends it with one line in its log."""
    try:
        serve(argv)
    except KeysError as error:
        log.error("%s", error)
        sys.exit(1)


def serve(argv: Sequence[str] | None = None) -> None:
    """Serve one role."""
    parser = argparse.ArgumentParser(prog="python -m launch.processes", description=__doc__)
    parser.add_argument("--run", required=True, type=Path)
    parser.add_argument("--role", required=True, choices=ROLES)
    parser.add_argument("--index", type=int, default=0)
    parser.add_argument("--lone", action="store_true", help="there is no parent to obey")
    parser.add_argument("--allow", action="append", default=[])
    arguments = parser.parse_args(argv)
    settle(arguments.allow)
    faulthandler.enable()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    stop = Stop()
    if not arguments.lone:
        die_with_parent()
    run = RunDirectory(arguments.run).check()
    config = from_plain(run.read_config())
    if arguments.role == "coordinator":
        run_coordinator(config, run, stop, arguments.lone)
    elif arguments.role == "collector":
        run_collector(config, run, arguments.index, stop, arguments.allow)
    elif arguments.role == "inference":
        run_inference(config, run, arguments.index, stop)
    elif arguments.role == "buffer":
        run_buffer(config, run, arguments.index, stop, arguments.allow)
    elif arguments.role == "replica":
        run_replica(config, run, stop)
    elif arguments.role == "tracker":
        sys.exit(run_tracker(config, run, arguments.index, stop, arguments.allow))
    else:
        run_learner(config, run, arguments.index, stop, arguments.allow)
