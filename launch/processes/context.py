"""The context of one process: which one it is, and the signals that end it."""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from launch.config.config import Config
from league.store.run_directory import RunDirectory


class StopFlag:
    """Set by SIGTERM, and by SIGUSR1 before a time limit; read by the loop of a process."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._ask)
        signal.signal(signal.SIGUSR1, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        self.asked = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessContext:
    """What the runner of a role works with."""

    config: Config
    run: RunDirectory
    index: int  # among the processes of its role
    stop: StopFlag
    allow: Sequence[str] = ()  # packages of the user's that the config may name
    lone: bool = False  # no parent supervises this process: it runs in a batch system
    log: TextIO = sys.stderr  # of this process; what environments print never gets there


def die_with_parent() -> None:
    """End this process when standard input ends: then the parent is gone, however it died.

    What its environment started in its group ends with it.
    """

    def watch() -> None:
        while os.read(0, 1024):
            pass
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent").start()
