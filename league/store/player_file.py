"""A player as one file: its weights, and everything that is needed to play with them anywhere.

    write_player(Path("main.safetensors"), snapshot, card)
    found = read_player(Path("main.safetensors"))       # found.card, found.snapshot; raises PlayerFileError

The file is safetensors. Its metadata has one entry with the manifest of the snapshot, the card, and a hash of the card,
which names that of the snapshot. The snapshot is whole: written into a store again, it has the hash that it had in its
run. A file may come from anybody: reading it decodes typed data, and executes nothing.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import safetensors.numpy

from league import limits
from league.agent_spaces import LARGEST_SPACE, MOST_AXES, AgentSpaces, check_sizes
from league.errors import LudusError
from league.ids import Hash
from league.spec import EnvSpec
from league.store.files import publish
from league.store.plain_json import decode_json
from league.store.regular_file import IrregularFile, open_regular, read_regular
from league.store.snapshots import Manifest, Snapshot, metadata_of, snapshot_bytes

FORMAT = 1
MOST_PARTS = 1 << 12  # agents of a game, or parts of an observation: a file may claim anything
KEY = "ludus_player"  # of the entry in the metadata
TRUNCATED = "it is incomplete, or no player file at all. Copy it again, or write it with: ludus pack RUN PLAYER"
ALTERED = "{} was altered: its contents do not have the hash that it names. Get it again"


class PlayerFileError(LudusError):
    """A file that is no player, or none that this version can read; the message says what to do."""


class CardAnchor(msgspec.Struct, frozen=True, kw_only=True):
    """A player with a pinned rating that a rating refers to."""

    player: str
    rating: float
    bot: str | None = None
    snapshot: str | None = None


class CardRating(msgspec.Struct, frozen=True, kw_only=True):
    """How strong the player was in its league, or in a tournament since: a rating, its 95 % interval, its anchors."""

    rating: float
    low: float | None
    high: float | None
    games: float
    by: Literal["outcome", "return"]
    anchors: tuple[CardAnchor, ...] = ()


class ParentSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot that the weights descend from."""

    player: str
    snapshot: str
    decisions: int
    incarnation: int = 0


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a player comes from."""

    run: str
    event: int  # the number of the ledger's last event that was known when the player was packed
    config: str  # the hash of the run's config
    seed: int
    env_steps: int  # of the whole league, until then
    line: tuple[ParentSnapshot, ...] = ()  # the newest first
    rating: CardRating | None = None  # None: it has none
    versions: dict[str, str] = {}  # of Python and of packages


class PlayerCard(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a packed player but its weights and their manifest."""

    format: int = FORMAT
    player: str
    role: str | None = None  # None: it can take any seat
    snapshot: Hash
    env: dict[str, Any]  # the config of the environment: name, id, kwargs, wrappers ...
    spec: EnvSpec
    spaces: dict[str, AgentSpaces]  # by agent
    masks: bool | None = None  # whether options are illegal at times, so that acting needs a mask; None: not known
    provenance: Provenance
    requires: dict[str, str] = {}  # packages that the network needs, each with what pip installs
    licence: str = ""
    note: str = ""  # of whoever packed it: how it was made

    def __post_init__(self) -> None:
        """Raise ValueError if the parts contradict each other, or are larger than any real one."""
        if set(self.spaces) != set(self.spec.agents):
            raise ValueError(f"its spaces are those of {sorted(self.spaces)}, its agents {list(self.spec.agents)}")
        if self.role is not None and self.role not in self.spec.roles:
            raise ValueError(f"its role {self.role!r} is none of {sorted(set(self.spec.roles))}")
        self._check_sizes()
        if not isinstance(self.env.get("name"), str) or not isinstance(self.env.get("kwargs", {}), dict):
            raise ValueError("its environment has no name, or arguments that are none")

    def _check_sizes(self) -> None:
        """Raise ValueError if what follows from the sizes could not be held in memory: nothing of it is made before."""
        check_sizes(self.spaces)
        seen, agents = self.spec.observation, len(self.spec.agents)
        if max(agents, len(seen.structure)) > MOST_PARTS:
            raise ValueError(f"it has {agents} agents, and observations of {len(seen.structure)} parts")
        if len(seen.shape) > MOST_AXES:
            raise ValueError(f"its observations have {len(seen.shape)} axes")
        sizes = (*seen.shape, self.spec.actions, self.spec.continuous)
        if min(sizes) < 0 or seen.size > LARGEST_SPACE or max(sizes) > LARGEST_SPACE:
            raise ValueError(f"its observations {seen.shape} or actions have impossible sizes")
        if agents * (self.spec.actions + self.spec.continuous) > LARGEST_SPACE:
            raise ValueError(f"its {agents} agents have {self.spec.actions:,} options each, which is too much")

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that the player can act for, by its role."""
        seats = [seat for seat in self.spec.seats if self.role in (None, seat.role)]
        return tuple(self.spec.agents[agent] for seat in seats for agent in seat.agents)


class _Sealed(msgspec.Struct, frozen=True, kw_only=True):
    manifest: Manifest
    card: msgspec.Raw
    sha256: str  # of the card, which names the hash of the snapshot


class _CardFormat(msgspec.Struct, frozen=True):
    format: int


@dataclass(frozen=True, slots=True)
class PlayerFile:
    """What a player file holds."""

    card: PlayerCard
    snapshot: Snapshot
    data: bytes  # of the snapshot alone, as its run has it

    @property
    def hash(self) -> Hash:
        """The hash of the snapshot."""
        return self.card.snapshot


def write_player(path: Path, snapshot: Snapshot, card: PlayerCard) -> None:
    """Write a player file; the same player gives the same bytes."""
    arrays = {name: np.asarray(snapshot.arrays[name], order="C") for name in sorted(snapshot.arrays)}
    body = msgspec.json.encode(card, order="sorted")
    sealed = _Sealed(manifest=snapshot.manifest, card=msgspec.Raw(body), sha256=hashlib.sha256(body).hexdigest())
    text = msgspec.json.encode(sealed, order="sorted").decode()
    publish(path, safetensors.numpy.save(arrays, metadata={KEY: text}))


def read_player(path: Path) -> PlayerFile:
    """Return what a player file holds; raise PlayerFileError, in one line, if it is damaged, changed or too new."""
    try:
        data = read_regular(path, limits.WEIGHTS_FILE)
    except FileNotFoundError as error:
        raise PlayerFileError(f"there is no file {path}") from error
    except IrregularFile as error:
        raise PlayerFileError(str(error)) from error
    try:
        sealed = decode_json(_metadata(path, data).encode(), _Sealed)
        _refuse_other_format(path, sealed.card)
        if hashlib.sha256(sealed.card).hexdigest() != sealed.sha256:
            raise PlayerFileError(ALTERED.format(path))
        card = msgspec.json.decode(sealed.card, type=PlayerCard)
        snapshot = Snapshot(safetensors.numpy.load(data), sealed.manifest)
        whole = snapshot_bytes(snapshot.arrays, snapshot.manifest)
    except PlayerFileError:
        raise
    except Exception as error:
        raise PlayerFileError(f"{path} cannot be read ({_short(error)}): {TRUNCATED}") from error
    if hashlib.sha256(whole).hexdigest() != card.snapshot:
        raise PlayerFileError(ALTERED.format(path))
    kinds = {name: (array.dtype.name, array.ndim) for name, array in snapshot.arrays.items()}
    if kinds != {"flat": ("float32", 1)}:
        raise PlayerFileError(f"{path} holds no weights of a player, but {str(kinds)[:200]}")
    for array in snapshot.arrays.values():
        array.flags.writeable = False
    return PlayerFile(card, snapshot, whole)


def is_player(path: Path) -> bool:
    """Whether a file names itself a packed player; a snapshot of a run does not."""
    try:
        with open_regular(path) as file:
            length = int.from_bytes(file.read(8), "little")
            return f'"{KEY}"'.encode() in file.read(min(length, 200))
    except (OSError, IrregularFile):
        return False


def _metadata(path: Path, data: bytes) -> str:
    """Return the entry of the metadata, before anything else of the file is read."""
    found = metadata_of(data)
    if KEY not in found:
        raise PlayerFileError(f"{path} is no packed player: it has no card. Write one with: ludus pack RUN PLAYER")
    return found[KEY]


def _refuse_other_format(path: Path, card: msgspec.Raw) -> None:
    found = msgspec.json.decode(card, type=_CardFormat).format
    if found != FORMAT:
        raise PlayerFileError(
            f"{path} has format {found}, this Ludus reads format {FORMAT}. Update it: "
            "pip install --upgrade ludus-league"
        )


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
