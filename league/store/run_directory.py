"""All file names of a run, and the files that describe it."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar
from urllib.parse import quote

import msgspec

from league import limits
from league.errors import InputError
from league.ids import Hash
from league.store.files import PART, open_append, publish
from league.store.ledger import ARCHIVE
from league.store.plain_json import read_json
from league.store.regular_file import IrregularFile, read_regular, read_text_of

LAYOUT_VERSION = 1
LATEST = "latest"  # stands for the league whose config was written last; for a tournament only if there is no league
SWEEPS = "sweeps"  # the folder beside runs with what sweeps record
Content = TypeVar("Content")


class RunError(InputError):
    """A run that does not exist, or cannot be used."""


class Rendezvous(msgspec.Struct, frozen=True, kw_only=True):
    """Where a server of the run listens: the coordinator of this term, a learner, or a process beside one.

    `public_key` is that of the server, None on ipc.
    """

    address: str
    term: int
    public_key: str | None = None


class RunDirectory:
    """The directory of one run.

    run = RunDirectory.find("latest")
    run.read_config(), run.ledger, run.log("collector", 3)
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "config.json"
        self.env = root / "env.json"
        self.layout = root / "layout"
        self.ledger = root / "ledger.sqlite"
        self.archive = self.ledger.with_name(ARCHIVE)
        self.fold = root / "fold.checkpoint"
        self.lock = root / "lock"
        self.rendezvous = self._rendezvous_of("coordinator")
        self.snapshots = root / "snapshots"
        self.checkpoints = root / "checkpoints"
        self.replays = root / "replays"
        self.keys = root / "keys"
        self.logs = root / "logs"
        self.journals = root / "journals"
        self.slurm = root / "slurm"
        self.jobs = self.slurm / "jobs.json"
        self.ended = self.slurm / "ended"
        self.track = root / "track"
        self.report = root / "report"
        self.videos = root / "videos"
        self.probes = root / "probes"
        self.probe_report = root / "probe.json"  # of a run that is a probe

    @property
    def name(self) -> str:
        """The name of this run."""
        return self.root.name

    def log(self, role: str, index: int) -> Path:
        """Return the path of a process's log."""
        return self.logs / f"{role}-{index}.log"

    def open_log(self, role: str, index: int) -> BinaryIO:
        """Open a process's log to append to it; raise RunError if it is a link."""
        path = self.log(role, index)
        try:
            return open_append(path)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise RunError(f"{path} is a link, and logs are never written through one. Remove it") from error

    def journal(self, collector: str) -> Path:
        """Return the path of a collector's journal, which lists its acknowledged results."""
        return self.journals / f"{_name(collector)}.jsonl"

    def checkpoint(self, player: str) -> Path:
        """Return the path of the checkpoint from which a learner resumes this player."""
        return self.checkpoints / f"{quote(_name(player), safe='')}.safetensors"

    def replays_of(self, player: str) -> Path:
        """Return the folder of the replays that are kept of this player (`learner.keep_replay`)."""
        return self.replays / quote(_name(player), safe="")

    def claim(self, process: str) -> Path:
        """Return the file by which a process claims its name: an older process of that name sees it and ends."""
        return self.root / "claims" / process

    def drop_claims(self) -> None:
        """Remove the claims of earlier processes, before a league starts again.

        Claims are ordered by job ids, which mean nothing on another cluster, or without one.
        """
        shutil.rmtree(self.root / "claims", ignore_errors=True)

    @property
    def sockets(self) -> Path:
        """The folder of the run's ipc sockets: a short path, however long the run's own path is."""
        digest = hashlib.sha256(os.fsencode(self.root.resolve())).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"ludus-{os.geteuid()}-{digest}"

    def address(self, process: str) -> str:
        """Return the ipc address of a process, which stays the same after a restart.

        >>> RunDirectory(Path("runs/first")).address("coordinator").startswith("ipc://")
        True
        """
        return f"ipc://{self.sockets}/{process}"

    def create(self) -> Self:
        """Create the directories of a run that do not exist yet; return the run."""
        for directory in (self.snapshots, self.checkpoints, self.logs, self.journals):
            directory.mkdir(parents=True, exist_ok=True)
        self.keys.mkdir(mode=0o700, exist_ok=True)
        if not self.layout.exists():
            publish(self.layout, f"{LAYOUT_VERSION}\n".encode())
        return self.check()

    def check(self) -> Self:
        """Return the run; raise RunError if the directory is not a run, or has another layout version."""
        if any("\ud800" <= character <= "\udfff" for character in self.name):  # how Python shows bytes that are no text
            raise RunError(f"the name of the directory {str(self.root)!r} is no text: rename it")
        try:
            found = read_text_of(self.layout).strip()
        except FileNotFoundError as error:
            raise RunError(
                f"{self.root} is not the directory of a run, or not a whole one: it has no file {self.layout.name!r}"
            ) from error
        if found != str(LAYOUT_VERSION):
            raise RunError(
                f"{self.root} has layout version {found[:20]!r}, this Ludus reads version {LAYOUT_VERSION}; "
                "use the Ludus that made the run, or start a new one"
            )
        return self

    def refuse_lost_ledger(self) -> None:
        """Raise RunError if a league was played here, but its ledger is gone: another league would begin over it."""
        if self.ledger.exists():
            return
        traces = [self.fold, *(f for d in (self.archive, self.journals, self.checkpoints) for f in sorted(d.glob("*")))]
        for trace in traces:
            if trace.is_file() and trace.stat().st_size:
                raise RunError(
                    f"the ledger of the run {self.name} is lost: there is no {self.ledger}, but {trace} is of a league "
                    f"that was played here. Put {self.ledger.name} back, or start a new run under another name="
                )

    def refuse_links(self) -> None:
        """Raise RunError if a link leads out of the run: a resumed league would write to its target."""
        for path in leading_out(self.root.resolve(), self.root):
            raise RunError(
                f"{path} is a link to {path.readlink()}, outside of the run, and a resumed league would write "
                f"there. Replace the link by its target, or, if the link is yours: ludus resume {self.name} --trust"
            )

    def inside(self, folder: Path) -> Path:
        """Return a folder of the run that a command writes into; raise RunError if a link leads out of the run."""
        for path in leading_out(folder, self.root):
            raise RunError(
                f"{path} leads to {_target(path)}, outside of the run, and this command would read or write there. "
                "Remove the link, or choose another folder with --out if the command has it"
            )
        return folder

    def refuse_foreign_files(self) -> None:
        """Raise RunError if files lie where a new run is to be: it would take them for its own.

        A start that was killed leaves a lock, the layout, empty folders and parts of files.
        """
        lacking = self.config if self.layout.exists() else self.layout
        for above, _, files in os.walk(self.root):
            for path in (Path(above) / name for name in files):
                if path not in (self.lock, self.layout) and not path.name.startswith(PART):
                    raise RunError(
                        f"{self.root} has a file {path.relative_to(self.root)}, but no file {lacking.name}: it is "
                        "not a whole run. Choose another name=, or remove the directory"
                    )

    @classmethod
    def find(cls, text: str, runs: Path = Path("runs")) -> Self:
        """Return the run of a name or a path; `latest` is the league whose config was written last.

        Tournaments are runs, too; `latest` is one of them only if there is no league.
        """
        known = {path.parent.name: path for path in runs.glob("*/config.json") if cls(path.parent).layout.exists()}
        if text == LATEST and known:
            newest = sorted(known.values(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
            return cls(next((path for path in newest if not _is_tournament(path)), newest[0]).parent).check()
        for found in (cls(runs / text), cls(Path(text))) if text else ():
            if found.layout.exists() and not found.config.exists() and not found.ledger.exists():
                raise RunError(
                    f"the start of {found.root} was cut off before it had a config: start it again (ludus run "
                    f"name={found.name} ...), or remove the directory"
                )
            if found.layout.exists() or found.config.exists() or found.ledger.exists():
                return found.check()
        there = f"Runs in {runs}: {', '.join(sorted(known))}. Give a name, a path or 'latest'."
        nothing = f"There are no runs in {runs}: start one with ludus run, or give the path of one."
        raise RunError(f"there is no run {text!r}. {there if known else nothing}")

    def write_config(self, resolved: dict[str, Any]) -> Hash:
        """Write the resolved config; return its hash, which the ledger records."""
        data = json.dumps(resolved, indent=2, sort_keys=True, allow_nan=False).encode() + b"\n"
        publish(self.config, data)
        return Hash(hashlib.sha256(data).hexdigest())

    def read_config(self) -> dict[str, Any]:
        """Return the resolved config."""
        return _read_json(self.config, dict[str, Any])

    def config_hash(self) -> Hash:
        """Return the hash of the config file."""
        return Hash(hashlib.sha256(read_regular(self.config, limits.SMALL_FILE)).hexdigest())

    def publish_rendezvous(self, rendezvous: Rendezvous, process: str = "coordinator") -> None:
        """Publish the address of the coordinator, or of another process."""
        publish(self._rendezvous_of(process), msgspec.json.encode(rendezvous))

    def read_rendezvous(self, process: str = "coordinator") -> Rendezvous | None:
        """Return the published address of the coordinator, or of another process; None if it never started."""
        path = self._rendezvous_of(process)
        return _read_json(path, Rendezvous) if path.exists() else None

    def _rendezvous_of(self, process: str) -> Path:
        return self.root / f"{process}.json"


class _RoundsOfConfig(msgspec.Struct):
    rounds: int | None = None
    until: float | None = None


class _RulesOfConfig(msgspec.Struct):
    tournament: _RoundsOfConfig = msgspec.field(default_factory=_RoundsOfConfig)


class _StoredConfig(msgspec.Struct):
    league: _RulesOfConfig = msgspec.field(default_factory=_RulesOfConfig)


def _is_tournament(config: Path) -> bool:
    """Whether nobody learns in the run of a config; a damaged one is reported when it is read."""
    try:
        found = read_json(config, _StoredConfig).league.tournament
        return found.rounds is not None or found.until is not None
    except (OSError, msgspec.MsgspecError, IrregularFile):
        return False


def leading_out(folder: Path, root: Path) -> Iterator[Path]:
    """Yield the folder itself if it lies outside of the root, then every link in it that leads out of the root."""
    root = _target(root)
    if not _target(folder).is_relative_to(root):
        yield folder
    for above, below, files in os.walk(folder):
        for path in (Path(above) / name for name in (*below, *files)):
            if path.is_symlink() and not _target(path).is_relative_to(root):
                yield path


def _target(path: Path) -> Path:
    """Return where a path leads; Path.resolve() raises RuntimeError for links that lead in a circle."""
    return Path(os.path.realpath(path))


def _name(text: str) -> str:
    """Return the name of a player or a process; raise RunError if it is unsafe in a path.

    It may come from the ledger of another user.
    """
    if not text or text.startswith(".") or "/" in text or "\0" in text:
        raise RunError(f"{text[:80]!r} cannot name a player or a process: its files would lie elsewhere. Rename it")
    return text


def _read_json(path: Path, kind: type[Content]) -> Content:
    try:
        return read_json(path, kind)
    except (msgspec.DecodeError, FileNotFoundError) as error:
        raise RunError(f"cannot read {path}: {error}. Was it edited or copied by hand?") from error
