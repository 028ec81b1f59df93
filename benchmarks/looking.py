"""(p) The dashboard over a league of a thousand players and a million matches: answers, first content, the heat map.

    python -m benchmarks --only p
    python -m benchmarks.looking runs/big           # of a run that `benchmarks.ledgers` made

The server is a process of its own, as for a user. Pages are measured in chromium, if there is one.
"""

import argparse
import http.client
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.ledgers import make_run
from benchmarks.measure import Verdict, emit
from launch.dashboard.entrance import Pass
from league.store.run_directory import RunDirectory

RESULTS, PLAYERS = 1_000_000, 1000
ANSWERS, VISITS = 50, 5
ANSWER_MS, CONTENT_MS, FRAMES = 50.0, 1000.0, 30.0  # what the dashboard promises
PAN = """async () => {
    const canvas = document.querySelector("canvas.heatmap");
    const at = (x) => ({ bubbles: true, pointerId: 1, clientX: x, clientY: 300, offsetX: x, offsetY: 300 });
    canvas.setPointerCapture = () => undefined;
    for (let i = 0; i < 8; i += 1) canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
    canvas.dispatchEvent(new PointerEvent("pointerdown", at(600)));
    let frames = 0;
    const began = performance.now();
    while (performance.now() - began < 2000) {
        canvas.dispatchEvent(new PointerEvent("pointermove", at(600 - ((performance.now() - began) / 5) % 400)));
        await new Promise(requestAnimationFrame);
        frames += 1;
    }
    return (1000 * frames) / (performance.now() - began);
}"""


@contextmanager
def dashboard(run: RunDirectory) -> Iterator[tuple[str, int, str]]:
    """Serve a run in a process of its own; yield its address, port and cookie."""
    command = [sys.executable, "-u", "-m", "launch", "dashboard", str(run.root)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().removeprefix("dashboard: ").strip()
        token = address.partition("token=")[2]
        yield address, int(address.split(":")[2].partition("/")[0]), f"{Pass(token).cookie}={token}"
    finally:
        server.terminate()
        server.wait()


def answers(run: RunDirectory, port: int, cookie: str) -> dict[str, list[float]]:
    """Return how many milliseconds answers took, by what was asked."""
    connection, found = http.client.HTTPConnection("127.0.0.1", port, timeout=120), dict[str, list[float]]()
    base = f"/api/runs/{quote(run.name)}"

    def ask(path: str) -> tuple[int, bytes]:
        connection.request("GET", f"{base}/{path}", headers={"Cookie": cookie})
        answer = connection.getresponse()
        return answer.status, answer.read()

    began = time.perf_counter()
    while ask("league")[0] == 202:
        time.sleep(0.05)
    found["first"] = [1000 * (time.perf_counter() - began)]
    paths = {"standings": "standings", "payoff": "payoff", "cell": "cell?player=main&opponent=random"}
    paths |= {"matches": "matches?limit=50", "of a pair": "matches?limit=50&player=main&against=main.5"}
    for name, path in paths.items():
        times, size = [], 0
        for _ in range(ANSWERS if name in ("standings", "cell") else 5):
            began = time.perf_counter()
            status, body = ask(path)
            times.append(1000 * (time.perf_counter() - began))
            size = len(body)
            assert status == 200, body[:200]
        found[name] = times
        emit(f"p: {name}", ms=statistics.median(times), slowest_ms=max(times), bytes=size)
    ask("curves")  # from now on the past is read
    times = []
    for _ in range(ANSWERS):
        began = time.perf_counter()
        ask("standings")
        times.append(1000 * (time.perf_counter() - began))
        time.sleep(0.1)
    emit("p: standings while the past is read", ms=statistics.median(times), slowest_ms=max(times))
    connection.close()
    return found


@contextmanager
def browser() -> Iterator[Any]:
    """Start chromium; yield a page of it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        yield page
        chromium.close()


def first_rows(page: Any, run: RunDirectory, address: str) -> float:
    """Return the milliseconds to the first row of the standings in a new page."""
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(f"{address.partition('?')[0]}#/{quote(run.name)}/standings")
    page.locator(".standings tbody tr").first.wait_for()
    return 1000 * (time.perf_counter() - began)


def cold(run: RunDirectory) -> None:
    """Print how long a visitor waits for a dashboard that has read nothing yet: for players, then for ratings."""
    with browser() as page, dashboard(run) as (address, _, _):
        began = time.perf_counter()
        page.goto(address)
        page.get_by_role("heading", level=1).wait_for()
        shell = 1000 * (time.perf_counter() - began)
        rows = first_rows(page, run, address)
        began = time.perf_counter()
        page.wait_for_function("() => document.querySelector('.standings .rating a')?.innerText.match(/[0-9]/)")
        emit(
            "p: just started", shell_ms=shell, standings_ms=rows, ratings_after_ms=1000 * (time.perf_counter() - began)
        )


def pages(run: RunDirectory, address: str) -> tuple[float, float]:
    """Return the median milliseconds to the first row of the standings, and the frames a second of a pan."""
    with browser() as page:
        page.goto(address)
        page.get_by_role("heading", level=1).wait_for()
        times = [first_rows(page, run, address) for _ in range(VISITS)]
        page.goto(f"{address.partition('?')[0]}#/{quote(run.name)}/payoff")
        page.wait_for_function("() => Number(document.querySelector('canvas.heatmap')?.dataset.players) > 0")
        rate = float(page.evaluate(PAN))
    emit("p: pages", first_content_ms=statistics.median(times), slowest_ms=max(times), pan_frames_per_second=rate)
    return statistics.median(times), rate


def measure(run: RunDirectory) -> list[Verdict]:
    """Print all figures of a run."""
    shown: tuple[float, float] | None = None
    if chromium := shutil.which("chromium"):
        cold(run)
    with dashboard(run) as (address, port, cookie):
        found = answers(run, port, cookie)
        emit("p: first", ms=found["first"][0])
        if chromium:
            shown = pages(run, address)
    verdicts = [Verdict.of("p: 50 ms / answer with standings", [ANSWER_MS / one for one in found["standings"]], 1.0)]
    if shown is not None:
        verdicts.append(Verdict("p: 1 s / first content", CONTENT_MS / shown[0], 1.0))
        verdicts.append(Verdict("p: frames of a pan / 30", shown[1] / FRAMES, 1.0))
    return verdicts


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Make a league and measure it."""
    return measure(make_run(folder / "big", RESULTS, PLAYERS))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.looking", description=__doc__)
    parser.add_argument("run", type=Path)
    for verdict in measure(RunDirectory(parser.parse_args().run)):
        verdict.tell()
