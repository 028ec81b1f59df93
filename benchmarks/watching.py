"""(q) What five visitors of its dashboard cost a league: CPU for 1000 env steps, and the coordinator's answers.

    python -m benchmarks --only q --rounds 5

A league of one collector plays a game whose steps wait, with its dashboard, so that cores are free for visitors: on a
league that takes all the time there is, visitors make it slower, and then each message and batch has more steps. Every
other slice has visitors: in turns five pages of chromium, and five clients that ask for the same and draw nothing. What
counts is the CPU time of coordinator, learner and collector; replica, dashboard and browsers are not part of the
league. Browsers share caches and cores with it, so their slices have that cost, too; the clients have only that of the
server. A probe asks the coordinator for something every 20 ms, by the wall clock.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from benchmarks.measure import Verdict, emit
from benchmarks.visitors import PAGES, cheap_visitors
from launch.viewers.view import Viewer, following
from league.store.run_directory import RunDirectory
from league.wire.messages import Command
from league.wire.sockets import Sockets

SLICE = 8.0  # seconds
ASK_SECONDS = 0.02
PAUSE = 0.0003  # seconds of a step
MOST_COST = 1.03  # of the CPU time without visitors
COUNTED = ("coordinator", "learner", "collector")  # the replica serves viewers, and is niced
GAME = ("env=pettingzoo", "env.id=benchmarks.burning_game:Burning", f"env.kwargs.pause={PAUSE}")
WORDS = ("experiment=null", *GAME, "name=watched", "dashboard=true", "launch.collectors=1", "--plain")
WORDS += ("--allow", "benchmarks")


@dataclass(frozen=True, slots=True)
class Slice:
    """What was measured in one slice."""

    cpu: float  # seconds for 1000 env steps
    p99: float  # milliseconds of the coordinator's answers


def processes(parent: int) -> list[int]:
    """Return the processes of a league that play."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            above = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if b"--role" in words and above == parent and words[words.index(b"--role") + 1].decode() in COUNTED:
            found.append(int(entry.name))
    return found


def cpu(pids: Sequence[int]) -> float:
    """Return the CPU seconds of some processes so far, to the nanosecond as the scheduler has them."""
    tasks = (task for pid in pids for task in Path(f"/proc/{pid}/task").iterdir())
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


@contextmanager
def league(folder: Path) -> Iterator[tuple[int, str]]:
    """Run a league with a dashboard; yield its process and the dashboard's address."""
    command = [sys.executable, "-u", "-m", "launch", "run", *WORDS, "league.budget.minutes=60", f"runs={folder}"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert started.stdout is not None
        address = next(line for line in started.stdout if line.startswith("dashboard: http"))
        os.set_blocking(started.stdout.fileno(), False)  # nobody reads the rest
        yield started.pid, address.removeprefix("dashboard: ").strip()
    finally:
        started.terminate()
        started.wait()


class Probe:
    """Asks the coordinator for something it refuses, again and again, and notes how long each answer took."""

    def __init__(self, address: str) -> None:
        self._address, self._stop, self.times = address, threading.Event(), list[float]()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def _ask(self) -> None:
        with Sockets() as sockets, closing(sockets.connect(self._address, None)) as client:
            request = 0
            while not self._stop.wait(ASK_SECONDS):
                request, began = request + 1, time.perf_counter()
                client.send(Command(request=request, action="nothing"))
                while not any(getattr(m, "request", None) == request for m, _ in client.receive(1.0)):
                    if self._stop.is_set():
                        return
                self.times.append(1000 * (time.perf_counter() - began))

    def __enter__(self) -> "Probe":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def env_steps(viewer: Viewer) -> int:
    """Return the env steps of the league at this moment."""
    while not viewer.refresh(1.0) or not viewer.complete:
        pass
    return viewer.state.env_steps


def measure(pid: int, viewer: Viewer, coordinator: str) -> Slice:
    """Measure one slice."""
    pids = processes(pid)
    steps, spent = env_steps(viewer), cpu(pids)
    with Probe(coordinator) as probe:
        time.sleep(SLICE)
    more, spent = env_steps(viewer) - steps, cpu(pids) - spent
    return Slice(1000 * spent / max(1, more), float(np.percentile(probe.times, 99)))


@contextmanager
def browsers(address: str) -> Iterator[None]:
    """Open five pages in chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in PAGES:
            page = chromium.new_context().new_page()
            page.goto(address)
            page.goto(f"{address.partition('?')[0]}#/watched/{name}")
        time.sleep(2.0)
        yield
        chromium.close()


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % t interval of a mean; of one value, everything."""
    if len(values) < 2:
        return 0.0, float("inf")
    reach = float(stdtrit(len(values) - 1, 0.975)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return float(np.mean(values)) - reach, float(np.mean(values)) + reach


def tell(name: str, watched: Sequence[Slice], alone: Sequence[tuple[Slice, Slice]]) -> list[float]:
    """Print the ratios of slices with visitors to the mean of those before and after; return those of CPU time."""
    found, ratios = dict[str, Any](), dict[str, list[float]]()
    for key in ("cpu", "p99"):
        of = attrgetter(key)
        ratios[key] = [2 * of(one) / (of(a) + of(b)) for one, (a, b) in zip(watched, alone, strict=True)]
        low, high = mean_interval(ratios[key])
        found |= {f"{key}_ratio": float(np.mean(ratios[key])), f"{key}_low": low, f"{key}_high": high}
    emit(f"q: {name}", **found, slices=len(watched), p99_ms=float(np.median([one.p99 for one in watched])))
    return ratios["cpu"]


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure with visitors and without, in turns."""
    kinds: dict[str, Callable[[str], Any]] = {"five clients": cheap_visitors}
    if shutil.which("chromium"):
        kinds["five browsers"] = browsers
    with ExitStack() as stack:
        pid, address = stack.enter_context(league(folder))
        found = RunDirectory(folder / "watched")
        while not (coordinator := found.read_rendezvous("coordinator")) or not found.read_rendezvous("replica"):
            time.sleep(0.2)
        viewer = stack.enter_context(following(found))
        while env_steps(viewer) == 0:
            time.sleep(0.5)
        time.sleep(15.0)  # until learners and collectors have found their pace
        slices: dict[str, list[Slice]] = {kind: [] for kind in kinds}
        alone: dict[str, list[tuple[Slice, Slice]]] = {kind: [] for kind in kinds}
        measure(pid, viewer, coordinator.address)  # the first one has what only happens once
        before = measure(pid, viewer, coordinator.address)
        for _ in range(rounds):
            for kind, visitors in kinds.items():
                with visitors(address):
                    slices[kind].append(measure(pid, viewer, coordinator.address))
                after = measure(pid, viewer, coordinator.address)
                alone[kind].append((before, after))
                before = after
    return [
        Verdict.of(f"q: {MOST_COST} x CPU alone / with {kind}", [MOST_COST / one for one in ratios], 1.0)
        for kind in kinds
        for ratios in [tell(kind, slices[kind], alone[kind])]
    ]
