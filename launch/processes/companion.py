"""A process beside another one, which started it: it is started again whenever it ends, without a limit."""

import logging
import subprocess
from collections.abc import Callable
from pathlib import Path

from launch.spawn.interpreter import environment, python
from launch.topology.roles import ProcessRole
from league.store.run_directory import RunDirectory

log = logging.getLogger("ludus.process")

FIRST_REST, LONGEST_REST = 0.1, 2.0  # seconds before it is started again; twice as long after each death
HEALTHY = 10.0  # seconds after which earlier deaths are forgiven
LOOK = 0.1  # seconds between two looks at it
PATIENCE = 3.0  # seconds that it has to end when it is asked to


class Companion:
    """One process of this role, with its standard input as life line: it ends when this process does.

    with closing(Companion(ProcessRole.REPLICA, run, time.monotonic)) as replica:
        while ...:
            replica.poll()
    """

    def __init__(self, role: ProcessRole, run: RunDirectory, clock: Callable[[], float]) -> None:
        self._role, self._run, self._clock = role, run, clock
        self._process: subprocess.Popen[bytes] | None = None
        self._started = self._looked = self._start_at = float("-inf")
        self._deaths = 0

    def poll(self) -> None:
        """Start it if it does not run; harmless if called often."""
        now = self._clock()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                self._deaths = 0 if now - self._started > HEALTHY else self._deaths
                return
            self._bury(code, now)
        if now >= self._start_at:
            self._start(now)

    def _start(self, now: float) -> None:
        self._started = now
        command = python("launch.processes", "--run", str(self._run.root.resolve()), "--role", self._role)
        try:
            with self._run.log(self._role, 0).open("ab") as out:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=out,
                    stderr=out,
                    env=environment(),
                    cwd=Path.cwd(),
                    start_new_session=True,
                )
        except OSError as error:
            log.warning("the %s could not be started: %s", self._role, error)
            self._start_at = now + LONGEST_REST

    def _bury(self, code: int, now: float) -> None:
        self._let_go()
        rest = min(LONGEST_REST, FIRST_REST * 2**self._deaths)
        self._deaths, self._start_at = self._deaths + 1, now + rest
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        log.warning("the %s ended with %s; it starts again in %g s, and play goes on", self._role, how, rest)

    def _let_go(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None

    def close(self) -> None:
        """End it: ask first, then insist."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._let_go()
