"""The process of another Python that plays games: started, ordered, watched, and ended.

    with FarProcess("/venvs/old/bin/python") as far:
        described = far.ask({"do": "open", "game": 0, ...}, seconds=150)
        far.ask({"do": "step", "game": 0}, seconds=30)    # raises FarSideLost if it died, hangs or answers nonsense

The far side is the directory `far_side`, which runs there without anything else of Ludus. Orders and answers go over a
pair of sockets; rows lie in memory that both sides map. What games print goes to a file of bounded size, for errors.
"""

import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import IO, Any, Self

from collectors.envs.adapters.compat import older_remedy
from collectors.envs.native_output import append_to
from league.errors import InputError

FAR_SIDE = Path(__file__).with_name("far_side")
HIDDEN = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")  # of this Python
LARGEST_ANSWER = 1 << 28  # bytes
LARGEST_LOG = 1 << 20  # bytes that a game may print before the file is emptied
SHOWN = 1 << 14  # bytes at its end, for errors
CHECK_SECONDS = 0.1  # between two looks at a process that answers nothing: whether it lives, and what it prints
STACK_SECONDS = 1.0  # for a process that hangs to write its stack
END_SECONDS = 2.0  # to close the games
DOING = {"returns": "its own loop", "complaints": "PettingZoo's own tests", "leave": "close"}  # for people
LIBRARY = re.compile(r"^<|/lib/python[\d.]+/(?!(?:site|dist)-packages/)|/(?:site|dist)-packages/numpy/")
INSTALLED = re.compile(r"/(?:site|dist)-packages/")

Answer = dict[str, Any]


class FarSideLost(InputError):  # noqa: N818  (what happened, as in SnapshotMissing)
    """The process died, hung or answered nonsense; the message says which, and where.

    `in_game` says whether that was in the code of a game, as far as a stack shows it.
    """

    def __init__(self, message: str, stack: str = "") -> None:
        super().__init__(message + _where(stack))
        self.in_game = bool(_game_frames(_frames(stack)))


class FarSideError(InputError):
    """The far side could not do what it was asked: the fault of the environment or of its config."""


class FarPythonError(FarSideError):
    """A program that is no Python with what a game needs: the fault of `env.python` or of what is installed there."""


class FarRuleError(FarSideError):
    """An environment that breaks a rule, there as it would here."""


