"""Viewers are served apart from play: floods, deaf peers and kill -9 cost a viewer its view, and the league nothing.

The process is launch.processes.run_replica.
"""

import os
import signal
import statistics
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import zmq

from launch.topology.endpoints import Endpoints
from launch.viewers.view import Viewer, open_view, read_offline, read_rules
from league.events import OperatorActed
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.wire.codec import encode
from league.wire.keys import load_client_keys
from league.wire.messages import Done, FetchFold, Follow, Note, Report
from league.wire.sockets import PAGE_LIMIT
from league.wire.unread import SCRAP

TCP = ("launch.transport=tcp", "track.to=[csv]")
FLOODS, QUESTIONS = 20, 3000
DEAF = 60
PLAY = 300  # reports of the honest ones, before and during an attack

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def coordinator(serve, tmp_path):
    """The coordinator of a league with a long ledger: pages are full."""
    run = RunDirectory(tmp_path / "run").create()
    with Ledger.open(run.ledger) as ledger:
        for _ in range(20):
            ledger.commit([OperatorActed(action="resume" * 40)] * 1000)
    return serve(run.root, *TCP)


@contextmanager
def hostile():
    """A context whose sockets are all closed in the end, whatever happens."""
    context, opened = zmq.Context(), []
    try:
        yield SimpleNamespace(socket=lambda kind: opened.append(context.socket(kind)) or opened[-1])
    finally:
        for end in opened:
            end.close(linger=0)
        context.term()


def attacker(context, run, process, name):
    """A raw socket that reads one message and then no more, not even what the kernel could take."""
    keys, end = load_client_keys(run.keys, name), context.socket(zmq.DEALER)
    end.linger, end.rcvhwm, end.sndhwm, end.rcvbuf = 0, 1, 0, 4096
    end.curve_serverkey, end.curve_publickey = keys.server.encode(), keys.public.encode()
    end.curve_secretkey = keys.secret.encode()
    end.connect(run.read_rendezvous(process).address)
    return end


def replica_of(run):
    """Return the process id of the replica, as the kernel sees it."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode().split("\0")
        except OSError:
            continue
        if str(run.root.resolve()) in words and "replica" in words:
            return int(entry.parent.name)
    return None


def megabytes(pid, what="VmRSS"):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(f"{what}:"))) / 1024


def connections(run):
    """Return how many bytes wait in each connection of the replica's viewers, by inode, as the kernel sees them."""
    port, found = int(run.read_rendezvous("replica").address.rpartition(":")[2]), {}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, ours, _, state, queues, *_, inode = line.split()[:10]
        if int(ours.rpartition(":")[2], 16) == port and state == "01":
            found[inode] = int(queues.partition(":")[0], 16)
    return found


def latencies(honest, count):
    """Let the honest ones report, and return how many seconds each answer took."""
    taken = []
    for _ in range(count):
        before = time.monotonic()
        assert honest.report(20), "the honest ones are answered"
        taken.append(time.monotonic() - before)
    return taken


def counted(view):
    return sum(view.state.results.values())


def p99(seconds):
    return f"{1000 * statistics.quantiles(seconds, n=100)[-1]:.1f} ms"


@pytest.mark.parametrize("name", ["viewer", "collector-7"])
def test_a_flood_of_questions_and_a_close_kill_nobody(coordinator, work_honestly, name, figure):
    """libzmq 4.3.5 aborts if a peer closes while so much of it waits that its input is stopped."""
    process, run = coordinator
    where = "replica" if name == "viewer" else "coordinator"
    question = {
        "replica": Follow(request=1, since=0),
        "coordinator": Report(request=1, name="collector-7", session="s"),
    }
    honest = work_honestly(run, "tcp")
    assert honest.report(20)
    replica, before = replica_of(run), honest.counted
    for _ in range(FLOODS):
        with hostile() as context:
            end = attacker(context, run, where, name)
            for _ in range(QUESTIONS):
                end.send_multipart(encode(question[where]))
            end.poll(2000)  # it is let in, and its first answer is here
            time.sleep(0.2)  # the answers that nobody reads fill the connection
        latencies(honest, 5)
    latencies(honest, 20)
    assert process.poll() is None, "the coordinator lives"
    assert replica_of(run) == replica, "and so does the replica"
    assert open_view(run).term == 1
    assert honest.counted > before + FLOODS
    figure(f"{FLOODS} floods of {QUESTIONS:,} messages with the key of {name}, then a close: 0 deaths")


