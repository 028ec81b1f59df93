"""Environments in one process of another Python: all that a config plays there, its variants too.

    processes = FarProcesses(python, seconds=30)
    game, described = processes.open(opening)           # starts the process, if there is none
    memory = game.share(size)                           # mapped by both sides
    game.tick()

To start an interpreter and import a game takes a second, and a check builds eight batches of slots: they share the
process, which ends with the last who may need it. Who finds it lost ends it for all; the next `open` starts another.
"""

import mmap
import os
import tempfile
import weakref
from collections.abc import Mapping
from typing import Any

from collectors.envs.other_python.far_process import Answer, FarProcess, FarPythonError, FarSideError, FarSideLost

LONGER = 5  # times the seconds of a tick, to build an environment, to reset slots and for checks
DESCRIBED = {"agents", "name", "turn_based", "render_modes", "spaces", "texts", "state", "versions"}


class FarProcesses:
    """The process of one interpreter; another one follows on a process that was lost."""

    def __init__(self, python: str, seconds: float) -> None:
        self.python, self.seconds = python, seconds
        self._living: list[FarProcess] = []
        self._opened = 0
        weakref.finalize(self, _close_all, self._living)

    def open(self, opening: Mapping[str, Any]) -> tuple["FarGame", Answer]:
        """Return an environment that was built once, and what it looks like."""
        process, self._opened = self._process(), self._opened + 1
        game = FarGame(process, self._opened, self.seconds)
        try:
            answer = _described(game.ask({"do": "open", **opening}, LONGER))
            process.opened = True
            return game, answer
        except FarSideLost as error:
            process.kill(str(error))
            lost = f"the process of env.python={self.python} is lost: {error}"
            if error.in_game or process.opened:
                raise FarSideError(lost) from error
            needs = "It needs Python 3.8 or newer with numpy, pettingzoo and the game"
            raise FarPythonError(f"{lost}. {needs}") from error
        except FarSideError as error:
            game.leave()
            raise type(error)(f"{error} (in env.python={self.python})") from error
        except TypeError:
            game.leave()
            raise
        except BaseException:
            process.kill()
            raise

    def _process(self) -> FarProcess:
        """Return the process; start another one if it was lost."""
        self._living[:] = [one for one in self._living if one.lives]
        if not self._living:
            self._living.append(FarProcess(self.python))
        return self._living[0]


def _described(answer: Answer) -> Answer:
    """Return what an environment looks like; raise FarSideLost if the answer does not say that."""
    if not answer.keys() >= DESCRIBED:
        raise FarSideLost(f"it answered nonsense: {str(answer)[:60]}")
    return answer


def _close_all(living: list[FarProcess]) -> None:
    for process in living:
        process.close()


class FarGame:
    """One environment in a process of another Python, with all its slots."""

    def __init__(self, process: FarProcess, number: int, seconds: float) -> None:
        self._process, self._number, self._seconds = process, number, seconds

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def ask(self, order: Answer, longer: float = 1, memory: int | None = None) -> Answer:
        """Carry out an order about this environment, see `FarProcess.ask`."""
        return self._process.ask({**order, "game": self._number}, longer * self._seconds, memory)

    def seat(self, order: Answer, size: int) -> mmap.mmap:
        """Let the far side fill memory of this size, and return it."""
        file = _file_in_memory()
        try:
            os.ftruncate(file, size)
            memory = mmap.mmap(file, size)
            self.ask({"do": "seat", "size": size, **order}, LONGER, file)
        finally:
            os.close(file)
        return memory

    def tick(self) -> Answer:
        """Step all slots whose agents move; return faults and infos, if there are any."""
        try:
            return self.ask({"do": "step"})
        except (FarSideError, TypeError) as error:
            raise FarSideLost(f"it failed: {error}") from error

    def picture(self, slot: int) -> tuple[Answer, bytes] | None:
        """Return the shape and the bytes of a picture; None if there is none."""
        return self._process.picture({"do": "picture", "slot": slot, "game": self._number}, self._seconds)

    def take_printed(self) -> tuple[str, int]:
        """Return what the process printed, see `FarProcess.take_printed`."""
        return self._process.take_printed()

    def leave(self) -> None:
        """Close this environment; a process that cannot do that is ended."""
        if not self._process.lives:
            return
        try:
            self.ask({"do": "leave"})
        except FarSideLost as error:
            self.lose(str(error))
        except (FarSideError, TypeError):  # its close() raised: that is no matter
            pass

    def lose(self, why: str) -> None:
        """End the process: all environments in it are lost, for this reason."""
        self._process.kill(why)


def _file_in_memory() -> int:
    """Return a file in memory; where there is no such thing, one without a name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("ludus-rows")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
