"""Real leagues in real processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from launch.config.compose import compose
from launch.config.config import to_plain
from launch.config.env_spec import describe_environment, read_spec
from launch.topology.endpoints import Endpoints
from launch.topology.parts import key_holders, topology
from launch.topology.roles import ProcessRole
from launch.viewers.view import open_view
from league.store.run_directory import RunDirectory
from league.store.snapshots import Manifest, SnapshotStore
from league.ticket import Episode, Result
from league.wire.keys import make_keys
from league.wire.messages import Candidate, Orders, Progress, Report, Role, Roster, Verdict


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
        found = {role: [] for role in ProcessRole}
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = entry.read_bytes().decode().split("\0")
            except OSError:
                continue
            if str(self.run.root.resolve()) in words and "launch.processes" in words:
                found[words[words.index("--role") + 1]].append(int(entry.parent.name))
        return found

    def interrupt(self, seconds=60):
        """Press Ctrl-C, wait for the end, and see that nobody is left behind."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(seconds)
        self.patiently(lambda: not any(self.children().values()), 10, "the end of all processes")
        assert not self.run.sockets.exists(), "no socket is left behind, either"
        return code


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark all tests of this directory: `make slow` runs them one at a time, with nothing beside them."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.league)


@pytest.fixture
def start(tmp_path, patiently):
    """Return a function that starts a league with overrides."""
    started = []

    def begin(*overrides, name="league"):
        here = Path(__file__).parents[1] / "support"
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


# --- a coordinator alone, and workers that only talk ---------------------------------------------------------


@pytest.fixture
def serve(tmp_path, patiently):
    """Return a function that starts the coordinator of a new run; in the end it must still be there, and end."""
    started = []

    def begin(root, *overrides):
        config = compose(["experiment=tic_tac_toe", "league.budget.minutes=60", "launch.collectors=8", *overrides])
        run = RunDirectory(root).create()
        run.write_config(to_plain(config))
        make_keys(run.keys, {"inference-0": Role.INFERENCE, **key_holders(topology(config))})
        describe_environment(config, run, ())
        process = again(run)
        patiently(lambda: run.read_rendezvous() and run.read_rendezvous("replica"), 30, "the rendezvous")
        return process, run

    def again(run):
        """Start the coordinator of a run that the test has ended before."""
        command = [sys.executable, "-m", "launch.processes", "--run", str(run.root), "--role", "coordinator"]
        with run.log("coordinator", 0).open("ab") as log:
            started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, cwd=Path.cwd()))
        return started[-1]

    def kill(process):
        """End a coordinator as a power cut would."""
        process.kill()
        process.wait()
        process.stdin.close()
        started.remove(process)

    begin.again, begin.kill = again, kill
    yield begin
    for process in started:
        process.terminate()
    codes = [process.wait(10) for process in started]
    for process in started:
        process.stdin.close()
    assert not any(codes), "the coordinator ends in order"


@pytest.fixture
def ask():
    """Return a function that sends a message and returns the first answer, or None."""

    def send(client, message, seconds=5):
        client.send(message)
        found = client.receive(seconds)
        return found[0][0] if found else None

    return send


def write_candidate(run, player, incarnation, version=0, decisions=0):
    """Write a snapshot of a player as a learner does, and return what it reports of it."""
    told = {"player": player, "incarnation": incarnation, "version": version, "decisions": decisions}
    manifest = Manifest(**told, policy={}, signature=read_spec(run).signature)
    weights = np.random.default_rng().random(8, np.float32)
    return Candidate(**told, snapshot=SnapshotStore(run.snapshots).put({"flat": weights}, manifest))


@pytest.fixture(name="write_candidate")
def _write_candidate():
    """Return the function that writes a candidate."""
    return write_candidate


class Honest:
    """A learner that has candidates, and a collector that finishes every ticket at once."""

    def __init__(self, run, learner, collector):
        self._run, self._learner, self._collector = run, learner, collector
        self._request = 0
        self._candidates = ()
        self.results = {}  # by ticket; sent until they are acknowledged
        self.verdicts = {}  # by ticket

    @property
    def counted(self):
        """How many results were accepted, as far as the collector was told."""
        return sum(verdict == Verdict.ACCEPTED for verdict in self.verdicts.values())

    def report(self, seconds):
        """Report once each, and do what the answers say; False if one of them does not come in time."""
        self._request += 1
        who = {"request": self._request, "session": "honest"}
        progress = Progress(**who, name="learner-0", address="tcp://127.0.0.1:2", candidates=self._candidates)
        if not self._exchange(self._learner, progress, seconds):
            return False
        report = Report(**who, name="collector-0", want=2, results=tuple(self.results.values()))
        return self._exchange(self._collector, report, seconds)

    def _exchange(self, link, message, seconds):
        link.send(message)
        while found := link.receive(seconds):
            for answer, _ in found:
                self._hear(answer)
            if any(answer.request == self._request for answer, _ in found):
                return True
        return False

    def _hear(self, answer):
        if isinstance(answer, Roster):
            rows = {(row.player, row.incarnation) for row in answer.players}
            new = rows - {(known.player, known.incarnation) for known in self._candidates}
            self._candidates += tuple(write_candidate(self._run, *row) for row in sorted(new))
            return
        assert isinstance(answer, Orders), answer
        for ack in answer.acks:
            if self.results.pop(ack.ticket, None) is not None:
                self.verdicts[ack.ticket] = ack.verdict
        for ticket in answer.tickets:
            episodes = (Episode((0, 1), (1.0, -1.0), 9),) * ticket.episodes
            self.results[ticket.number] = Result(ticket=ticket.number, attempt=ticket.attempt, episodes=episodes)


@pytest.fixture
def work_honestly():
    """Return a function that opens an honest learner and collector of a run."""
    with ExitStack() as stack:

        def begin(run, transport):
            doors = [stack.enter_context(Endpoints(run, name, transport)) for name in ("learner-0", "collector-0")]
            return Honest(run, *(door.coordinator() for door in doors))

        yield begin
