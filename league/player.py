"""Players: the members of a league."""

from enum import StrEnum

import msgspec

from league.ids import Hash, PlayerId


class Kind(StrEnum):
    """What a player is. It is a field of the player and is never parsed out of its name."""

    MAIN = "main"
    MAIN_EXPLOITER = "main_exploiter"
    LEAGUE_EXPLOITER = "league_exploiter"
    FROZEN = "frozen"
    SCRIPTED = "scripted"
    HUMAN = "human"


LEARNING = frozenset({Kind.MAIN, Kind.MAIN_EXPLOITER, Kind.LEAGUE_EXPLOITER})
EXPLOITERS = frozenset({Kind.MAIN_EXPLOITER, Kind.LEAGUE_EXPLOITER})


class Player(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A member of the league: learning, frozen, scripted or human.

    A frozen player has a parent (the learning player it was frozen from) and the hash of its snapshot.
    A scripted player has the name of its bot. An anchor has a pinned rating.
    """

    id: PlayerId
    kind: Kind
    role: str | None = None
    parent: PlayerId | None = None
    snapshot: Hash | None = None
    bot: str | None = None
    anchor: float | None = None
    rate: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a player that contradicts itself."""
        if (self.kind == Kind.FROZEN) != (self.snapshot is not None):
            raise ValueError(f"player {self.id!r}: a frozen player, and only a frozen one, names its snapshot")
        if (self.kind == Kind.SCRIPTED) != (self.bot is not None):
            raise ValueError(f"player {self.id!r}: a scripted player, and only a scripted one, names its bot")
        if self.learning and self.anchor is not None:
            raise ValueError(f"player {self.id!r}: a learning player cannot be an anchor")
        if self.rate < 0:
            raise ValueError(f"player {self.id!r}: rate must not be negative, got {self.rate}")

    @property
    def learning(self) -> bool:
        """Whether a learner trains this player."""
        return self.kind in LEARNING