def test_viewers_that_do_not_read_cost_play_nothing(coordinator, work_honestly, patiently, figure):
    process, run = coordinator
    honest = work_honestly(run, "tcp")
    assert honest.report(20)
    alone = latencies(honest, PLAY)
    counted, replica = honest.counted, replica_of(run)
    small = megabytes(process.pid), megabytes(replica)
    with hostile() as context:
        ends = [attacker(context, run, "replica", "viewer") for _ in range(DEAF)]

        def ask_on():
            """Ask until more is there than a peer takes without being read; it looks alive all the time."""
            for end in ends:
                end.send_multipart(encode(Follow(request=1, since=0)))
                end.send_multipart(encode(FetchFold(request=1)))
            stuck.update(inode for inode, unread in connections(run).items() if unread > SCRAP)
            return len(stuck) >= DEAF

        stuck = set()
        patiently(ask_on, 60, "answers for each of them that nobody reads")
        crowded = latencies(honest, PLAY)
        patiently(lambda: open_view(run).live, 30, "an honest viewer being served")
        first = frozenset(stuck)
        patiently(lambda: ask_on() and not first & connections(run).keys(), 60, "the end of their connections")
        large = megabytes(process.pid, "VmHWM"), megabytes(replica, "VmHWM")

    assert honest.counted >= 2 * counted - PLAY / 10, "as many results as without them"
    assert process.poll() is None
    assert replica_of(run) == replica
    assert large[0] < small[0] + 20, "the coordinator has nothing to do with them"
    assert large[1] < small[1] + 150
    figure(
        f"{DEAF} deaf viewers: p99 of an honest exchange {p99(alone)} without, {p99(crowded)} with them; coordinator "
        f"{small[0]:.0f} -> {large[0]:.0f} MB, replica {small[1]:.0f} -> {large[1]:.0f} MB; "
        f"all of their connections were cut off"
    )


def test_a_replica_that_is_killed_comes_back_and_play_does_not_notice(coordinator, work_honestly, patiently, figure):
    process, run = coordinator
    honest = work_honestly(run, "tcp")
    with Endpoints(run, "viewer", "tcp", PAGE_LIMIT) as doors:
        viewer = Viewer(doors.replica(), read_rules(run))
        patiently(lambda: viewer.refresh(0.5) and viewer.complete, 30, "the first look")
        seconds = []
        for _ in range(3):
            before, killed = honest.counted, replica_of(run)
            os.kill(killed, signal.SIGKILL)
            since = time.monotonic()
            latencies(honest, 20)
            patiently(lambda killed=killed: replica_of(run) not in (None, killed), 30, "the next replica")
            assert honest.counted > before
            patiently(lambda: viewer.refresh(0.5) and counted(viewer) == honest.counted, 30, "the viewer coming back")
            seconds.append(time.monotonic() - since)
        assert viewer.term == 1, "it is the same coordinator"
    assert process.poll() is None
    figure(f"a viewer was back {', '.join(f'{s:.1f} s' for s in seconds)} after kill -9 of the replica")


def test_what_was_acknowledged_is_durable_and_viewers_go_on_after_a_restart(
    coordinator, serve, work_honestly, ask, patiently
):
    process, run = coordinator
    honest = work_honestly(run, "tcp")
    latencies(honest, 5)
    with (
        Endpoints(run, "viewer", "tcp", PAGE_LIMIT) as doors,
        Endpoints(run, "tracker-0", "tcp", PAGE_LIMIT) as tracking,
    ):
        viewer = Viewer(doors.replica(), read_rules(run))
        patiently(lambda: viewer.refresh(0.5) and viewer.complete, 30, "the first look")
        seen, replica = viewer.seq, replica_of(run)
        answer = ask(tracking.replica(), Note(request=7, name="csv", text="here"), 20)
        serve.kill(process)
        assert isinstance(answer, Done)
        assert answer.request == 7
        patiently(lambda: not Path(f"/proc/{replica}").exists(), 20, "the end of the replica with its coordinator")
        assert read_offline(run).notes == {"csv": "here"}
        process = serve.again(run)
        patiently(lambda: viewer.refresh(0.5) and viewer.complete and viewer.term == 2, 60, "the viewer going on")
        assert viewer.seq > seen
    patiently(lambda: honest.report(5), 30, "play going on")
