"""The pool: every player that ever was, and the questions that matchmakers and rules ask of it."""

from collections.abc import Iterable, Iterator

from league.ids import PlayerId
from league.player import EXPLOITERS, Kind, Player


class Population:
    """Players by id, in order of arrival. Only the fold adds to it."""

    def __init__(self, players: Iterable[Player] = ()) -> None:
        self._players: dict[PlayerId, Player] = {}
        # Kept beside, because matchmakers ask for them at every ticket and the pool only grows.
        self._of_kind: dict[Kind, list[Player]] = {}
        self._frozen_of: dict[PlayerId, list[Player]] = {}
        self._learning: list[Player] = []
        self._anchors: list[Player] = []
        for player in players:
            self.add(player)

    def add(self, player: Player) -> None:
        """Add a player; its id must be new and its parent known."""
        if player.id in self._players:
            raise ValueError(f"there is already a player {player.id!r}")
        if player.parent is not None and player.parent not in self._players:
            raise ValueError(f"player {player.id!r} has an unknown parent {player.parent!r}")
        self._players[player.id] = player
        self._of_kind.setdefault(player.kind, []).append(player)
        if player.learning:
            self._learning.append(player)
        if player.anchor is not None:
            self._anchors.append(player)
        if player.kind == Kind.FROZEN and player.parent is not None:
            self._frozen_of.setdefault(player.parent, []).append(player)

    def __getitem__(self, player: PlayerId) -> Player:
        return self._players[player]

    def __contains__(self, player: object) -> bool:
        return player in self._players

    def __iter__(self) -> Iterator[Player]:
        return iter(self._players.values())

    def __len__(self) -> int:
        return len(self._players)

    def learning(self) -> list[Player]:
        """Players that a learner trains."""
        return list(self._learning)

    def of_kind(self, kind: Kind) -> list[Player]:
        """Players of one kind."""
        return list(self._of_kind.get(kind, ()))

    def frozen(self) -> list[Player]:
        """Every frozen player, oldest first."""
        return self.of_kind(Kind.FROZEN)

    def frozen_of(self, parent: PlayerId) -> list[Player]:
        """Return the frozen pasts of one learning player, oldest first."""
        return list(self._frozen_of.get(parent, ()))

    def frozen_exploiters(self) -> list[Player]:
        """Frozen players whose parent is an exploiter."""
        return [p for p in self.frozen() if p.parent is not None and self[p.parent].kind in EXPLOITERS]

    def anchors(self) -> list[Player]:
        """Players with a pinned rating."""
        return list(self._anchors)
