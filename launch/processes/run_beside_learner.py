"""The two processes that may run beside a learner: one with its networks, one with its replays."""

import gc
import secrets
import time

from launch.processes.build import Composition
from launch.processes.context import ProcessContext
from launch.topology.endpoints import Endpoints, listening_host
from league.wire.sockets import SEGMENTS_LIMIT


def run_inference(context: ProcessContext) -> int:
    """Run the networks of one learner's players for collectors, until SIGTERM."""
    config, run, name = context.config, context.run, f"inference-{context.index}"
    host = listening_host(config.launch)
    with Endpoints(run, name, config.launch.transport, SEGMENTS_LIMIT, host) as endpoints:
        session, server = secrets.token_hex(8), endpoints.serve(name)
        build = Composition(config, run, time.monotonic, context.allow)
        inference = build.inference(session, endpoints.learner(context.index), server)
        while not context.stop.asked:
            inference.step(0.02)
    return 0


def run_buffer(context: ProcessContext) -> int:
    """Hold the replays of the players of one learner, or of one of its ranks, until SIGTERM."""
    config, run, name = context.config, context.run, f"buffer-{context.index}"
    host, session = listening_host(config.launch), secrets.token_hex(8)
    with Endpoints(run, name, config.launch.transport, SEGMENTS_LIMIT, host) as endpoints:
        server = endpoints.serve(name)
        run.publish_rendezvous(endpoints.rendezvous(server), name)
        buffer = Composition(config, run, time.monotonic, context.allow).buffer(context.index, session, server)
        gc.freeze()
        while not context.stop.asked:
            buffer.step(0.02)
        buffer.finish()
    return 0
