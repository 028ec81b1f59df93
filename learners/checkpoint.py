"""Checkpoints: what a learner needs to continue a player after a restart. Collectors never see them.

    save(path, checkpoint)              # atomic, and durable when it returns
    checkpoint = load(path)             # None if there is none; CheckpointError if it is damaged

One safetensors file with JSON inside: loading it executes nothing.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import safetensors.numpy

from league import limits
from league.errors import InputError
from league.ids import Hash, PlayerId
from league.policies.layout import plain_policy, policy_from
from league.store.files import publish
from league.store.regular_file import IrregularFile, read_regular
from league.store.snapshots import metadata_of

KEY, DIGEST = "ludus", "sha256"
REMEDY = "Restore it from a copy, or delete it: then the player trains on from its start snapshot."


class CheckpointError(InputError):
    """A checkpoint that cannot be used."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """The state of one player in training when its newest candidate was written."""

    player: PlayerId
    incarnation: int
    version: int
    decisions: int  # trained on in all incarnations
    candidate: Hash
    algorithm: str
    policy: dict[str, Any]
    signature: str
    rng: dict[str, Any]  # state of the bit generator
    arrays: Mapping[str, npt.NDArray[Any]]  # weights, moments and counters of the algorithm
    began: float = 0.0  # share of the league's budget spent when the incarnation began,
    spent: float = 0.0  # and when this was written
    cpu_seconds: float = 0.0  # of updates, in all incarnations

    def refuse_other(self, algorithm: str, policy: dict[str, Any], signature: str) -> None:
        """Raise CheckpointError unless it was written by this algorithm for this network and environment.

        Fields of a network that the checkpoint does not know yet had their defaults when it was written.
        """
        mine = {"algorithm": self.algorithm, "environment signature": self.signature}
        asked = {"algorithm": algorithm, "environment signature": signature}
        try:
            written = plain_policy(policy_from(self.policy))
        except ValueError as error:
            raise CheckpointError(f"the checkpoint of player {self.player!r}: {error}. {REMEDY}") from error
        mine |= {f"policy.{name}": value for name, value in written.items()}
        asked |= {f"policy.{name}": value for name, value in plain_policy(policy_from(policy)).items()}
        for what in {**mine, **asked}:
            if (found := mine.get(what)) != asked.get(what):
                raise CheckpointError(
                    f"the checkpoint of player {self.player!r} was written under {what} {found}, but the config "
                    f"says {asked.get(what)}. Resume with the config of the run, or start a new run."
                )


def save(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; it replaces the older one."""
    about = {name: getattr(checkpoint, name) for name in Checkpoint.__slots__ if name != "arrays"}
    arrays = {name: np.asarray(array, order="C") for name, array in checkpoint.arrays.items()}
    text = json.dumps(about, sort_keys=True)
    metadata = {KEY: text, DIGEST: _digest(text, arrays)}
    path.parent.mkdir(parents=True, exist_ok=True)
    publish(path, safetensors.numpy.save(arrays, metadata=metadata))


def load(path: Path) -> Checkpoint | None:
    """Return the checkpoint in this file; None if there is no such file."""
    try:
        data = read_regular(path, limits.STATE_FILE)
    except FileNotFoundError:
        return None
    except IrregularFile as error:
        raise CheckpointError(f"{error}. {REMEDY}") from error
    try:
        arrays = safetensors.numpy.load(data)
        header = metadata_of(data)
        intact = header[DIGEST] == _digest(header[KEY], arrays)
        about = json.loads(header[KEY])
        checkpoint = msgspec.convert({**about, "arrays": {}}, Checkpoint)
    except Exception as error:  # a torn or foreign file can raise anything
        raise CheckpointError(f"{path} is no checkpoint ({error}). {REMEDY}") from error
    if not intact:
        raise CheckpointError(f"{path} is damaged: its bytes are not those that were written. {REMEDY}")
    return Checkpoint(**{name: getattr(checkpoint, name) for name in about}, arrays=arrays)


def _digest(text: str, arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}/{array.dtype}/{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
