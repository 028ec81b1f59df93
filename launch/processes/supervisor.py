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
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

from launch.processes.failing import SAME, Failures, refusal
from launch.spawn.exit_code import describe_exit
from launch.spawn.interpreter import environment, python
from launch.topology.parts import HUNG, Part
from launch.topology.roles import ROLES, ProcessRole, RoleTraits
from league.store.regular_file import IrregularFile, open_regular, read_end
from league.store.run_directory import RunDirectory
from learners.config import WRITTEN

log = logging.getLogger("ludus.launch")

FIRST_BACKOFF, LONGEST_BACKOFF = 0.5, 15.0  # seconds before a dead process is started again
HEALTHY_SECONDS = 30.0  # after which earlier deaths no longer count
FATAL = 5  # failures in a row, with no healthy time before any of them, after which a vital process is given up
KILLED = (-9, -15)  # exit codes of a process that somebody else killed: no reason to give up, nor to wait for long
KILLED_BACKOFF = 2.0
CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL)  # of native code
LEAVING = (ProcessRole.TRACKER, ProcessRole.COLLECTOR)  # wandb's client and environments start processes of their own
TAIL = 15  # lines of its log that a crash prints
LONGEST_LOG = 1 << 20  # bytes of a log in which the error of a crash is looked for


@dataclass(slots=True)
class _Child:
    part: Part
    traits: RoleTraits
    process: subprocess.Popen[bytes] | None = None
    log: IO[bytes] | None = None
    started: float = 0.0
    began: float = 0.0  # the same by the clock of files
    deaths: int = 0
    failures: int = 0
    start_at: float = 0.0
    restarts: int = 0
    done: bool = False
    last_line: str = ""  # that a tracker printed
    repeated: Failures = field(default_factory=Failures)
    before: tuple[int, int] = (0, 0)  # bytes of its log, and of its journal, when it was started
    ledger: tuple[int, ...] | None = None  # how the ledger looked when this coordinator began to serve

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


class GivenUp(RuntimeError):  # noqa: N818  (the condition is the name)
    """A process that the league cannot do without dies again and again."""


