"""(g) What tracking costs: leagues without trackers, with them, and with a W&B server that hangs, in turn.

Each has a run of its own. CPU seconds for 1000 env steps, of the processes that play and of all; and the
coordinator's longest step.
"""

import os
import socket
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.children import cpu_of
from benchmarks.measure import Verdict, emit
from benchmarks.whole import F_NATIVE, configure
from launch.config.config import to_plain
from launch.config.env_spec import describe_environment
from launch.processes.supervisor import Supervisor
from launch.topology.endpoints import Endpoints
from launch.topology.parts import topology
from launch.viewers.view import Viewer, read_offline
from league.store.run_directory import RunDirectory
from league.wire.sockets import PAGE_LIMIT

WARM = 150_000  # env steps before the measurement begins: by then everybody has started, trackers too
PATIENCE = 120.0  # seconds until then
LONGER = 20  # a run is as many times longer than a slice of other benchmarks
WORDS = {"without": "without trackers", "with": "with trackers", "hanging": "with a W&B server that hangs"}
PLAY = ("coordinator", "learner", "collector")
ROUNDS = 3  # at most: a round is three leagues


class Steps:
    """A watcher that keeps what the coordinator measured of itself."""

    def __init__(self):
        self.rows = []

    def before(self, seq, event, state):
        pass

    def event(self, seq, event, state):
        pass

    def metrics(self, row, state):
        if row.source == "coordinator":
            self.rows.append(row)


def family(pid: int) -> list[int]:
    """Return the processes of a tracker's group: wandb's client starts a service beside itself."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == pid:
            found.append(int(stat.parent.name))
    return found


def league(folder: Path, seconds: float, to: Sequence[str]) -> dict[str, float]:
    """Play for some seconds; return CPU seconds for 1000 env steps, of play and of trackers, and the longest step."""
    config = configure(F_NATIVE)
    config.track.to = list(to)
    run = RunDirectory(folder).create()
    run.write_config(to_plain(config))
    describe_environment(config, run, ())
    with (
        Endpoints(run, "viewer", "ipc", PAGE_LIMIT) as doors,
        Supervisor(run, topology(config), warn=lambda line: None, track_seconds=3.0) as supervisor,
    ):
        viewer = Viewer(doors.replica(), config.league)
        deadline = time.monotonic() + PATIENCE
        while viewer.state.env_steps < WARM:
            supervisor.poll()
            viewer.refresh(0.2)
            assert time.monotonic() < deadline, f"no play: see {run.logs}"
        players = [pid for role in PLAY for pid in supervisor.alive(role)]
        trackers = [member for pid in supervisor.alive("tracker") for member in family(pid)]
        before = (viewer.state.env_steps, cpu_of(players), cpu_of(trackers), viewer.elapsed)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            viewer.refresh(0.5)
            time.sleep(0.5)
        steps = (viewer.state.env_steps - before[0]) / 1000
        played, tracked = cpu_of(players) - before[1], cpu_of(trackers) - before[2]
        begun = before[3]
    watched = Steps()
    read_offline(run, watcher=watched)
    rows = [row.values for row in watched.rows if row.elapsed > begun]
    return {
        "play": played / steps,
        "all": (played + tracked) / steps,
        "trackers": tracked / seconds,
        "steps_per_second": 1000 * steps / seconds,
        "busy_share": statistics.mean(row["busy_share"] for row in rows),
        "longest_step_ms": statistics.median(row["longest_step_ms"] for row in rows),
    }


@contextmanager
def hanging() -> Iterator[str]:
    """Yield the address of a server that takes connections and never answers: nobody takes them up."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def surrounded(environment: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the processes that are started meanwhile."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Alternate; a ratio of 1 means that tracking costs nothing."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for i in range(min(rounds, ROUNDS)):
        with hanging() as address:
            found = {
                name: _arm(folder / f"{name}-{i}", LONGER * seconds, name, environment)
                for name, environment in (
                    ("without", {}),
                    ("with", {"WANDB_MODE": "offline"}),
                    ("hanging", {"WANDB_MODE": "online", "WANDB_BASE_URL": address, "WANDB_API_KEY": "0" * 40}),
                )
            }
        for name in ("with", "hanging"):
            for key in ("play", "all"):
                ratios.setdefault((name, key), []).append(found["without"][key] / found[name][key])
    return [
        Verdict.of(f"g: CPU of {key} for 1000 steps, without trackers / {WORDS[name]}", runs, 0.9)
        for (name, key), runs in ratios.items()
    ]


def _arm(folder: Path, seconds: float, name: str, environment: Mapping[str, str]) -> dict[str, float]:
    with surrounded(environment):
        told = league(folder, seconds, () if name == "without" else ("csv", "wandb"))
    emit(f"g: {WORDS[name]}", **told)
    return told
