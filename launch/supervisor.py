"""The supervisor of `launch=local`: starts processes, restarts the dead ones with back-off, stops them all.

with Supervisor(run, topology(config), allow) as supervisor:
    while ...:
        supervisor.poll()
"""

import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

from launch.topology import HUNG, Part
from league.store.run_directory import RunDirectory

log = logging.getLogger("ludus.launch")

FIRST_REST, LONGEST_REST = 0.5, 15.0  # seconds before a dead process is started again
HEALTHY = 30.0  # seconds after which earlier deaths are forgiven
FATAL = 5  # failures in a row, none of them healthy before, after which the coordinator or a learner is given up
KILLED = (-9, -15)  # somebody else's doing: no reason to give up, nor to wait for long
KILLED_REST = 2.0
CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL)  # of native code
FREE = ("collector", "tracker")  # the league can do without any one of them
TAIL = 15  # lines of its log that a crash prints


@dataclass(slots=True)
class _Child:
    part: Part
    process: subprocess.Popen[bytes] | None = None
    log: IO[bytes] | None = None
    started: float = 0.0
    deaths: int = 0
    failures: int = 0
    start_at: float = 0.0
    restarts: int = 0
    done: bool = False
    said: str = ""  # by a tracker, last


class GivenUp(RuntimeError):  # noqa: N818  (the condition is the name)
    """A process that the league cannot do without dies again and again."""