@dataclass(slots=True)
class Supervisor:
    """The children of one `ludus run`."""

    run: RunDirectory
    parts: Sequence[Part]
    allow: Sequence[str] = ()
    warn: Callable[[str], None] = log.warning
    track_seconds: float = 15.0  # that trackers have to send what is left
    env: str = ""  # what collectors play, to blame it
    note: Callable[[str], None] = log.info  # for lines that are no warnings: those of trackers
    stopping: bool = False
    children: list[_Child] = field(default_factory=list)

    def __enter__(self) -> "Supervisor":
        self.children = [_Child(part, ROLES[part.role]) for part in self.parts]
        self.poll()
        return self

    def poll(self) -> None:
        """Start each process that should run and does not. One that ended by itself with 0 is done."""
        now = time.monotonic()
        for child in self.children:
            if child.process is not None:
                self._forward_output(child)
                code = child.process.poll()
                if code is None:
                    if child.part.role is ProcessRole.COORDINATOR and child.ledger is None:
                        child.ledger = self._ledger_since(child)
                    if child.deaths and now - child.started > HEALTHY_SECONDS:
                        child.deaths = child.failures = 0
                    continue
                self._handle_exit(child, code, now)
            if not (child.done or self.stopping) and now >= child.start_at:
                self._start(child, now)

    def _start(self, child: _Child, now: float) -> None:
        part = child.part
        command = python(*_torchrun(part.ranks), "launch.processes")
        command += ["--run", str(self.run.root.resolve())]
        command += ["--role", part.role, "--index", str(part.index)]
        for package in self.allow:
            command += ["--allow", package]
        child.log = self.run.open_log(part.role, part.index)
        child.before = child.log.tell(), _size(self.run.journal(part.name))
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        # Standard input is the life line: when this process dies, however it dies, the child reads its end.
        child.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if child.traits.prints else child.log,
            stderr=child.log,
            env=environment() | threads,
            cwd=Path.cwd(),
            start_new_session=True,
        )
        child.started, child.began, child.ledger = now, time.time(), None
        if child.process.stdout is not None:
            os.set_blocking(child.process.stdout.fileno(), False)

    def _ledger_since(self, child: _Child) -> tuple[int, ...] | None:
        """Return how the ledger looks once the coordinator has begun its term and published where it listens."""
        try:
            serves = self.run.rendezvous.stat().st_mtime >= child.began
        except FileNotFoundError:
            return None
        return _ledger_stamp(self.run) if serves else None

    def _forward_output(self, child: _Child) -> None:
        """Pass the output of a tracker on to the user; the same line only once."""
        if child.process is None or child.process.stdout is None:
            return
        for line in (child.process.stdout.read() or b"").decode(errors="replace").splitlines():
            if line != child.last_line:
                child.last_line = line
                self.note(line)

    def _handle_exit(self, child: _Child, code: int, now: float) -> None:
        self._forward_output(child)
        self._close(child)
        if code == 0 or self.stopping:
            child.done = True
            return
        child.deaths += 1
        child.restarts += 1
        # A coordinator that wrote to the ledger until a signal ended it did not fail.
        progressed = code < 0 and child.ledger not in (None, _ledger_stamp(self.run))
        child.failures = 0 if progressed else child.failures + (code not in KILLED)
        longest = KILLED_BACKOFF if code in KILLED or progressed else LONGEST_BACKOFF
        backoff = min(longest, FIRST_BACKOFF * 2 ** (child.deaths - 1))
        child.start_at = now + backoff
        path = self.run.log(child.part.role, child.part.index)
        if child.part.role is ProcessRole.TRACKER:
            self._report_tracker(child, last_line(path), path)
            return
        how = describe_exit(code) + self._explain_exit(child.part, code)
        if child.traits.vital and (why := refusal(_text_after(path, child.before[0]))):
            raise GivenUp(f"{why} (the log of the {child.part.name}: {path})")
        if code not in KILLED and not progressed:
            self._stop_if_hopeless(child, path)
        self.warn(f"{child.part.name} ended with {how}; it starts again in {backoff:g} s. Its log: {path}")
        self.warn(tail(path))
        if child.failures >= FATAL and child.traits.vital:
            raise GivenUp(f"{child.part.name} failed {child.failures} times in a row: see {path}")

    def _stop_if_hopeless(self, child: _Child, path: Path) -> None:
        """Raise GivenUp if another start would fail as the last ones did.

        The league can do without a collector, as long as another one works.
        """
        log = _text_after(path, child.before[0])
        child.repeated.note(log, self._worked(child, log))
        if child.part.role is ProcessRole.COLLECTOR:
            peers = [other for other in self.children if other.part.role is ProcessRole.COLLECTOR]
            hopeless = all(peer.repeated.same >= SAME or peer.repeated.idle >= FATAL for peer in peers)
        else:
            hopeless = child.repeated.same >= SAME
        if hopeless:
            times = f"{child.repeated.same} times in a row with the same error"
            what = times if child.repeated.same >= SAME else f"{child.repeated.idle} times before it finished a match"
            why = child.repeated.traceback or tail(path)
            raise GivenUp(f"{child.part.name} ended {what}: the league stops. Its log: {path}\n{why}")

    def _worked(self, child: _Child, log: str) -> bool:
        """Whether a process did durable work in its last life: a result, a candidate, or else a healthy time."""
        if child.part.role is ProcessRole.COLLECTOR:
            return _size(self.run.journal(child.part.name)) > child.before[1]
        if child.part.role is ProcessRole.LEARNER:
            return WRITTEN in log
        return time.monotonic() - child.started > HEALTHY_SECONDS

    def _explain_exit(self, part: Part, code: int) -> str:
        """Return why a collector ended, if only its environment can have caused it."""
        if part.role is not ProcessRole.COLLECTOR or not self.env or code not in (HUNG, *CRASHES):
            return ""
        did = "hung" if code == HUNG else "most likely crashed it"
        return f", because the environment {self.env} {did} (see: ludus check-env {self.env})"

    def _report_tracker(self, child: _Child, line: str, path: Path) -> None:
        """Show once why a tracker ended: it is started again and again, and the ledger keeps what it misses."""
        if line != child.last_line:
            child.last_line = line
            self.warn(f"{child.part.name} is tried again later, play goes on: {line} (its log: {path})")

    @property
    def finished(self) -> bool:
        """Whether every collector and learner has ended in order: the coordinator stopped the league."""
        return all(child.done for child in self.children if child.traits.drains)

    def alive(self, role: str | None = None) -> list[int]:
        """Return the process ids of living children, of one role or of all."""
        return [
            child.process.pid
            for child in self.children
            if child.process is not None and child.alive and role in (None, child.part.role)
        ]

    def draining(self) -> int:
        """Return how many processes that end by themselves have not ended yet."""
        return sum(child.alive for child in self.children if child.traits.drains)

    def stop(self, seconds: float = 5.0) -> None:
        """End every child, stage by stage as the table of roles has it: SIGTERM first, SIGKILL when time is up."""
        self.stopping = True
        for stage in sorted({child.traits.stop_stage for child in self.children}):
            chosen = [c for c in self.children if c.process is not None and c.traits.stop_stage == stage]
            trackers = any(child.part.role is ProcessRole.TRACKER for child in chosen)
            self._stop_stage(chosen, self.track_seconds if trackers else seconds)

    def _stop_stage(self, chosen: Sequence[_Child], seconds: float) -> None:
        for child in chosen:
            if child.process is not None and child.process.poll() is None:
                child.process.terminate()
        deadline = time.monotonic() + seconds
        for child in chosen:
            if child.process is not None:
                try:
                    child.process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    child.process.kill()
                    child.process.wait()
                self._forward_output(child)
                if child.part.role is ProcessRole.TRACKER and child.process.returncode:
                    self._report_unfinished(child)
                self._close(child)

    def _report_unfinished(self, child: _Child) -> None:
        assert child.process is not None
        late = f"it was not done within {self.track_seconds:g} s (track.seconds)"
        why = (
            late
            if child.process.returncode in KILLED
            else last_line(self.run.log(ProcessRole.TRACKER, child.part.index))
        )
        self.warn(f"{child.part.name} did not write all: {why}; the ledger has it, and `ludus export` writes it")

    def _close(self, child: _Child) -> None:
        if child.process is not None and child.process.stdin is not None:
            child.process.stdin.close()
        if child.process is not None and child.process.stdout is not None:
            child.process.stdout.close()
        if child.process is not None and child.part.role in LEAVING:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.process.pid, signal.SIGKILL)
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


def _ledger_stamp(run: RunDirectory) -> tuple[int, ...]:
    """Return sizes and times of the ledger's files, which change when something is written."""
    found = []
    for path in (run.ledger, run.ledger.with_name(run.ledger.name + "-wal")):
        with suppress(FileNotFoundError):
            found += [path.stat().st_size, path.stat().st_mtime_ns]
    return tuple(found)


def tail(path: Path, lines: int = TAIL) -> str:
    """Return the last lines of a log."""
    try:
        return "\n".join(read_end(path, LONGEST_LOG).decode(errors="replace").splitlines()[-lines:])
    except (OSError, IrregularFile) as error:
        return f"(no log: {error})"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _text_after(path: Path, begin: int) -> str:
    """Return what was written to a log after this byte; the end of it, if it is long."""
    with open_regular(path) as log:
        log.seek(max(begin, _size(path) - LONGEST_LOG))
        return log.read().decode(errors="replace")


def last_line(path: Path) -> str:
    """Return the last line of a log without time and logger, so that the same error gives the same text."""
    return re.sub(r"^\S+ \S+ [A-Z]+ [\w.]+: ", "", tail(path, 1))
