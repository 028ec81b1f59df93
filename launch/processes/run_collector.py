"""A collector's process: play, and end with a stack in the log if the environment hangs."""

import faulthandler
import gc
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable

from launch.processes.build import CollectorSockets, Composition
from launch.processes.context import ProcessContext
from launch.topology.endpoints import Endpoints
from launch.topology.parts import HUNG
from league.wire.sockets import SEGMENTS_LIMIT

log = logging.getLogger("ludus.process")


def watch_progress(progress: Callable[[], int], seconds: float, env: str) -> None:
    """End this process, with its stack in the log, when nothing goes on: a hang cannot be interrupted."""

    def watch() -> None:
        seen, since = -1, time.monotonic()
        while True:
            time.sleep(min(1.0, seconds / 4))
            now = progress()
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > seconds:
                log.error(
                    "no progress for %g s: the environment %s hangs. Fix it (see: ludus check-env %s), or set "
                    "collector.hang_seconds if it is only slow. This is where it is:", seconds, env, env
                )  # fmt: skip
                faulthandler.dump_traceback(all_threads=True)
                os._exit(HUNG)

    threading.Thread(target=watch, daemon=True, name="watchdog").start()


def run_collector(context: ProcessContext) -> int:
    """Play until the coordinator stops the league, or until SIGTERM."""
    config, run, index = context.config, context.run, context.index
    with Endpoints(run, f"collector-{index}", config.launch.transport, SEGMENTS_LIMIT) as endpoints:
        build = Composition(config, run, time.monotonic, context.allow)
        sockets = CollectorSockets(endpoints.coordinator(), endpoints.connect)
        collector = build.collector(index, secrets.token_hex(8), sockets)
        watch_progress(lambda: collector.progress, config.collector.hang_seconds, config.env.id or config.env.name)
        gc.freeze()  # what exists by now stays: the collector of garbage need not scan it again
        while collector.step(0.02) and not context.stop.asked:
            pass
    return 0
