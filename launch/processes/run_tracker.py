"""A tracker's process: send the league's curves to one sink."""

import logging

from launch.processes.context import ProcessContext
from launch.trackers.sink import SinkError
from launch.trackers.tracker import track

log = logging.getLogger("ludus.process")


def run_tracker(context: ProcessContext) -> int:
    """Feed one sink until SIGTERM; return 1 if it cannot be fed now."""
    try:
        track(context.config, context.run, context.index, lambda: context.stop.asked, context.allow)
    except (SinkError, OSError) as error:
        log.error("%s: %s", context.config.track.to[context.index], error)
        return 1
    return 0
