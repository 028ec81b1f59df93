"""(q) What five open browsers cost a league: CPU for 1000 env steps with them and without, in turns.

    python -m benchmarks --only q --rounds 5

A league of one collector plays tic-tac-toe. Five pages of chromium show its overview, standings and heat map in every
other slice. What counts is the CPU time of coordinator, learner and collector;
the dashboard itself and the browser are not part of the league.
"""

import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import Verdict, emit
from launch.dashboard.entrance import Pass

PAGES = ("overview", "standings", "payoff", "machines", "curves")
SLICE = 8.0  # seconds
COUNTED = ("coordinator", "learner", "collector")  # the replica serves viewers, and is niced


def processes(parent: int) -> dict[int, str]:
    """Return the role of each process of a league."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            above = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if b"--role" in words and above == parent:
            found[int(entry.name)] = words[words.index(b"--role") + 1].decode()
    return found


def cpu(pids: Iterator[int] | list[int]) -> float:
    """Return the CPU seconds of some processes so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def league(folder: Path) -> Iterator[tuple[int, str]]:
    """Run a league with a dashboard; yield its process and the dashboard's address."""
    words = [
        "run",
        "experiment=null",
        "env=tic_tac_toe",
        "name=watched",
        "dashboard=true",
        "launch.collectors=1",
        "--plain",
    ]
    command = [sys.executable, "-u", "-m", "launch", *words, "league.budget.minutes=30", f"runs={folder}"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert started.stdout is not None
        address = next(line for line in started.stdout if line.startswith("dashboard: http"))
        os.set_blocking(started.stdout.fileno(), False)  # nobody reads the rest
        yield started.pid, address.removeprefix("dashboard: ").strip()
    finally:
        started.terminate()
        started.wait()


def status(address: str) -> dict[str, Any]:
    """Return the status of the league."""
    token = address.partition("token=")[2]
    connection = http.client.HTTPConnection(address.split("/")[2], timeout=30)
    connection.request("GET", "/api/runs/watched/league", headers={"Cookie": f"{Pass(token).cookie}={token}"})
    plain: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return plain.get("status", {})


def measure(pid: int, address: str) -> tuple[float, float]:
    """Return the CPU seconds for 1000 env steps in one slice, and the seconds that it took."""
    pids = [one for one, role in processes(pid).items() if role in COUNTED]
    steps, spent, began = status(address)["env_steps"], cpu(pids), time.monotonic()
    time.sleep(SLICE)
    more = status(address)["env_steps"] - steps
    return 1000 * (cpu(pids) - spent) / max(1, more), time.monotonic() - began


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure with five pages and without, in turns."""
    from playwright.sync_api import sync_playwright

    with league(folder) as (pid, address), sync_playwright() as started:
        while not status(address).get("env_steps_per_second"):
            time.sleep(0.5)
        time.sleep(10.0)  # until learners and collectors have found their pace
        costs: dict[bool, list[float]] = {False: [], True: []}
        for turn in range(2 * rounds + 1):
            watched = turn % 2 == 1
            browser = None
            if watched:
                browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                for name in PAGES:
                    page = browser.new_context().new_page()
                    page.goto(address)
                    page.goto(f"{address.partition('?')[0]}#/watched/{name}")
                time.sleep(2.0)
            costs[watched].append(measure(pid, address)[0])
            if browser is not None:
                browser.close()
    pairs = zip(costs[True], costs[False][:-1], costs[False][1:], strict=True)
    ratios = [2 * cost / (before + after) for cost, before, after in pairs]
    emit("q: watched", cpu_ratio=statistics.median(ratios), lowest=min(ratios), highest=max(ratios), rounds=rounds)
    return []
