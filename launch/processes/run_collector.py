"""A collector's process: play, and end with a stack in the log if the environment hangs."""

import faulthandler
import gc
import logging
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TextIO

from collectors.envs.output import EnvOutput
from launch.config.config import Config
from launch.processes.build import CollectorSockets, Composition
from launch.processes.context import ProcessContext
from launch.topology.endpoints import Endpoints
from launch.topology.parts import HUNG
from league.wire.sockets import SEGMENTS_LIMIT

log = logging.getLogger("ludus.process")

LONGER = 5  # times collector.hang_seconds, to build one environment
END_SECONDS = 2.0  # for threads that an environment left
BUILD_SECONDS = 5.0  # between two lines on what is built


class HangWatch:
    """Ends this process, with its stack in the log, when nothing goes on: a hang cannot be interrupted."""

    def __init__(self, config: Config, out: TextIO) -> None:
        self._env, self._out = config.env.id or config.env.name, out
        self._seconds = config.collector.hang_seconds
        self.progress: Callable[[], int] = int
        self.building = True  # one environment may take five times as long to build as a step

    def start(self) -> None:
        """Watch, in a thread."""
        threading.Thread(target=self._watch, daemon=True, name="watchdog").start()

    def _watch(self) -> None:
        seen, since = -1, time.monotonic()
        while True:
            time.sleep(min(1.0, self._seconds / 4))
            now, seconds = self.progress(), self._seconds * (LONGER if self.building else 1)
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > seconds:
                log.error(
                    "no progress for %g s: the environment %s hangs. Fix it (see: ludus check-env %s), or set "
                    "collector.hang_seconds if it is only slow. This is where it is:", seconds, self._env, self._env
                )  # fmt: skip
                faulthandler.dump_traceback(self._out, all_threads=True)
                os._exit(HUNG)


class BuildProgress:
    """Counts the environments that were built, and logs how long the rest will take."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._told, self.count = clock, clock(), 0

    def __call__(self, built: int, slots: int, left: float) -> None:
        """Note that one more was built."""
        self.count += 1
        if built > 1 and self._clock() - self._told >= BUILD_SECONDS:  # after the first nothing is known
            self._told = self._clock()
            log.info("%d of %d slots built, about %.0f s left", built, slots, left)


def lead_others_away(out: TextIO) -> None:
    """Let the log have only what Ludus says: other loggers write to sys.stderr, where it is caught and counted."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is out:
            handler.addFilter(partial(_ours, handler))


def _ours(handler: logging.Handler, record: logging.LogRecord) -> bool:
    if record.name.partition(".")[0] == "ludus":
        return True
    sys.stderr.write(f"{handler.format(record)}\n")
    return False


def run_collector(context: ProcessContext) -> int:
    """Play until the coordinator stops the league, or until SIGTERM."""
    config, run, index = context.config, context.run, context.index
    lead_others_away(context.log)
    watchdog, others = HangWatch(config, context.log), EnvOutput(everybody=True)
    building = BuildProgress(time.monotonic)
    watchdog.progress = lambda: building.count
    watchdog.start()
    with caught(others), Endpoints(run, f"collector-{index}", config.launch.transport, SEGMENTS_LIMIT) as endpoints:
        build = Composition(config, run, time.monotonic, context.allow, built=building)
        sockets = CollectorSockets(endpoints.coordinator(), endpoints.connect)
        with closing(build.collector(index, secrets.token_hex(8), sockets)) as collector:
            watchdog.progress, watchdog.building = lambda: collector.progress, False
            gc.freeze()  # what exists by now stays: the collector of garbage need not scan it again
            while collector.step(0.02) and not context.stop.asked:
                if news := others.news():
                    log.info("threads and processes of the environment: %s", news)
    end_soon()
    return 0


@contextmanager
def caught(others: EnvOutput) -> Iterator[None]:
    """Catch what threads print until this process ends; an error shows where it belongs."""
    others.__enter__()
    try:
        yield
    except BaseException:
        others.__exit__()
        raise


def end_soon() -> None:
    """End this process in some seconds, though threads or processes that an environment left would hold it up."""
    last = threading.Timer(END_SECONDS, os._exit, (0,))
    last.daemon = True
    last.start()
