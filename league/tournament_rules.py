"""The settings of a tournament: a league in which nobody learns, and everybody meets everybody."""

from dataclasses import dataclass, field

MOST_ROUNDS = 2000  # of a pair, where only a half-width ends it


@dataclass(kw_only=True, slots=True)
class TournamentConfig:
    """How often the players of a tournament meet. `ludus tournament` sets it; null and null: this is no tournament."""

    rounds: int | None = None  # turns of each pair, in which both have every seat once
    until: float | None = None  # half of the 95 % interval that every rating must reach; rounds is then the most
    against: list[str] = field(default_factory=list)  # a gauntlet: all others meet only these; empty: all meet all

    def __post_init__(self) -> None:
        """Refuse a tournament without games, or without an end."""
        if self.rounds is not None and self.rounds < 1:
            raise ValueError(f"tournament.rounds must be at least 1, got {self.rounds}")
        if self.until is not None and not self.until > 0:
            raise ValueError(f"tournament.until must be positive, got {self.until}")

    @property
    def enabled(self) -> bool:
        """Whether the league is a tournament."""
        return self.rounds is not None or self.until is not None

    @property
    def most(self) -> int:
        """The number of rounds of a pair, at most.

        >>> TournamentConfig(rounds=5).most, TournamentConfig(until=10.0).most
        (5, 2000)
        """
        return MOST_ROUNDS if self.rounds is None else self.rounds

    def levels(self) -> list[int]:
        """Return the rounds after which it is checked whether all ratings are precise enough; the last ends it.

        >>> TournamentConfig(rounds=5).levels(), TournamentConfig(until=10.0, rounds=40).levels()
        ([5], [8, 12, 18, 27, 40])
        """
        if self.until is None:
            return [self.most]
        found = [min(8, self.most)]
        while found[-1] < self.most:
            found.append(min(self.most, found[-1] * 3 // 2))
        return found
