"""What lies in a stranger's run directory in place of a file hangs no command, and takes no memory."""

import os
import resource
import shutil
import signal
import socket
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from launch.cli import main
from launch.config.config import stored
from launch.config.env_spec import describe_environment
from launch.packing.packing import pack
from launch.viewers.probe_reports import ProbeReport, ProbeScore
from league.store.ledger import Ledger
from league.store.run_directory import Rendezvous, RunDirectory
from league.wire.keys import make_keys

PATIENCE = 30.0  # seconds of one command, which takes a tenth of one
ROOM = 1 << 30  # bytes that a command may allocate


class Hung(BaseException):
    """A command waits: no code may catch this and go on."""


@contextmanager
def watched():
    """Raise Hung after PATIENCE seconds, and MemoryError beyond ROOM."""

    def stop(number, frame):
        raise Hung

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    old, before = resource.getrlimit(resource.RLIMIT_AS), signal.signal(signal.SIGALRM, stop)
    left = signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *left)


def listen(path):
    short = path.parents[1] / "s"
    place = Path.cwd()
    os.chdir(short.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("s")
    finally:
        os.chdir(place)
    short.rename(path)


KINDS = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "directory": lambda path: path.mkdir(),
    "socket": listen,
}


@pytest.fixture
def whole(run, tmp_path):
    """Return a run with every file that one can have."""
    describe_environment(stored(run), run, ())
    make_keys(run.keys)
    with Ledger.open(run.ledger) as ledger:
        ledger.put_away(40)
        ledger.put_away(40)
    for suffix in ("-wal", "-shm", "-journal"):
        run.ledger.with_name(run.ledger.name + suffix).touch()
    for process in ("coordinator", "replica"):
        run.publish_rendezvous(Rendezvous(address="ipc:///nowhere/to/be/found", term=1), process)
    run.log("collector", 0).write_text("a line\n")
    run.slurm.mkdir()
    run.jobs.write_text("[]")
    run.ended.write_text("ended\n")
    probe = RunDirectory(run.probes / "main-0").create()
    probe.write_config(run.read_config())
    even = ProbeScore(wins=1, draws=0, losses=1, score=0.5, low=0.1, high=0.9, mean_return=0.0, reach=0.1)
    report = ProbeReport(
        run="first", player="main", snapshot=None, start="self", env_steps=1, decisions=1, seconds=1.0, curve=(),
        start_score=even, score=even, anchors={}, path="p",
    )  # fmt: skip
    probe.probe_report.write_bytes(msgspec.json.encode(report))
    pack(run, "main", run.root / "main.safetensors")
    (run.root / "export" / "csv").mkdir(parents=True)
    (run.root / "export" / "csv" / "points.csv").touch()
    return run


def commands(run, out):
    """Every command that reads a run without changing it."""
    name, packed = str(run.root), str(run.root / "main.safetensors")
    return {
        "list": ["list", str(run.root.parent)],
        "status": ["status", name],
        "standings": ["standings", name],
        "payoff": ["payoff", name],
        "matches": ["matches", name],
        "explain": ["explain", name, "main"],
        "verify": ["verify", name],
        "report": ["report", name, "--out", str(out)],
        "export": ["export", name, "--to", "csv", "--out", str(out)],
        "export inside": ["export", name, "--to", "csv"],
        "games": ["export", name, "--to", "games", "--out", str(out)],
        "logs": ["logs", name],
        "keys": ["keys", name],
        "pack": ["pack", name, "main", "-o", str(out / "p.safetensors")],
        "show": ["show", packed],
        "duel": ["duel", name, "main", "random", "--games", "2"],
        "watch": ["watch", name, "main", "random", "--delay", "0"],
        "replay": ["replay", name, "1", "--delay", "0"],
        "exploit": ["exploit", name, "main"],
        "stop": ["stop", name],
    }


def files_of(run):
    """Return the files of a run, of each folder and suffix two: others are read by the same code."""
    seen = {}
    for path in sorted(path for path in run.root.rglob("*") if path.is_file() and not path.is_symlink()):
        seen.setdefault((path.parent, path.suffix if path.parent != run.root else path.name), []).append(path)
    return [path for alike in seen.values() for path in alike[:2]]


def refused(words, capsys):
    """Run a command; return what is wrong with how it took it."""
    code = None
    try:
        with watched():
            code = main(words)
    except SystemExit as error:
        code = error.code
    except (Exception, Hung) as error:
        return f"{type(error).__name__}: {error}"
    text = capsys.readouterr()
    if code not in (0, 1) and len(text.err.strip().splitlines()) != 1:
        return f"exit code {code}, and {text.err.strip()[:500]!r} is not one line"
    return "Traceback in its output" if "Traceback" in text.err + text.out else ""


def tried(run, path, make, wanted, out, capsys):
    """Replace a file, run commands, and put it back; return what went wrong."""
    aside, wrong = out.parent / "aside", []
    path.rename(aside)
    try:
        for name, words in wanted.items():
            make(path)
            out.mkdir()
            problem = refused(words, capsys)
            wrong += [f"{path.relative_to(run.root)}, {name}: {problem}"] if problem else []
            shutil.rmtree(out)
            with suppress(FileNotFoundError):
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    finally:
        aside.rename(path)
    return wrong


opened = None  # the paths that are opened now, while somebody wants to know


def note_open(event, arguments):
    if event == "open" and opened is not None and isinstance(arguments[0], str | os.PathLike):
        opened.add(os.path.realpath(arguments[0]))


sys.addaudithook(note_open)


def readers_of(run, out, capsys):
    """Return the commands that open each file of an intact run; SQLite opens its own without telling."""
    global opened
    found = {}
    for name, words in commands(run, out).items():
        opened = set()
        out.mkdir()
        assert refused(words, capsys) == ""
        shutil.rmtree(out)
        for path in opened:
            found.setdefault(path, {})[name] = words
    opened = None
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_in_place_of_a_file_hangs_a_command(whole, tmp_path, capsys, monkeypatch, figure):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    out, wrong, calls = tmp_path / "out", [], 0
    files, readers = files_of(whole), readers_of(whole, out, capsys)
    few = {name: words for name, words in commands(whole, out).items() if name in ("standings", "verify")}
    for path in files:
        every = few | readers.get(str(path), {})
        for kind, make in KINDS.items():
            wanted = every if kind in ("pipe", "device") else few  # all are refused at the same place
            calls += len(wanted)
            wrong += tried(whole, path, make, wanted, out, capsys)
    assert wrong == []
    assert len(readers.keys() & set(map(str, files))) > 12
    figure(f"{', '.join(KINDS)} in place of each of {len(files)} files: {calls} commands, 0 hung, 0 tracebacks")