class FarProcess:
    """A process of another Python with the far side of an environment."""

    def __init__(self, python: str) -> None:
        if Path(python).is_dir():
            raise FarPythonError(
                f"env.python={python} is a directory. Give the program in it, such as {python}/bin/python"
            )
        self._python = python
        self._near, far = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (it lives as long as this)
        append_to(self._log.fileno())
        self._taken = self._dropped = 0  # bytes of it that somebody counted, and that nobody saw
        watched, self._lifeline = os.pipe()
        passed = (far.fileno(), watched)
        # The kernel takes the end of the thread that starts a process for the end of its parent.
        hard = threading.current_thread() is threading.main_thread()
        words = [python, "-E", str(FAR_SIDE), *map(str, passed), str(os.getpid()), str(int(hard))]
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, pass_fds=passed,
                env={key: value for key, value in os.environ.items() if key not in HIDDEN}, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            _release(self._near, self._log, self._lifeline)
            raise FarPythonError(
                f"env.python={python}: {error.strerror}. Give the python of a virtual environment, such as "
                "OTHER_VENV/bin/python"
            ) from error
        finally:
            far.close()
            os.close(watched)
        # Also where nobody closes an environment, such as at the end of a process.
        self._end = weakref.finalize(self, _end, self._process, self._near, self._log, self._lifeline)
        self._why = "it was closed"
        self.opened = False  # whether it ever opened an environment

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def ask(self, order: Answer, seconds: float, memory: int | None = None) -> Answer:
        """Carry out an order; raise FarSideError if the environment refuses it, FarSideLost if there is no answer.

        `memory` is a file that both sides are to map.
        """
        doing = DOING.get(order["do"], str(order["do"]))
        self._send(json.dumps(order).encode(), doing, memory)
        answer = self._answer(doing, seconds)
        if "error" in answer:
            raise _raised(answer)
        return answer

    def picture(self, order: Answer, seconds: float) -> tuple[Answer, bytes] | None:
        """Return the shape and the bytes of a picture; None if there is none."""
        header = self.ask(order, seconds)
        if not header:
            return None
        data = self._frame("picture", seconds)
        self._frame("picture", seconds)
        return header, data

    def close(self) -> None:
        """Let the games close, and end the process."""
        if self.lives and not self._has_ended():
            with contextlib.suppress(FarSideLost):
                self._send(json.dumps({"do": "close"}).encode(), "close")
                self._frame("close", END_SECONDS)
        self.kill()

    def kill(self, why: str = "it was closed") -> None:
        """End the process and what it started, at once; whoever asks it later is told why."""
        if self.lives:
            self._why = why
        self._end()

    @property
    def lives(self) -> bool:
        """Whether nobody ended it; it may have ended by itself."""
        return bool(self._end.alive)

    def _has_ended(self) -> bool:
        """Whether the process has ended; it is not reaped, so that its id still means its group."""
        if self._process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    # --- frames ---

    def _send(self, data: bytes, doing: str, memory: int | None = None) -> None:
        if not self.lives:
            raise FarSideLost(self._why)
        try:
            self._near.settimeout(END_SECONDS)
            head = struct.pack("<I", len(data))
            if memory is None:
                self._near.sendall(head + data)
            else:
                socket.send_fds(self._near, [head], [memory])
                self._near.sendall(data)
        except OSError as error:
            raise self._lost(doing) from error

    def _answer(self, doing: str, seconds: float) -> Answer:
        data = self._frame(doing, seconds)
        try:
            answer = json.loads(data) if data else {}
        except ValueError as error:
            raise FarSideLost(f"it answered nonsense: {data[:60]!r}") from error
        if not isinstance(answer, dict):
            raise FarSideLost(f"it answered nonsense: {data[:60]!r}")
        return answer

    def _frame(self, doing: str, seconds: float) -> bytes:
        until = time.monotonic() + seconds
        (length,) = struct.unpack("<I", self._exactly(4, doing, until, seconds))
        if length > LARGEST_ANSWER:
            raise FarSideLost(f"it answered nonsense: a message of {length:,} bytes")
        return self._exactly(length, doing, until, seconds)

    def _exactly(self, length: int, doing: str, until: float, seconds: float) -> bytes:
        data = b""
        while len(data) < length:
            self._near.settimeout(CHECK_SECONDS)
            try:
                more = self._near.recv(length - len(data))
            except TimeoutError:
                self._keep_small()
                if self._has_ended():
                    raise self._lost(doing) from None
                if time.monotonic() > until:
                    raise self._hung(doing, seconds) from None
                continue
            except OSError as error:
                raise self._lost(doing) from error
            if not more:
                raise self._lost(doing)
            data += more
        return data

    # --- what went wrong ---

    def _lost(self, doing: str) -> FarSideLost:
        """Describe the end of a process."""
        until = time.monotonic() + END_SECONDS
        while not self._has_ended() and time.monotonic() < until:
            time.sleep(0.001)
        if not self._has_ended():
            return FarSideLost(f"it closed its connection in {doing}")
        code, printed = _end_group(self._process), self.printed()
        if code < 0:
            name = next((one.name for one in signal.Signals if one == -code), "a signal")
            return FarSideLost(f"it crashed with signal {-code} ({name}) in {doing}", printed)
        last = printed.strip().splitlines()[-1:]
        return FarSideLost(f"it ended with exit code {code} in {doing}{f': {last[0][:300]}' if last else ''}")

    def _hung(self, doing: str, seconds: float) -> FarSideLost:
        """Describe where a process hangs, by the stack that it writes when it is asked to."""
        os.ftruncate(self._log.fileno(), 0)
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGUSR1)
        until = time.monotonic() + STACK_SECONDS
        while time.monotonic() < until and str(FAR_SIDE) not in self.printed():
            time.sleep(0.02)
        return FarSideLost(f"it does not come back from {doing} within {seconds:g} s", self.printed())

    def printed(self) -> str:
        """Return the end of what the process printed."""
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - SHOWN))
        return self._log.read().decode(errors="replace").replace("\0", "")

    def take_printed(self) -> tuple[str, int]:
        """Return the beginning of what was printed since the last call, and how many bytes more; keep the file small.

        The end of the file stays, for errors.
        """
        size = os.fstat(self._log.fileno()).st_size
        if size <= self._taken:
            return "", 0
        data = os.pread(self._log.fileno(), LARGEST_LOG, self._taken)
        more, self._dropped = size - self._taken - len(data) + self._dropped, 0
        self._taken = size
        self._keep_small()
        return data.decode(errors="replace"), more

    def _keep_small(self) -> None:
        """Empty the file if much was printed, which is counted; the process appends to it."""
        size = os.fstat(self._log.fileno()).st_size
        if size > LARGEST_LOG:
            self._dropped += size - self._taken
            os.ftruncate(self._log.fileno(), 0)
            self._taken = 0


