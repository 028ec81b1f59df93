"""The pool: every player that ever joined, and the queries of matchmakers and rules."""

from collections.abc import Collection, Iterable, Iterator

from league.ids import PlayerId
from league.player import Player, Status


class Population:
    """Players by id, in the order in which they joined. Only the fold adds players."""

    def __init__(self, players: Iterable[Player] = ()) -> None:
        self._players: dict[PlayerId, Player] = {}
        # Indexes, because matchmakers need these lists for every ticket and the pool only grows.
        self._frozen: list[Player] = []
        self._frozen_of: dict[PlayerId, list[Player]] = {}
        self._learning: list[Player] = []
        self._anchors: list[Player] = []
        for player in players:
            self.add(player)

    def add(self, player: Player) -> None:
        """Add a player; raise ValueError if its id is not new or its parent is unknown."""
        if player.id in self._players:
            raise ValueError(f"there is already a player {player.id!r}")
        if player.parent is not None and player.parent not in self._players:
            raise ValueError(f"player {player.id!r} has an unknown parent {player.parent!r}")
        self._players[player.id] = player
        if player.learning:
            self._learning.append(player)
        if player.anchor is not None:
            self._anchors.append(player)
        if player.status == Status.FROZEN:
            self._frozen.append(player)
            if player.parent is not None:
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
        """Return the players that learners train."""
        return list(self._learning)

    def learning_of(self, kinds: Collection[str]) -> list[Player]:
        """Return the learning players of some kinds."""
        return [p for p in self._learning if p.kind in kinds]

    def frozen(self) -> list[Player]:
        """Every frozen player, oldest first."""
        return list(self._frozen)

    def frozen_of(self, parent: PlayerId) -> list[Player]:
        """Return the frozen players of one learning player, oldest first."""
        return list(self._frozen_of.get(parent, ()))

    def anchors(self) -> list[Player]:
        """Return the players with a pinned rating."""
        return list(self._anchors)