@dataclass(slots=True)
class Supervisor:
    """The children of one `ludus run`."""

    run: RunDirectory
    parts: Sequence[Part]
    allow: Sequence[str] = ()
    say: Callable[[str], None] = log.warning
    track_seconds: float = 15.0  # that trackers have to send the rest
    env: str = ""  # what collectors play, to blame it
    stopping: bool = False
    children: list[_Child] = field(default_factory=list)

    def __enter__(self) -> "Supervisor":
        self.children = [_Child(part) for part in self.parts]
        self.poll()
        return self

    def poll(self) -> None:
        """Start what should run and does not. A process that ends by itself with 0 is done."""
        now = time.monotonic()
        for child in self.children:
            if child.process is not None:
                self._listen(child)
                code = child.process.poll()
                if code is None:
                    if child.deaths and now - child.started > HEALTHY:
                        child.deaths = child.failures = 0
                    continue
                self._bury(child, code, now)
            if not (child.done or self.stopping) and now >= child.start_at:
                self._start(child, now)

    def _start(self, child: _Child, now: float) -> None:
        part = child.part
        command = [sys.executable, "-m", *_torchrun(part.ranks), "launch.process"]
        command += ["--run", str(self.run.root.resolve())]
        command += ["--role", part.role, "--index", str(part.index)]
        for package in self.allow:
            command += ["--allow", package]
        child.log = self.run.log(part.role, part.index).open("ab")
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        # Standard input is the life line: when this process dies, however it dies, the child reads its end.
        child.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if part.role == "tracker" else child.log,
            stderr=child.log,
            env=environment,
            cwd=Path.cwd(),
            start_new_session=True,
        )
        child.started = now
        if child.process.stdout is not None:
            os.set_blocking(child.process.stdout.fileno(), False)

    def _listen(self, child: _Child) -> None:
        """Pass on what a tracker tells the user; the same line is told once."""
        if child.process is None or child.process.stdout is None:
            return
        for line in (child.process.stdout.read() or b"").decode(errors="replace").splitlines():
            if line != child.said:
                child.said = line
                self.say(line)

    def _bury(self, child: _Child, code: int, now: float) -> None:
        self._listen(child)
        self._close(child)
        if code == 0 or self.stopping:
            child.done = True
            return
        child.deaths += 1
        child.restarts += 1
        child.failures += code not in KILLED
        rest = min(KILLED_REST if code in KILLED else LONGEST_REST, FIRST_REST * 2 ** (child.deaths - 1))
        child.start_at = now + rest
        path = self.run.log(child.part.role, child.part.index)
        if child.part.role == "tracker":
            self._excuse(child, last_words(path), path)
            return
        how = describe(code) + self._blame(child.part, code)
        self.say(f"{child.part.name} ended with {how}; it starts again in {rest:g} s. Its log: {path}")
        self.say(tail(path))
        if child.failures >= FATAL and child.part.role not in FREE:
            raise GivenUp(f"{child.part.name} failed {child.failures} times in a row: see {path}")

    def _blame(self, part: Part, code: int) -> str:
        """Say why a collector ended, if only its environment can have done that."""
        if part.role != "collector" or not self.env or code not in (HUNG, *CRASHES):
            return ""
        did = "hung" if code == HUNG else "most likely crashed it"
        return f", because the environment {self.env} {did} (see: ludus check-env {self.env})"

    def _excuse(self, child: _Child, line: str, path: Path) -> None:
        """Say once why a tracker ended: it is tried again and again, and the ledger keeps what it misses."""
        if line != child.said:
            child.said = line
            self.say(f"{child.part.name} is tried again later, play goes on: {line} (its log: {path})")

    @property
    def finished(self) -> bool:
        """Whether every collector and learner has ended in order: the coordinator told them to."""
        return all(child.done for child in self.children if child.part.role in ("collector", "learner"))

    def alive(self, role: str | None = None) -> list[int]:
        """Return the process ids of living children, of one role or of all."""
        return [
            child.process.pid
            for child in self.children
            if child.process is not None and child.process.poll() is None and role in (None, child.part.role)
        ]

    def stop(self, seconds: float = 5.0) -> None:
        """End every child: ask first, then insist. Workers go first, then trackers, which hear of their last."""
        self.stopping = True
        workers = ("collector", "learner", "inference", "buffer")
        patience = {workers: seconds, ("tracker",): self.track_seconds, ("coordinator",): seconds}
        for roles in patience:
            chosen = [c for c in self.children if c.process is not None and c.part.role in roles]
            for child in chosen:
                if child.process is not None and child.process.poll() is None:
                    child.process.terminate()
            deadline = time.monotonic() + patience[roles]
            for child in chosen:
                if child.process is not None:
                    try:
                        child.process.wait(max(0.0, deadline - time.monotonic()))
                    except subprocess.TimeoutExpired:
                        child.process.kill()
                        child.process.wait()
                    self._listen(child)
                    if child.part.role == "tracker" and child.process.returncode:
                        self._regret(child)
                    self._close(child)

    def _regret(self, child: _Child) -> None:
        assert child.process is not None
        late = f"it was not done within {self.track_seconds:g} s (track.seconds)"
        why = late if child.process.returncode in KILLED else last_words(self.run.log("tracker", child.part.index))
        self.say(f"{child.part.name} did not write all: {why}; the ledger has it, and `ludus export` draws it")

    def _close(self, child: _Child) -> None:
        if child.process is not None and child.process.stdin is not None:
            child.process.stdin.close()
        if child.process is not None and child.process.stdout is not None:
            child.process.stdout.close()
            with suppress(ProcessLookupError):
                os.killpg(child.process.pid, signal.SIGKILL)  # the service that wandb's client starts beside itself
        if child.log is not None:
            child.log.close()
        child.process = child.log = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _torchrun(ranks: int) -> list[str]:
    """Return what starts a module in several ranks: when one dies, all do, and are started again as one."""
    if ranks == 1:
        return []
    return ["torch.distributed.run", "--standalone", "--max-restarts=0", f"--nproc-per-node={ranks}", "-m", "--"]


def describe(code: int) -> str:
    """Return an exit code in words.

    >>> describe(-9), describe(1)
    ('signal 9', 'exit code 1')
    """
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def tail(path: Path, lines: int = TAIL) -> str:
    """Return the last lines of a log."""
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError as error:
        return f"(no log: {error})"


def last_words(path: Path) -> str:
    """Return the last line of a log, without the time and the name of the logger: the same trouble reads the same."""
    return re.sub(r"^\S+ \S+ [A-Z]+ [\w.]+: ", "", tail(path, 1))
