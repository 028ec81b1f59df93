"""Failures that repeat: a process that dies of the same error again and again is not started again.

failures = Failures()
failures.note(log_of_its_life, worked=False)    # at each death
if failures.same >= SAME: ...                   # stop the league, and show `failures.traceback`

What counts is the work between two deaths. A process that did durable work before it died is started again, however
often it dies: a collector may crash now and then, and the league goes on.
"""

import logging
import re
from dataclasses import dataclass

from launch.spawn.exit_code import REFUSED
from league.errors import message_of
from league.store.files import publish
from league.store.run_directory import RunDirectory

SAME = 3  # deaths in a row by the same error, with nothing done in between, after which a process is given up
TRACEBACK = "Traceback (most recent call last):"
REFUSALS = "ludus.refusal"  # the logger of a process that no other start would help: what its user gave cannot work
AGENT = "ChildFailedError"  # torchrun's own error, which follows that of a rank and has no cause


@dataclass(slots=True)
class Failures:
    """The deaths of one process."""

    traceback: str = ""  # of its last death; empty if there was none
    same: int = 0  # deaths in a row with this traceback, and nothing done in between
    idle: int = 0  # deaths in a row with nothing done in between

    def note(self, log: str, worked: bool) -> None:
        """Note a death: the log of this life of the process, and whether it did durable work."""
        before, self.traceback = signature(self.traceback), last_traceback(log)
        goes_on = not worked and bool(before) and signature(self.traceback) == before
        self.same = (self.same if goes_on else 0) + bool(self.traceback)
        self.idle = 0 if worked else self.idle + 1


def last_traceback(log: str) -> str:
    r"""Return the last traceback of a log, up to the line that names the exception; empty if there is none.

    >>> print(last_traceback("noise\nTraceback (most recent call last):\n  File 'x'\nKeyError: 3\nmore noise"))
    Traceback (most recent call last):
      File 'x'
    KeyError: 3
    """
    found = list(re.finditer(rf"^(.*){re.escape(TRACEBACK)}$", log, re.MULTILINE))
    for begin in reversed(found):
        block = _block(log[begin.start() :], begin[1])
        if AGENT not in block.rpartition("\n")[2]:
            return block
    return ""


def refusal(log: str) -> str:
    r"""Return why a process refused to work; empty if it did not. Torchrun hides the exit codes of ranks, not this.

    >>> refusal("noise\n2026-01-01 00:00:00,000 ERROR ludus.refusal: there are no games in x\nmore noise")
    'there are no games in x'
    """
    found = re.search(rf"ERROR {re.escape(REFUSALS)}: (.*)$", log, re.MULTILINE)
    return found[1] if found else ""


def refuse(run: RunDirectory, error: Exception) -> int:
    """Say in one line of the log, and to jobs of Slurm, why a process refuses to work; return its exit code."""
    logging.getLogger(REFUSALS).error("%s", message_of(error))
    if run.slurm.exists():
        publish(run.ended, f"{error}\n".encode())
    return REFUSED


def _block(text: str, prefix: str) -> str:
    """Return the lines of a traceback without the prefix that torchrun gives each of them."""
    lines = [line.removeprefix(prefix) for line in text.splitlines()]
    end = next((i for i, line in enumerate(lines[1:], start=2) if not line.startswith(" ")), len(lines))
    return "\n".join(lines[:end])


def signature(traceback: str) -> str:
    """Return what two tracebacks of the same error share: numbers and addresses differ from life to life.

    >>> signature("ValueError: loss 0.25 of <Net at 0x7f12ab>")
    'ValueError: loss # of <Net at #>'
    """
    return re.sub(r"0x[0-9a-fA-F]+|\d[\d.,]*(?:e[+-]?\d+)?", "#", traceback)
