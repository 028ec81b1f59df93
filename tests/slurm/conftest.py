"""A real Slurm on this machine: four nodes with networks of their own (`cluster/start`), and leagues on it."""

import getpass
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from launch.slurm import record
from launch.slurm.commands import SlurmError
from launch.verify.verify import verify
from launch.viewers.view import open_view
from league.store.run_directory import RunDirectory

HERE = Path(__file__).parent
SMALL = [
    "experiment=tic_tac_toe",
    "policy.hidden=[16]",
    "league.budget.minutes=30",
    "league.lease.seconds=5",
    "league.lease.attempts=50",
    "league.evaluation.final_games=8",
    "learner.candidate_decisions=8192",
    "collector.slots=16",
    "launch.collectors=2",
    "launch.slurm.memory=500M",
    "launch.slurm.probe=0",
]


def wait_for(condition, seconds, what):
    """Return what the condition returns as soon as it is true, and how long that took.

    A Slurm that is too busy to answer is asked again. Patience costs nothing when things go well, so have much of it.
    """
    began, trouble = time.monotonic(), ""
    while True:
        try:
            if found := condition():
                return found, time.monotonic() - began
        except (SlurmError, subprocess.CalledProcessError) as error:
            trouble = f"; {error}"
        assert time.monotonic() - began < seconds, f"{what} did not happen within {seconds:g} s{trouble}"
        time.sleep(0.2)


def answer(ask):
    """Return what Slurm answers, whatever it is."""
    return wait_for(lambda: [ask()], 120, "an answer of Slurm")[0][0]


def call(*words):
    """Return what a command of Slurm prints."""
    return answer(lambda: subprocess.run(words, capture_output=True, text=True, check=True).stdout)


class Cluster:
    """The machine's own Slurm."""

    def __init__(self, state):
        self.state = state
        self._cut = set()

    def start(self):
        subprocess.run([HERE / "cluster/start", self.state, "-q"], check=True)

    def harm(self, *words):
        subprocess.run([HERE / "cluster/stop", self.state, *words], check=True)

    def cut(self, node):
        """Take a node off the network."""
        self._cut.add(node)
        self.harm("--cut", node)

    def plug(self, node):
        self.harm("--plug", node)
        self._cut.discard(node)

    def repair(self):
        """Undo all harm."""
        for node in [*self._cut]:
            self.plug(node)
        self.start()


@pytest.fixture(scope="session")
def cluster():
    state = os.environ.get("LUDUS_SLURM")
    if not state:
        pytest.skip("needs a Slurm of its own, which `make slurm` starts and stops (as root, on Debian or Ubuntu)")
    config = re.search(r"SLURM_CONF=(\S+)", (Path(state) / "env").read_text())
    os.environ["SLURM_CONF"] = config.group(1)
    return Cluster(state)


@dataclass
class League:
    """A run on Slurm."""

    run: RunDirectory
    place: Path
    started: list[subprocess.Popen] = field(default_factory=list)

    def start(self, *words, **environment):
        """Start a command as a user does."""
        shell = {**os.environ, "PYTHONPATH": str(Path.cwd()), "OMP_NUM_THREADS": "1", **environment}
        command = [sys.executable, "-m", "launch", *words]
        told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.started.append(subprocess.Popen(command, cwd=self.place, env=shell, **told))
        return self.started[-1]

    def ludus(self, *words, code=0, **environment):
        """Run a command as a user does, and return what it printed."""
        command = self.start(*words, **environment)
        told, _ = command.communicate()
        assert command.returncode == code, f"{words}: {told}"
        return told

    def begin(self, *overrides):
        self.ludus("run", "launch=slurm/small", f"name={self.run.name}", *SMALL, *overrides)
        return self

    def trained(self, player="main"):
        """Return on how many decisions the newest candidate of a player was trained."""
        candidate = self.view().state.candidate(player) if self.run.ledger.exists() else None
        return 0 if candidate is None else candidate.decisions

    def view(self):
        return open_view(self.run)

    def results(self):
        return sum(self.view().state.results.values()) if self.run.ledger.exists() else 0

    def heard(self, process, age=3.0):
        return any(worker.name == process and worker.age < age for worker in self.view().workers)

    def rows(self):
        return answer(lambda: dict(record.look(self.run)))

    def node(self, process):
        return self.rows()[process].node

    def alive(self):
        return [row for row in self.rows().values() if row.alive]

    def limit(self, process, minutes):
        """Let the job of a process reach its time limit in so many minutes, or up to one more: Slurm rounds."""
        job = self.rows()[process]
        parts = [0, *map(int, job.used.split(":"))]
        used = 60 * parts[-3] + parts[-2]
        call("scontrol", "update", f"jobid={job.id}", f"timelimit={used + 1 + minutes}")

    def play_on(self, results=30, seconds=150):
        """Wait for more results; return how long that took."""
        before = self.results()
        return wait_for(lambda: self.results() > before + results, seconds, f"{results} more results")[1]

    def log(self, process):
        path = self.run.logs / f"{process}.log"
        return path.read_text() if path.exists() else ""

    def is_sound(self):
        return verify(self.run) == 0


@pytest.fixture
def leagues(cluster, tmp_path):
    """Return a function that returns a league by its name; in the end all of their jobs end."""
    known = {}

    def named(name):
        return known.setdefault(name, League(RunDirectory(tmp_path / "runs" / name), tmp_path))

    yield named
    for command in [one for league in known.values() for one in league.started if one.poll() is None]:
        command.kill()
        command.communicate()
    cluster.repair()  # what a test broke and did not live to repair would spoil the next one
    call("scancel", "--quiet", f"--user={getpass.getuser()}")
    wait_for(lambda: not queued(), 150, "the end of all jobs")


def queued():
    """Return what is in the queue: nobody else has jobs on this cluster."""
    return call("squeue", "-h")


@pytest.fixture
def empty():
    """Return a function that waits until nothing is in the queue: what has ended is there for a moment."""
    return lambda: wait_for(lambda: not queued(), 120, "an empty queue")


@pytest.fixture
def slurm():
    """Return a function that runs a command of Slurm, and returns what it prints."""
    return call


@pytest.fixture
def league(leagues):
    return leagues("league")


@pytest.fixture
def patiently():
    return wait_for
