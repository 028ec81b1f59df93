"""Run the code of an environment in a process of its own, where it may crash or hang.

    answer = apart(Try(env=config.env, slots=2), Limit("my_games:Words", 60.0, "collector.hang_seconds="))

A step may take as long as a collector allows. Everything else may take longer: it builds environments or makes many
steps.
"""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from collectors.conformance import Problem
from collectors.env_report import EnvReport
from collectors.envs.config import EnvError
from collectors.envs.names import is_ours
from collectors.envs.output import PRINT
from collectors.envs.watched import BUILD, CLOSE, LOOP, RESET, STEP, TESTS, Tell, silent
from launch.sandbox.trial import DONE, ENDS, FAILED, WIDTH, Check, Checked, Order, TrialFiles, perform
from launch.spawn.child import POLL_SECONDS, Child, child_process, wait_for
from launch.spawn.interpreter import import_paths
from launch.terminal.wording import TRACEBACK

LONGER = 5  # times the limit of a step, for all else
END_SECONDS = 2.0  # for a process that has answered to end, and for one that hangs to write its stack
# The path is ours: what this process can import, that one can, and nothing else.
BEGIN = "import sys; sys.path[:] = sys.argv[1].split('\\n'); from launch.sandbox.trial import main; main(sys.argv[2])"
WHILE = {
    BUILD: "while it was loaded and built",
    RESET: "while it was reset",
    STEP: "while it made a step",
    CLOSE: "while it was closed",
    TESTS: "while PettingZoo's own tests ran",
    LOOP: "while an episode was played in its own loop",
}
SHOW = f"{TRACEBACK}=1 shows the whole stack"


class LostError(EnvError):
    """An environment that ended its process, or hung."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}. {remedy}")
        self.problem = Problem(what, remedy)


@dataclass(frozen=True, slots=True)
class Limit:
    """Whose code runs, how many seconds a step of it may take, and the setting of that limit."""

    who: str
    seconds: float
    setting: str

    def of(self, stage: str) -> float:
        """Return the seconds that a stage may take; before the first, only our own code runs, which does not hang."""
        if not stage:
            return float("inf")
        if stage in ENDS:
            return END_SECONDS
        return self.seconds if stage == STEP else LONGER * self.seconds


def apart(order: Order, limit: Limit, tell: Tell = silent) -> bytes | None:
    """Carry out an order in a process of its own and return its answer; raise LostError if it crashes or hangs.

    `tell` is called with each stage.

    None means that it raised an exception there. Perform the order in this process, then: either it raises the same, or
    it works, because only this process has what a notebook defined or registered.
    """
    with tempfile.TemporaryDirectory(prefix="ludus-trial-") as directory:
        files = TrialFiles(Path(directory))
        files.put(order)
        command = [sys.executable, "-P", "-c", BEGIN, "\n".join(import_paths()), directory]
        # Native code may print, too. Nothing of it belongs into the output of a command.
        stream = None if os.environ.get(TRACEBACK) or os.environ.get(PRINT) else subprocess.DEVNULL
        with child_process(command, True, stdout=stream, stderr=stream) as child:
            hung = bool(wait_for(child, _Watchdog(files, limit, tell)))
            stage = files.stage()  # what hangs; it may go on while it writes its stack
            if hung and stage not in ENDS:
                _request_stack(child, files)
        if files.stage() == DONE:
            return files.answer.read_bytes()
        if files.stage() in (FAILED, ""):
            return None
        raise _lost(files, stage, limit, None if hung else child.returncode)


class _Watchdog:
    """Gives up on a child that noted nothing for too long.

    It counts checks, not seconds: a process that Ctrl-Z stopped, together with its child, has not waited.
    """

    def __init__(self, files: TrialFiles, limit: Limit, tell: Tell) -> None:
        self._files, self._limit, self._tell = files, limit, tell
        self._noted, self._checks = "", 0

    def __call__(self) -> str:
        noted = self._files.noted()
        self._tell(doing(noted))
        self._checks = self._checks + 1 if noted == self._noted else 0
        self._noted = noted
        return "hung" if self._checks * POLL_SECONDS > self._limit.of(self._files.stage()) else ""


def _request_stack(child: Child, files: TrialFiles) -> None:
    """Make a process that hangs write its stack; wait until it has, or until time is up."""
    child.send_signal(signal.SIGUSR1)
    size, until = 0, time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        time.sleep(POLL_SECONDS)
        before, size = size, files.stack.stat().st_size
        if size and size == before:
            return


def check_apart(order: Check, seconds: float, tell: Tell = silent) -> Checked:
    """Check an environment, in another process unless the game is ours; a crash or a hang is reported as a problem."""
    try:
        limit = Limit(order.env, seconds, "--hang-seconds ")
        answer = None if is_ours(order.env) else apart(order, limit, tell)
    except LostError as error:
        return Checked.of(EnvReport(order.env, problems=[error.problem]))
    return msgspec.json.decode(perform(order) if answer is None else answer, type=Checked)


def doing(note: str) -> str:
    """Describe a note of the process: each has a number and a stage.

    >>> doing(f"{'7':<40}{'step':<40}"), doing(f"{'7':<40}{'step':<40}{'16 episodes in 8 slots':<80}")
    ('call 7 of the environment (step)', '16 episodes in 8 slots, call 7 of the environment (step)')
    """
    number, stage, part = note[:WIDTH].strip(), note[WIDTH : 2 * WIDTH].strip(), note[2 * WIDTH :].strip()
    if not number.isdecimal():
        return "loading"
    return f"{part}{part and ', '}call {int(number):,} of the environment ({stage})"


# --- messages ------------------------------------------------------------------------------------------------


def _lost(files: TrialFiles, stage: str, limit: Limit, code: int | None) -> LostError:
    """Return the error of a process that ended with an exit code in a stage, or hung (None)."""
    stack = files.stack.read_text(errors="replace")
    if os.environ.get(TRACEBACK):
        sys.stderr.write(stack)
    place = where(stack)
    if code is None:
        remedy = f"Fix it, or give it more time: {limit.setting}{2 * limit.seconds:g}. {SHOW}."
        return LostError(f"{limit.who} does not come back from {stage} within {limit.of(stage):g} s{place}", remedy)
    if code >= 0:
        remedy = "Make it raise an exception where it calls sys.exit or os._exit."
        return LostError(f"{limit.who} ended its process, with exit code {code}", remedy)
    what = f"{limit.who} crashed with signal {-code} ({_name(-code)}) {WHILE[stage]}{place}"
    if -code == signal.SIGKILL:
        return LostError(what, "Somebody else ended it; where memory is short, that is the kernel.")
    return LostError(what, f"Python cannot catch this: fix its native code, or report it to its authors. {SHOW}.")


def _name(number: int) -> str:
    known = [one.name for one in signal.Signals if one == number]
    return known[0] if known else "a real-time signal"


def where(stack: str) -> str:
    r"""Return the innermost place of a stack that is not in Python's own library, as the end of a sentence.

    >>> where('Stack (most recent call first):\n  File "/games/words.py", line 12 in step\n')
    ', at /games/words.py:12 in step'
    """
    frames = re.findall(r'^  File "(.+)", line (\d+) in (.+)$', stack, re.MULTILINE)
    own, installed = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")
    foreign = [frame for frame in frames if not frame[0].startswith(own) or frame[0].startswith(installed)]
    return ", at {}:{} in {}".format(*(foreign or frames)[0]) if frames else ""
