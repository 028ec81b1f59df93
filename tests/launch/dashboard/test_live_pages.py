"""Pages of leagues that are under way, whose processes are killed and come back."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.serving import ServerPlace, serve
from launch.viewers.view import read_offline
from league.store.run_directory import RunDirectory

pytestmark = pytest.mark.browser

SETTINGS = (
    "env=tic_tac_toe",
    "experiment=null",
    "policy.hidden=[16]",
    "launch.collectors=1",
    "league.budget.minutes=5",
)
WATCH = """() => {
    const facts = () => [...document.querySelectorAll(".fact")];
    const fact = (name) => facts().find((one) => one.innerText.includes(name))?.querySelector("dd").innerText;
    window.seen = [];
    new MutationObserver(() => {
        const shown = fact("Matches");
        if (shown !== undefined && shown !== window.seen.at(-1)) window.seen.push(shown);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
SEEN_MORE = "before => window.seen.length > before"


class League:
    """A league of real processes with a dashboard, and what it prints."""

    def __init__(self, folder, patiently):
        self.folder, self._patiently, self.lines = folder, patiently, []
        command = [
            sys.executable,
            "-m",
            "launch",
            "run",
            "name=live",
            "dashboard=true",
            "--plain",
            *SETTINGS,
            "league.budget.minutes=5",
        ]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True).start()

    def address(self, number=0):
        """Return an address of its dashboard, which has another one after each start."""

        def found():
            lines = [line for line in self.lines if "dashboard: http" in line]
            return lines[number].partition("dashboard: ")[2].strip() if len(lines) > number else None

        return self._patiently(found, 60, "the address")

    def child(self, role):
        """Return the process of a role."""
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                above = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if above == self.process.pid and b"--role" in words and words[words.index(b"--role") + 1].decode() == role:
                return int(entry.name)
        raise AssertionError(f"there is no {role}")


@contextmanager
def league(folder, patiently):
    started = League(folder, patiently)
    try:
        yield started
    finally:
        started.process.send_signal(signal.SIGCONT)
        started.process.terminate()
        try:
            started.process.wait(30)
        finally:
            started.process.kill()
            started.process.wait()
            started.process.stdout.close()


@pytest.fixture
def page(browser):
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(40_000)
    yield page
    context.close()


def fact(page, name):
    return page.locator(".fact", has_text=name).locator("dd")


def test_a_coordinator_is_killed_and_comes_back_and_no_number_is_shown_twice(page, tmp_path, patiently):
    with league(tmp_path, patiently) as live:
        page.goto(live.address())
        fact(page, "Matches").wait_for()
        page.evaluate(WATCH)
        page.wait_for_function(SEEN_MORE, arg=2)
        assert "training" in fact(page, "State").inner_text()
        page.evaluate("() => { location.hash = '#/live/machines'; }")
        page.get_by_text("processes").first.wait_for()
        assert page.locator("tr.host").count() == 1
        page.locator(".machines").get_by_text(" v ").first.wait_for()  # what the collector plays now
        page.evaluate("() => { location.hash = '#/live/overview'; }")
        fact(page, "State").wait_for()

        live.process.send_signal(signal.SIGSTOP)  # nobody starts it again for now
        os.kill(live.child("coordinator"), signal.SIGKILL)
        page.get_by_text("No coordinator answers").wait_for()
        assert "stopped" in fact(page, "State").inner_text()
        before = page.evaluate("() => window.seen.length")

        live.process.send_signal(signal.SIGCONT)
        page.wait_for_function(SEEN_MORE, arg=before + 2)
        page.get_by_text("No coordinator answers").wait_for(state="detached")
        page.evaluate("() => { location.hash = '#/live/machines'; }")
        page.wait_for_function("() => document.querySelector('main').innerText.includes('term 2')")
        page.evaluate("() => { location.hash = '#/live/overview'; }")
        fact(page, "Matches").wait_for()

        live.process.send_signal(signal.SIGINT)
        assert live.process.wait(60) == 130
        page.get_by_text("does not answer").first.wait_for()
        seen = [int(text.split()[0].replace(",", "")) for text in page.evaluate("() => window.seen")]
    assert seen == sorted(set(seen)), "it only rises, whoever restarts"
    state = read_offline(RunDirectory(next(tmp_path.glob("runs/live")))).state
    assert len(seen) >= 5
    assert seen[-1] <= sum(state.results.values())


def test_a_dashboard_that_is_killed_is_started_again_at_a_new_address(page, tmp_path, patiently):
    with league(tmp_path, patiently) as live:
        page.goto(live.address())
        fact(page, "Matches").wait_for()
        os.kill(live.child("dashboard"), signal.SIGKILL)
        page.get_by_text("does not answer").first.wait_for()
        again = live.address(1)
        assert again != live.address(0)
        page.goto(again)
        page.wait_for_function("() => document.querySelector('main h1')?.innerText === 'Overview'")
        fact(page, "Matches").wait_for()


def test_a_dashboard_that_is_started_again_asks_for_its_new_address(browser, folder, patiently):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    context, addresses = browser.new_context(), []
    page = context.new_page()
    for start in range(2):
        stop, lines = threading.Event(), []
        thread = threading.Thread(
            target=serve, args=(Runs(folder=folder), ServerPlace(port=port), lines.append, stop.is_set)
        )
        thread.start()
        addresses.append(
            patiently(lambda lines=lines: lines and lines[0].removeprefix("dashboard: "), 10, "the address")
        )
        if start == 0:
            page.goto(addresses[0])
            page.locator(".card").first.wait_for()
        else:
            page.get_by_text("was started again").first.wait_for(timeout=20_000)
        stop.set()
        thread.join(15)
    assert addresses[0] != addresses[1]
    context.close()
