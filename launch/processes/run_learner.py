"""A learner's process, or one rank of it: train, and give way to a newer process of the same name."""

import logging
import os
import secrets
import time
from pathlib import Path

import torch

from launch.processes.build import Composition, LearnerSockets
from launch.processes.context import ProcessContext
from launch.processes.failing import refuse
from launch.spawn.lifeline import end_with_parent
from launch.topology.endpoints import Endpoints, listening_host
from launch.topology.parts import rank_name
from league.plugins import PluginError
from league.store.files import publish
from league.store.game_file import GameFileError
from league.store.regular_file import read_text_of
from league.wire.sockets import SEGMENTS_LIMIT
from learners.distributed import join, leave
from learners.expert import ExpertError
from learners.lessons import LessonsError

log = logging.getLogger("ludus.process")

UNUSABLE = (LessonsError, GameFileError, ExpertError, PluginError)  # what no other start would make better
REPLACED = 71  # exit code of a process that found another one of its name
ORDER = "LUDUS_ORDER"  # the variable by which a batch system numbers the starts of a process
CLAIM_SECONDS = 1.0  # between two checks of the claim


class NameClaim:
    """A process's claim to its name. Slurm may start it again while the old one, on a node that it lost, goes on.

    The process with the later order stays; without an order, the one that started last.
    """

    def __init__(self, path: Path, session: str) -> None:
        self._path, self._text = path, f"{os.environ.get(ORDER, '0')} {session}\n"
        self._checked = float("-inf")
        path.parent.mkdir(exist_ok=True)
        if path.exists() and read_text_of(path).split()[0] > self._text.split()[0]:
            self._leave()
        publish(path, self._text.encode())

    def check(self) -> None:
        """End this process, at once and without cleaning up, if there is a newer one of its name."""
        now = time.monotonic()
        if now - self._checked < CLAIM_SECONDS:
            return
        self._checked = now
        if not self._path.exists() or read_text_of(self._path) != self._text:  # gone: the league was started again
            self._leave()

    def _leave(self) -> None:
        log.error("another process took the name %s: leaving it to that one", self._path.name)
        os._exit(REPLACED)


def run_learner(context: ProcessContext) -> int:
    """Train; return REFUSED, with one line in the log, if what the user gave it to learn from cannot work.

    Another start would fail in the same way, unlike after any other error.
    """
    try:
        return _train(context)
    except UNUSABLE as error:
        return refuse(context.run, error)


def _train(context: ProcessContext) -> int:
    """Train until the coordinator stops the league, or until SIGTERM."""
    config, run, index = context.config, context.run, context.index
    torch.set_num_threads(1)
    group = join(config.learner.device, config.learner.join_seconds, config.learner.share)
    if group.size > 1:
        end_with_parent()  # torchrun's agent: a rank without it could not be told from one of the next group
    host = listening_host(config.launch)
    name = rank_name(f"learner-{index}", group.rank)
    with Endpoints(run, name, config.launch.transport, SEGMENTS_LIMIT, host) as endpoints:
        session, inbox = secrets.token_hex(8), endpoints.serve(name)
        claim = NameClaim(run.claim(name), session)
        run.publish_rendezvous(endpoints.rendezvous(inbox), name)
        remote = config.learner.replay_in == "buffer"
        buffer = endpoints.buffer(index * config.launch.ranks + group.rank) if remote else None
        build, sockets = (
            Composition(config, run, time.monotonic, context.allow),
            LearnerSockets(endpoints.coordinator(), inbox, buffer),
        )
        learner = build.learner(index, session, sockets, group)
        while learner.step(0.02):
            claim.check()
            if context.stop.asked:
                learner.ask_to_stop()
    leave()
    return 0
