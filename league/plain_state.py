"""The plain part of a league's state, declared once: the state inherits it, and a checkpoint contains it unchanged."""

from dataclasses import dataclass, field
from typing import TypeVar

from league.events import CandidateWritten
from league.ids import Hash, PlayerId
from league.spec import EnvSpec
from league.variant_scores import VariantScores

TRAINING, FINAL, OVER = "training", "final", "over"
NOT_FOUNDED = Hash("")

Key = TypeVar("Key")


class Tally(dict[Key, int]):
    """Counts by key, 0 for a missing key. Adding to one takes half the time that it takes with a Counter."""

    def __missing__(self, key: Key) -> int:
        return 0


@dataclass(kw_only=True)
class PlainState:
    """Values, mappings and counts. Every checkpoint contains them: when you add a field, raise FOLD_VERSION."""

    seed: int = 0
    config_hash: Hash = NOT_FOUNDED
    env: EnvSpec | None = None
    payoff_by: str = "outcome"  # or return: what counts as better in this league
    keeps_returns: bool = False  # beside scores: the game is not zero-sum, or its roles differ
    term: int = 0
    phase: str = TRAINING
    why: str = ""
    paused: bool = False

    candidates: dict[PlayerId, CandidateWritten] = field(default_factory=dict)
    initial: dict[PlayerId, Hash] = field(default_factory=dict)
    starts: dict[PlayerId, Hash] = field(default_factory=dict)  # of incarnations that did not begin at initial weights
    incarnations: dict[PlayerId, int] = field(default_factory=dict)
    frozen_at: dict[PlayerId, int] = field(default_factory=dict)  # decisions when it was last frozen or reset
    exploits: dict[PlayerId, dict[PlayerId, float]] = field(default_factory=dict)  # scores of frozen exploiters
    previous: dict[PlayerId, Hash] = field(default_factory=dict)  # the candidate before the newest one
    kept: dict[PlayerId, list[Hash]] = field(default_factory=dict)  # candidates that were not pruned

    tickets: int = 0
    asked: Tally[PlayerId] = field(default_factory=Tally)  # training episodes issued for each learning player
    trained_episodes: Tally[PlayerId] = field(default_factory=Tally)  # of these, the ones that were counted,
    trained_steps: Tally[PlayerId] = field(default_factory=Tally)  # and their env steps
    results: Tally[str] = field(default_factory=Tally)  # tickets by purpose
    episodes: Tally[str] = field(default_factory=Tally)
    steps: Tally[str] = field(default_factory=Tally)
    games: Tally[PlayerId] = field(default_factory=Tally)
    outstanding: Tally[str] = field(default_factory=Tally)  # episodes of open tickets, by purpose
    evaluated: Tally[PlayerId] = field(default_factory=Tally)  # evaluation episodes, halved with each new candidate
    voids: int = 0
    voids_in_a_row: int = 0
    quarantined: dict[str, str] = field(default_factory=dict)  # collectors that get no tickets in this term, and why
    variants: VariantScores = field(default_factory=dict)  # of training games, where the environment has variants
    damaged: str = ""  # the first damage of the ledger that this term found
