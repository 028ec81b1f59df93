"""The replica's process: serve viewers and trackers on behalf of the coordinator that started it."""

import gc
import logging
import resource
import time

from launch.processes.build import Composition
from launch.processes.context import ProcessContext
from launch.topology.endpoints import Endpoints, listening_host
from league.wire.sockets import PAGE_LIMIT, WISH_LIMIT

log = logging.getLogger("ludus.process")

REPLICA_BYTES = 2 << 30  # of memory: a replica that needs more ends, and is started again


def run_replica(context: ProcessContext) -> int:
    """Serve viewers and trackers until SIGTERM."""
    config, run = context.config, context.run
    resource.setrlimit(resource.RLIMIT_DATA, (REPLICA_BYTES, REPLICA_BYTES))
    host, transport = listening_host(config.launch), config.launch.transport
    with (
        Endpoints(run, "viewer", transport, PAGE_LIMIT) as inner,
        Endpoints(run, "viewer", transport, WISH_LIMIT, host) as endpoints,
    ):
        server = endpoints.serve("replica")
        replica, published = Composition(config, run, time.monotonic).replica(inner.feed(), server), False
        gc.freeze()
        while not context.stop.asked:
            replica.step(0.05)
            if replica.ready and not published:
                published = True
                run.publish_rendezvous(endpoints.rendezvous(server, replica.term), "replica")
                log.info("term %d, event %d, at %s", replica.term, replica.mirror.seq, server.address)
    return 0
