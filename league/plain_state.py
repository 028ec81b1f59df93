"""The plain part of a league's state, declared once: the state inherits it, and a checkpoint holds it as it is."""

from dataclasses import dataclass, field
from typing import TypeVar

from league.events import CandidateWritten
from league.ids import Hash, PlayerId
from league.spec import EnvSpec

TRAINING, FINAL, OVER = "training", "final", "over"
NOT_FOUNDED = Hash("")

Key = TypeVar("Key")


class Tally(dict[Key, int]):
    """Counts by key, 0 where nothing was counted. Adding to one costs half of what it costs with a Counter."""

    def __missing__(self, key: Key) -> int:
        return 0


@dataclass(kw_only=True)
class PlainState:
    """Values, mappings and counts. A field added here is in every checkpoint: raise FOLD_VERSION with it."""

    seed: int = 0
    config_hash: Hash = NOT_FOUNDED
    env: EnvSpec | None = None
    term: int = 0
    phase: str = TRAINING
    why: str = ""
    paused: bool = False

    candidates: dict[PlayerId, CandidateWritten] = field(default_factory=dict)
    initial: dict[PlayerId, Hash] = field(default_factory=dict)
    incarnations: dict[PlayerId, int] = field(default_factory=dict)
    frozen_at: dict[PlayerId, int] = field(default_factory=dict)  # decisions when it was last frozen or reset
    latest: dict[PlayerId, dict[PlayerId, list[int]]] = field(default_factory=dict)  # wins, draws, losses of the newest
    kept: dict[PlayerId, list[Hash]] = field(default_factory=dict)  # candidates that are still in the store

    tickets: int = 0
    asked: Tally[PlayerId] = field(default_factory=Tally)  # training episodes handed out for each learning player
    results: Tally[str] = field(default_factory=Tally)  # tickets by purpose
    episodes: Tally[str] = field(default_factory=Tally)
    steps: Tally[str] = field(default_factory=Tally)
    games: Tally[PlayerId] = field(default_factory=Tally)
    outstanding: Tally[str] = field(default_factory=Tally)  # episodes handed out and not settled, by purpose
    evaluated: Tally[PlayerId] = field(default_factory=Tally)  # evaluation episodes; of older candidates count less
    voids: int = 0
    voids_in_a_row: int = 0
    quarantined: dict[str, str] = field(default_factory=dict)  # collectors that get no tickets in this term, and why
    damaged: str = ""  # what this term found to be wrong with the ledger first
