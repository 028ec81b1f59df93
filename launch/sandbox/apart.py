"""The code of an environment, apart from the command that tries it: there it may crash or hang.

    answer = apart(Try(env=config.env, slots=2), Limit("my_games:Words", 60.0, "collector.hang_seconds="))

A step may take as long as a collector lets it. All else may take longer: it builds environments or makes many steps.
"""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from collectors.conformance import Problem
from collectors.env_report import EnvReport
from collectors.envs.config import EnvError
from collectors.envs.names import is_ours
from collectors.envs.watched import BUILD, CLOSE, LOOP, RESET, STEP, TESTS, Tell, silent
from launch.sandbox.trial import DONE, ENDS, FAILED, WIDTH, Check, Checked, Order, TrialFiles, perform
from launch.spawn.interpreter import places
from launch.terminal.wording import TRACEBACK

LOOK = 0.05  # seconds between two looks at the notes
LONGER = 5  # times the limit of a step, for all else
GRACE = 2.0  # seconds to end in, or to write a stack
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
    """An environment that took its process with it, or never came back."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}. {remedy}")
        self.problem = Problem(what, remedy)


@dataclass(frozen=True, slots=True)
class Limit:
    """Whose code it is, how many seconds a step of it may take, and the setting that says so."""

    who: str
    seconds: float
    setting: str

    def of(self, stage: str) -> float:
        """Return the seconds that a stage may take; before the first, all is our own code, and only slow."""
        if not stage:
            return float("inf")
        if stage in ENDS:
            return GRACE
        return self.seconds if stage == STEP else LONGER * self.seconds


def apart(order: Order, limit: Limit, tell: Tell = silent) -> bytes | None:
    """Carry out an order in a process of its own and return its answer; raise LostError if it crashes or hangs.

    `tell` hears what is being done there.

    None means that it failed there as anything may fail. Do it here, then: either it raises what there is to say, or it
    works, as only this process knows what a notebook defined or registered.
    """
    with tempfile.TemporaryDirectory(prefix="ludus-trial-") as directory:
        desk = TrialFiles(Path(directory))
        desk.put(order)
        child = subprocess.Popen([sys.executable, "-P", "-c", BEGIN, "\n".join(places()), directory])
        try:
            hung = _wait(child, desk, limit, tell)
            if hung and desk.stage() not in ENDS:
                _ask_where(child, desk)
        except KeyboardInterrupt:  # it heard that, too, and closes what it opened
            with suppress(subprocess.TimeoutExpired):
                child.wait(GRACE)
            raise
        finally:
            child.kill()
            child.wait()
        if desk.stage() == DONE:
            return desk.answer.read_bytes()
        if desk.stage() in (FAILED, ""):
            return None
        raise _lost(desk, limit, None if hung else child.returncode)


def _wait(child: "subprocess.Popen[bytes]", desk: TrialFiles, limit: Limit, tell: Tell) -> bool:
    """Wait for the end; True if it does not come, as nothing was noted for too long.

    Looks are counted, not seconds: who was stopped by Ctrl-Z, as the child was, has not waited.
    """
    noted, looks = "", 0
    while True:
        with suppress(subprocess.TimeoutExpired):
            child.wait(LOOK)
            return False
        now = desk.noted()
        tell(doing(now))
        noted, looks = now, (looks + 1 if now == noted else 0)
        if looks * LOOK > limit.of(desk.stage()):
            return True


def _ask_where(child: "subprocess.Popen[bytes]", desk: TrialFiles) -> None:
    """Have a process that hangs write its stack, and wait until it has, or cannot."""
    child.send_signal(signal.SIGUSR1)
    size, until = 0, time.monotonic() + GRACE
    while time.monotonic() < until:
        time.sleep(LOOK)
        before, size = size, desk.stack.stat().st_size
        if size and size == before:
            return


def check_apart(order: Check, seconds: float, tell: Tell = silent) -> Checked:
    """Carry out a check, apart unless the game is ours; what crashes or hangs is a problem like any other."""
    try:
        limit = Limit(order.env, seconds, "--hang-seconds ")
        answer = None if is_ours(order.env) else apart(order, limit, tell)
    except LostError as error:
        return Checked(False, EnvReport(order.env, problems=[error.problem]).lines())
    return msgspec.json.decode(perform(order) if answer is None else answer, type=Checked)


def doing(note: str) -> str:
    """Return what a process notes, in words: each note has a number and a stage.

    >>> doing(f"{'7':<40}{'step':<40}")
    'call 7 of the environment (step)'
    """
    number, stage = note[:WIDTH].strip(), note[WIDTH:].strip()
    return f"call {int(number):,} of the environment ({stage})" if number.isdecimal() else "loading"


# --- what is said --------------------------------------------------------------------------------------------


def _lost(desk: TrialFiles, limit: Limit, code: int | None) -> LostError:
    """Return the error of a process that ended with an exit code, or hung (None)."""
    stage, stack = desk.stage(), desk.stack.read_text(errors="replace")
    if os.environ.get(TRACEBACK):
        sys.stderr.write(stack)
    place = where(stack)
    if code is None:
        remedy = f"Fix it, or give it more time: {limit.setting}{2 * limit.seconds:g}. {SHOW}."
        return LostError(f"{limit.who} does not come back from {stage} within {limit.of(stage):g} s{place}", remedy)
    if code >= 0:
        remedy = "Have it raise an exception where it calls sys.exit or os._exit."
        return LostError(f"{limit.who} ended its process, with exit code {code}", remedy)
    what = f"{limit.who} crashed with signal {-code} ({_name(-code)}) {WHILE[stage]}{place}"
    if -code == signal.SIGKILL:
        return LostError(what, "Somebody else ended it; where memory is short, that is the kernel.")
    return LostError(what, f"Python cannot catch this: fix its native code, or tell its authors. {SHOW}.")


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
