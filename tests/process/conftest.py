"""Real leagues in real processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from launch.view import open_view
from league.store.run_directory import RunDirectory


@dataclass
class League:
    """A `ludus run` in a child process, and its run directory."""

    process: subprocess.Popen
    run: RunDirectory
    log: Path
    patiently: Callable

    def results(self):
        return sum(open_view(self.run).state.results.values()) if self.run.rendezvous.exists() else 0

    def children(self):
        """Return the process ids of the run's processes by role, as the kernel sees them."""
        found = {"coordinator": [], "collector": [], "learner": [], "inference": [], "buffer": [], "tracker": []}
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = entry.read_bytes().decode().split("\0")
            except OSError:
                continue
            if str(self.run.root.resolve()) in words and "launch.process" in words:
                found[words[words.index("--role") + 1]].append(int(entry.parent.name))
        return found

    def interrupt(self, seconds=60):
        """Press Ctrl-C, wait for the end, and see that nobody is left behind."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(seconds)
        self.patiently(lambda: not any(self.children().values()), 10, "the end of all processes")
        return code


@pytest.fixture
def start(tmp_path, patiently):
    """Return a function that starts a league with overrides."""
    started = []

    def begin(*overrides, name="league"):
        here = Path(__file__).parent
        path = os.pathsep.join([str(Path.cwd()), str(here)])
        environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        log = tmp_path / "ludus.log"
        command = [sys.executable, "-m", "launch", "run", "--plain", f"name={name}", *overrides]
        with log.open("ab") as out:
            process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=out, stderr=out)
        started.append(process)
        return League(process, RunDirectory(tmp_path / "runs" / name), log, patiently)

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
