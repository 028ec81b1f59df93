"""The pool: every player that ever joined, and the queries of matchmakers and rules."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping

from league.ids import PlayerId
from league.player import Player, Status


class Population:
    """Players by id, in the order in which they joined. Only the fold adds players."""

    def __init__(self, players: Iterable[Player] = (), begun: Mapping[PlayerId, int] | None = None) -> None:
        self._players: dict[PlayerId, Player] = {}
        self.begun = dict(begun or {})  # how many players there were when one was last frozen or reset
        # Indexes, because matchmakers need these lists for every ticket and the pool only grows.
        self._frozen: list[Player] = []
        self._frozen_of: dict[PlayerId, list[Player]] = {}
        self._places: dict[PlayerId, list[int]] = {}  # of these: how many players there were with each
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
                self._places.setdefault(player.parent, []).append(len(self._players))

    def begin(self, player: PlayerId) -> None:
        """Note that a learning player was frozen or reset: from now on it has another quarry."""
        self.begun[player] = len(self._players)

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

    def quarry(self, player: PlayerId, rival: PlayerId) -> Player | None:
        """Return the newest frozen player of a rival at a player's last freeze or reset: a target that holds still."""
        place = bisect_right(self._places.get(rival, ()), self.begun.get(player, 0))
        return self._frozen_of[rival][place - 1] if place else None

    def anchors(self) -> list[Player]:
        """Return the players with a pinned rating."""
        return list(self._anchors)
