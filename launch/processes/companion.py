"""A child process that is started again whenever it ends, without a limit."""

import logging
import subprocess
from collections.abc import Callable
from pathlib import Path

from launch.spawn.interpreter import environment, python
from launch.topology.roles import ProcessRole
from league.store.run_directory import RunDirectory

log = logging.getLogger("ludus.process")

FIRST_BACKOFF, LONGEST_BACKOFF = 0.1, 2.0  # seconds before it is started again; twice as long after each death
HEALTHY_SECONDS = 10.0  # after which earlier deaths no longer count
POLL_SECONDS = 0.1  # between two checks whether it runs
STOP_SECONDS = 3.0  # that it has to end after SIGTERM


class Companion:
    """One process of this role, which ends when this process does: its standard input is the life line.

    with closing(Companion(ProcessRole.REPLICA, run, time.monotonic)) as replica:
        while ...:
            replica.poll()
    """

    def __init__(self, role: ProcessRole, run: RunDirectory, clock: Callable[[], float]) -> None:
        self._role, self._run, self._clock = role, run, clock
        self._process: subprocess.Popen[bytes] | None = None
        self._started = self._polled = self._start_at = float("-inf")
        self._deaths = 0

    def poll(self) -> None:
        """Start the process if it does not run; cheap enough to be called often."""
        now = self._clock()
        if now - self._polled < POLL_SECONDS:
            return
        self._polled = now
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                self._deaths = 0 if now - self._started > HEALTHY_SECONDS else self._deaths
                return
            self._handle_exit(code, now)
        if now >= self._start_at:
            self._start(now)

    def _start(self, now: float) -> None:
        self._started = now
        command = python("launch.processes", "--run", str(self._run.root.resolve()), "--role", self._role)
        try:
            with self._run.open_log(self._role, 0) as out:
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
            self._start_at = now + LONGEST_BACKOFF

    def _handle_exit(self, code: int, now: float) -> None:
        self._release()
        backoff = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2**self._deaths)
        self._deaths, self._start_at = self._deaths + 1, now + backoff
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        log.warning("the %s ended with %s; it starts again in %g s, and play goes on", self._role, how, backoff)

    def _release(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None

    def close(self) -> None:
        """End the process: SIGTERM first, then SIGKILL."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._release()