def _end(process: subprocess.Popen[bytes], near: socket.socket, log: IO[bytes], lifeline: int) -> None:
    """End a process and what it started, and close what leads to it."""
    _end_group(process)
    _release(near, log, lifeline)


def _end_group(process: subprocess.Popen[bytes]) -> int:
    """End a process and what it started; return its exit code."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _release(near: socket.socket, log: IO[bytes], lifeline: int) -> None:
    near.close()
    log.close()
    os.close(lifeline)


def _raised(answer: Answer) -> Exception:
    """Return the error of the far side as one of ours; a TypeError stays one, as its message shows how to fix it."""
    text, kind = str(answer["error"]), str(answer.get("type", ""))
    detail = text or f"it raised {kind} without a message"
    if remedy := older_remedy(f"{kind}: {text}", str(answer.get("line", ""))):
        return FarSideError(f"{kind}: {detail} ({answer.get('place', '')}). {remedy}")
    if kind == "TypeError":
        return TypeError(detail)
    if kind in ("ImportError", "ModuleNotFoundError"):
        return FarPythonError(f"{kind}: {detail}")
    return FarRuleError(detail) if kind in ("ValueError", "BrokenError") else FarSideError(f"{kind}: {detail}")


Frame = tuple[str, str, str]  # file, line, function


def _frames(stack: str) -> list[Frame]:
    """Return the frames of a stack that faulthandler wrote, the innermost first, without those of the far side."""
    frames = re.findall(r'^  File "(.+)", line (\d+) in (.+)$', stack, re.MULTILINE)
    return [frame for frame in frames if Path(frame[0]).parent != FAR_SIDE]


def _game_frames(frames: list[Frame]) -> list[Frame]:
    """Return the frames of a game: outside of all libraries, or, if the game is installed itself, in a package."""
    outside = [frame for frame in frames if not LIBRARY.search(frame[0])]
    return [frame for frame in outside if not INSTALLED.search(frame[0])] or outside


def _where(stack: str) -> str:
    r"""Return the innermost place in a game, or else in a library, as the end of a sentence.

    >>> _where('  File "/usr/lib/python3.8/ctypes/__init__.py", line 5 in at\n  File "/games/go.py", line 7 in step')
    ', at /games/go.py:7 in step'
    """
    frames = _frames(stack)
    return ", at {}:{} in {}".format(*(_game_frames(frames) or frames)[0]) if frames else ""
