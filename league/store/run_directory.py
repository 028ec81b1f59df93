"""Every file name of a run, in one place."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

import msgspec

from league.errors import InputError
from league.ids import Hash
from league.store.files import publish
from league.store.ledger import ARCHIVE

LAYOUT_VERSION = 1
Content = TypeVar("Content")


class RunError(InputError):
    """A run that is not there, or cannot be read."""


class Rendezvous(msgspec.Struct, frozen=True, kw_only=True):
    """Where the coordinator of this term, or a learner, listens; `public_key` is that of the server, None on ipc."""

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
        self.keys = root / "keys"
        self.logs = root / "logs"
        self.journals = root / "journals"
        self.slurm = root / "slurm"
        self.jobs = self.slurm / "jobs.json"
        self.ended = self.slurm / "ended"
        self.track = root / "track"
        self.report = root / "report"
        self.videos = root / "videos"

    @property
    def name(self) -> str:
        """What people call this run."""
        return self.root.name

    def log(self, role: str, index: int) -> Path:
        """Where a process writes its log."""
        return self.logs / f"{role}-{index}.log"

    def journal(self, collector: str) -> Path:
        """Where a collector notes which results were acknowledged."""
        return self.journals / f"{_name(collector)}.jsonl"

    def checkpoint(self, player: str) -> Path:
        """Where a learner keeps what it needs to go on with this player."""
        return self.checkpoints / f"{quote(_name(player), safe='')}.safetensors"

    def claim(self, process: str) -> Path:
        """Where a process notes that it is the one of that name: an older one that still runs sees it and leaves."""
        return self.root / "claims" / process

    def drop_claims(self) -> None:
        """Forget whose names are whose: a league that starts again owes nothing to its earlier processes.

        Claims are ordered by the ids of jobs, which mean nothing on another cluster, or on this machine without one.
        """
        shutil.rmtree(self.root / "claims", ignore_errors=True)

    @property
    def sockets(self) -> Path:
        """Where processes on this machine meet: a short path, however long that of the run."""
        digest = hashlib.sha256(os.fsencode(self.root.resolve())).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"ludus-{os.geteuid()}-{digest}"

    def address(self, process: str) -> str:
        """Return the ipc address of a process: the same after a restart.

        >>> RunDirectory(Path("runs/first")).address("coordinator").startswith("ipc://")
        True
        """
        return f"ipc://{self.sockets}/{process}"

    def create(self) -> Self:
        """Make the directories of a run; harmless if it is there already."""
        for directory in (self.snapshots, self.checkpoints, self.logs, self.journals):
            directory.mkdir(parents=True, exist_ok=True)
        self.keys.mkdir(mode=0o700, exist_ok=True)
        if not self.layout.exists():
            publish(self.layout, f"{LAYOUT_VERSION}\n".encode())
        return self.check()

    def check(self) -> Self:
        """Refuse a directory that is no run or was laid out by another version."""
        try:
            found = self.layout.read_text().strip()
        except FileNotFoundError as error:
            raise RunError(f"{self.root} is not the directory of a run: it has no file {self.layout.name!r}") from error
        if found != str(LAYOUT_VERSION):
            raise RunError(
                f"{self.root} has layout version {found[:20]!r}, this Ludus reads version {LAYOUT_VERSION}; "
                "use the Ludus that made the run, or start a new one"
            )
        return self

    def refuse_links(self) -> None:
        """Refuse a run whose links lead elsewhere: what is written into it would be written there."""
        for path in self._leading_out(self.root.resolve()):
            raise RunError(
                f"{path} is a link to {path.readlink()}, outside of the run, and a league that goes on would "
                f"write there. Put what it leads to in its place, or, if it is yours: ludus resume {self.name} --trust"
            )

    def inside(self, folder: Path) -> Path:
        """Return a folder of the run that a command writes into; refuse it if links lead it out of the run."""
        for path in self._leading_out(folder):
            raise RunError(
                f"{path} leads to {path.resolve()}, outside of the run, and this command would read or write there. "
                "Remove the link, or name a folder of your own with --out if the command has it"
            )
        return folder

    def _leading_out(self, folder: Path) -> Iterator[Path]:
        """Yield the folder itself, and what is in it, if they lie outside of the run."""
        root = self.root.resolve()
        if not folder.resolve().is_relative_to(root):
            yield folder
        for above, below, files in os.walk(folder):
            for path in (Path(above) / name for name in (*below, *files)):
                if path.is_symlink() and not path.resolve().is_relative_to(root):
                    yield path

    @classmethod
    def find(cls, text: str, runs: Path = Path("runs")) -> Self:
        """Return the run that a user means by a name, a path, or `latest`."""
        known = {path.parent.name: path for path in runs.glob("*/config.json")}
        if text == "latest" and known:
            return cls(max(known.values(), key=lambda path: path.stat().st_mtime_ns).parent).check()
        for root in (runs / text, Path(text)):
            if text and root.is_dir() and (root / "layout").exists():
                return cls(root).check()
        listed = ", ".join(sorted(known)) if known else "none"
        raise RunError(f"there is no run {text!r}. Runs in {runs}: {listed}. Give a name, a path or 'latest'.")

    def write_config(self, resolved: dict[str, Any]) -> Hash:
        """Write the resolved config and return its hash, which the ledger keeps."""
        data = json.dumps(resolved, indent=2, sort_keys=True, allow_nan=False).encode() + b"\n"
        publish(self.config, data)
        return Hash(hashlib.sha256(data).hexdigest())

    def read_config(self) -> dict[str, Any]:
        """Return the resolved config as it was written."""
        return _read_json(self.config, dict[str, Any])

    def config_hash(self) -> Hash:
        """Return the hash of the config as it is on the disk."""
        return Hash(hashlib.sha256(self.config.read_bytes()).hexdigest())

    def publish_rendezvous(self, rendezvous: Rendezvous, process: str = "coordinator") -> None:
        """Tell everybody where the coordinator, or another process, listens from now on."""
        publish(self._rendezvous_of(process), msgspec.json.encode(rendezvous))

    def read_rendezvous(self, process: str = "coordinator") -> Rendezvous | None:
        """Return where the coordinator, or another process, listens; None if it has not started yet."""
        path = self._rendezvous_of(process)
        return _read_json(path, Rendezvous) if path.exists() else None

    def _rendezvous_of(self, process: str) -> Path:
        return self.root / f"{process}.json"


def _name(text: str) -> str:
    """Return the name of a player or a process if it can be that of a file: it may come from a stranger's ledger."""
    if not text or text.startswith(".") or "/" in text or "\0" in text:
        raise RunError(f"{text[:80]!r} cannot name a player or a process: its files would lie elsewhere. Rename it")
    return text


def _read_json(path: Path, kind: type[Content]) -> Content:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, FileNotFoundError) as error:
        raise RunError(f"cannot read {path}: {error}. Was it edited or copied by hand?") from error
