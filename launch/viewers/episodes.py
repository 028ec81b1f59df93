"""Episodic return and length: the means of the training episodes between two points of a curve."""

from collections.abc import Sequence

from league.ids import PlayerId
from league.ticket import Episode, Purpose, Ticket, total_return


class Episodes:
    """Gathers training episodes until somebody takes their means.

    episodes.add(ticket, event.episodes)
    episodes.take()                         # {"charts/episodic_length": 21.5, "charts/episodic_return/main": 0.25}
    """

    def __init__(self) -> None:
        self._returns: dict[PlayerId, tuple[float, int]] = {}  # the sum, and how many
        self._moves = self._episodes = 0

    def add(self, ticket: Ticket, episodes: Sequence[Episode]) -> None:
        """Count the episodes of a training ticket, for each player that it trains: its live weights played."""
        if ticket.purpose != Purpose.TRAIN or not ticket.trains:
            return
        for player in ticket.trains:
            mine = [i for i, entry in enumerate(ticket.entries) if entry.player == player]
            earned, count = self._returns.get(player, (0.0, 0))
            earned += sum(total_return(episode, mine) for episode in episodes)
            self._returns[player] = earned, count + len(episodes) * len(mine)
        self._moves += sum(episode.length for episode in episodes)
        self._episodes += len(episodes)

    def take(self) -> dict[str, float]:
        """Return the means under the names of their curves, and begin again; nothing if nothing was played."""
        values = {f"charts/episodic_return/{player}": s / n for player, (s, n) in self._returns.items() if n}
        if self._episodes:
            values["charts/episodic_length"] = self._moves / self._episodes
        self._returns, self._moves, self._episodes = {}, 0, 0
        return values
