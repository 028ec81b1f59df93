"""Carries out the orders of the near side, one at a time, and ends with it."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import select
import signal
import sys
import traceback

from .channel import Channel
from .errors import message_of, show
from .orders import Opened
from .spaces import Plain

WATCH_SECONDS = 1.0  # between two looks whether this process still runs


class FarSide:
    """Carries out orders; each names the environment that it is about by a number."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.opened: dict[int, Opened] = {}
        self.pid = os.getpid()

    def serve(self) -> None:
        """Carry out orders until one closes, or the near side is gone."""
        while True:
            order = self.channel.receive()
            answer = self.answer(order)
            if os.getpid() != self.pid:  # the game forked a process that came back from its call
                os._exit(70)
            flush()
            self.channel.answer(answer)
            if order["do"] == "close":
                return

    def answer(self, order: Plain) -> Plain:
        """Carry out an order; an error is an answer, too."""
        try:
            if order["do"] == "close":
                return self.leave(list(self.opened))
            if order["do"] == "leave":
                return self.leave([order["game"]])
            game = self.opened.setdefault(order["game"], Opened(self.channel))
            return getattr(game, "do_" + order["do"])(order)  # type: ignore[no-any-return]
        except (Exception, SystemExit) as error:
            show()
            place = traceback.extract_tb(error.__traceback__)[-1]
            answer = {"error": message_of(error), "type": type(error).__name__}
            return dict(answer, place=f"{place.filename}:{place.lineno}", line=place.line or "")

    def leave(self, games: list[int]) -> Plain:
        """Close some environments."""
        for game in games:
            if game in self.opened:
                self.opened.pop(game).close()
        return {}


def flush() -> None:
    """Write what the game printed, so that it can be counted; a game may have closed its output."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()


def end_with(parent: int, lifeline: int, hard: bool) -> None:
    """End this process and all in its group when its parent ends, however that dies and whatever the game does then.

    A process of its own watches: it is not held up by a game that hangs in native code. The kernel ends this process
    even if a fork of the parent keeps the lifeline open, but counts the end of the thread that started it as the end of
    the parent: so only a main thread asks for this (`hard`).
    """
    if hard and sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(0)
    mine = os.getpid()
    if os.fork():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while os.getppid() == mine and not select.select([lifeline], [], [], WATCH_SECONDS)[0]:
        pass
    os.killpg(mine, signal.SIGKILL)


def main(channel: int, lifeline: int, parent: int, hard: int) -> None:
    """Serve the near side; the descriptors come from it."""
    for descriptor in (channel, lifeline):
        os.set_inheritable(descriptor, False)
    end_with(parent, lifeline, bool(hard))
    faulthandler.enable(all_threads=False)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, all_threads=False)
    FarSide(Channel(channel)).serve()
