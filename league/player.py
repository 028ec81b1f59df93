"""Players: the members of a league."""

from enum import StrEnum

import msgspec

from league.ids import Hash, PlayerId

FROZEN, SCRIPTED, MIXTURE, HUMAN = "frozen", "scripted", "mixture", "human"  # kinds that no row of `league.kinds` has
NOT_LEARNING = frozenset({SCRIPTED, MIXTURE, HUMAN})


class Status(StrEnum):
    """What a player is. Its kind says by which rules it plays."""

    LEARNING = "learning"
    FROZEN = "frozen"
    SCRIPTED = "scripted"
    MIXTURE = "mixture"
    HUMAN = "human"


class Player(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A member of the league: learning, frozen, scripted, a mixture or human.

    `kind` names the row of `league.kinds` whose rules a learning player follows; it may start from a snapshot. A frozen
    player has the hash of its snapshot; it keeps the kind of its parent (the learning player it was frozen from), or
    came from a file. A scripted player has the name of its bot. A mixture has members with their shares: players, or
    `PARENT.*` for all frozen players of PARENT, which divide it evenly. An anchor has a pinned rating. Kinds are
    fields, and are never parsed out of a name.
    """

    id: PlayerId
    kind: str
    role: str | None = None
    parent: PlayerId | None = None
    snapshot: Hash | None = None
    start: Hash | None = None
    bot: str | None = None
    anchor: float | None = None
    rate: float = 1.0
    members: tuple[tuple[PlayerId, float], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a player that contradicts itself."""
        if self.snapshot is not None and self.kind in NOT_LEARNING:
            raise ValueError(f"player {self.id!r}: a {self.kind} player has no weights, so it names no snapshot")
        if self.kind == FROZEN and self.snapshot is None:
            raise ValueError(f"player {self.id!r}: a frozen player names its snapshot")
        if (self.kind == SCRIPTED) != (self.bot is not None):
            raise ValueError(f"player {self.id!r}: a scripted player, and only a scripted one, names its bot")
        if self.start is not None and not self.learning:
            raise ValueError(f"player {self.id!r}: only a learning player starts from a snapshot")
        if (self.kind == MIXTURE) != bool(self.members):
            raise ValueError(f"player {self.id!r}: a mixture, and only a mixture, names its members")
        if self.learning and self.anchor is not None:
            raise ValueError(f"player {self.id!r}: a learning player cannot be an anchor")
        if self.rate < 0:
            raise ValueError(f"player {self.id!r}: rate must not be negative, got {self.rate}")

    @property
    def status(self) -> Status:
        """What the player is: with a snapshot it is frozen, with a bot scripted."""
        if self.snapshot is not None:
            return Status.FROZEN
        if self.kind in NOT_LEARNING:
            return Status(self.kind)
        return Status.LEARNING

    @property
    def learning(self) -> bool:
        """Whether a learner trains this player."""
        return self.snapshot is None and self.kind not in NOT_LEARNING

    @property
    def label(self) -> str:
        """What tables call the player: frozen, or its kind.

        >>> Player(id=PlayerId("main.0"), kind="main", snapshot=Hash("ab")).label
        'frozen'
        """
        return Status.FROZEN.value if self.snapshot is not None else self.kind
