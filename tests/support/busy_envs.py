"""Environments that start processes and threads, print in C and are slow to build."""

import ctypes
import os
import subprocess
import sys
import threading
import time
from multiprocessing import get_context

from odd_envs import OddParallel

LIBC = ctypes.CDLL(None)
LIBC.printf(b"busy_envs is imported\n")  # buffered by C until somebody flushes


class Forks(OddParallel):
    """Forks a child when it is built and another one at each reset; none of them ends by itself, and nobody waits."""

    def __init__(self):
        super().__init__(agents=2, ticks=4)
        self.fork()

    def fork(self):
        if not os.fork():
            try:
                os.write(1, b"a child of busy_envs prints\n")
                time.sleep(3600)
            finally:
                os._exit(0)

    def reset(self, seed=None, options=None):
        self.fork()
        return super().reset(seed, options)


class Keeps(OddParallel):
    """Starts a program that only close() ends."""

    apart = False

    def __init__(self):
        super().__init__(agents=2, ticks=4)
        words = [sys.executable, "-c", "import time; time.sleep(3600)  # busy_envs sleeps"]
        self.program = subprocess.Popen(words, start_new_session=self.apart)

    def close(self):
        self.program.kill()
        self.program.wait()


class KeepsApart(Keeps):
    """Starts it in a session of its own, which no signal to a group of processes reaches."""

    apart = True


class Asks(OddParallel):
    """Has a worker of multiprocessing, by a fork, that computes what agents see; it is ended by close()."""

    def __init__(self):
        super().__init__(agents=2, ticks=4)
        self.near, far = get_context("fork").Pipe()
        self.worker = get_context("fork").Process(target=answer, args=(far,))
        self.worker.start()

    def step(self, actions):
        self.near.send(self.tick)
        assert self.near.recv() == self.tick + 1
        return super().step(actions)

    def close(self):
        self.near.send(None)
        self.worker.join()


def answer(far):
    while (tick := far.recv()) is not None:
        far.send(tick + 1)


class Threads(OddParallel):
    """Starts threads that never end, are no daemons, and print all the time."""

    def __init__(self):
        super().__init__(agents=2, ticks=4)
        for _ in range(2):
            threading.Thread(target=self.talk).start()

    def talk(self):
        while True:
            print("a thread of busy_envs prints")
            LIBC.printf(b"a thread of busy_envs prints in C\n")
            time.sleep(0.01)


class Native(OddParallel):
    """Prints in C, and past every stream, at every step."""

    def __init__(self):
        super().__init__(agents=2, ticks=4)

    def step(self, actions):
        LIBC.printf(b"busy_envs steps\n")
        os.write(1, b"busy_envs writes\n")
        os.write(2, b"busy_envs complains\n")
        return super().step(actions)


class ComesBack(OddParallel):
    """Forks at each reset, and the child goes on as if it were the parent."""

    def __init__(self):
        super().__init__(agents=2, ticks=4)

    def reset(self, seed=None, options=None):
        os.fork()
        return super().reset(seed, options)


class SlowToBuild(OddParallel):
    """Takes its time to build."""

    def __init__(self, seconds=0.5):
        time.sleep(seconds)
        super().__init__(agents=2, ticks=4)
