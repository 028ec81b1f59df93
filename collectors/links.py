"""Links to learners: segments go out within the credit that the learner grants, weights come in by version."""

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId
from league.segment import Segments
from league.wire.messages import Credit, Host, Pull, Refused, SegmentsHead, Weights
from league.wire.ports import Client

log = logging.getLogger("ludus.collector")

PATIENCE = 1.0  # seconds before a pull is repeated
BACKLOG = 64  # messages kept while a learner does not read; then the oldest are dropped and counted


@dataclass(slots=True)
class Live:
    """What we know of a live player and its learner."""

    host: Host
    version: int = -1
    newest: int = 0  # the newest version that its learner told of
    allowance: int = 0
    sent: int = 0
    waiting: int = 0  # decisions in the backlog
    pulled_at: float = -PATIENCE


class Links:
    """One client for each learner address, one `Live` for each learning player."""

    def __init__(self, name: str, session: str, connect: Callable[[str], Client]) -> None:
        self._name, self._session, self._connect = name, session, connect
        self._clients: dict[str, Client] = {}
        self._backlog: list[Segments] = []
        self.live: dict[PlayerId, Live] = {}
        self.dropped = 0  # decisions that no learner would take

    def follow(self, hosts: Iterable[Host]) -> list[tuple[PlayerId, int]]:
        """Take over a new directory; return the players, with their old incarnation, that were reset."""
        reset = []
        for host in hosts:
            live = self.live.get(host.player)
            if live is None:
                self.live[host.player] = Live(host)
            elif live.host != host:
                if live.host.incarnation != host.incarnation:
                    reset.append((host.player, live.host.incarnation))
                    live.version = -1
                live.host, live.newest, live.pulled_at = host, 0, -PATIENCE
        wanted = {live.host.address for live in self.live.values()}
        for address in [a for a in self._clients if a not in wanted]:
            self._clients.pop(address).close()
        for address in wanted - self._clients.keys():
            self._clients[address] = self._connect(address)
        return reset

    def credit(self, player: PlayerId, unsent: int) -> int:
        """Return how many more decisions of a player its learner would take; `unsent` were recorded already."""
        live = self.live[player]
        if live.version < 0:
            return 0
        return live.allowance - live.sent - live.waiting - unsent

    def receive(self, now: float) -> list[tuple[PlayerId, int, npt.NDArray[np.float32]]]:
        """Take in credits and weights; return the weights that are new."""
        fresh = []
        for client in self._clients.values():
            for message, arrays in client.receive(0):
                if isinstance(message, Refused):
                    log.warning("a learner refused what was sent: %s", message.reason)
                elif isinstance(message, Credit | Weights):
                    live = self.live.get(message.player)
                    if live is None or live.host.incarnation != message.incarnation:
                        continue
                    if isinstance(message, Credit):
                        live.newest, live.allowance = message.version, message.allowance
                    elif message.version > live.version and "flat" in arrays:
                        live.version = message.version
                        fresh.append((message.player, message.version, arrays["flat"]))
        return fresh

    def pull(self, now: float, starved: Collection[PlayerId]) -> None:
        """Ask for weights that are newer than ours, and for credit where we have none; ask again if need be."""
        for player, live in self.live.items():
            stale = live.version < 0 or live.newest > live.version or player in starved
            if stale and now - live.pulled_at >= PATIENCE:
                live.pulled_at = now
                self._clients[live.host.address].send(
                    Pull(
                        name=self._name,
                        session=self._session,
                        player=player,
                        incarnation=live.host.incarnation,
                        version=live.version,
                        sent=live.sent,
                    )
                )

    def send(self, batch: list[Segments]) -> None:
        """Send segments; what does not go out now is tried again, up to a bound."""
        if not batch and not self._backlog:
            return
        waiting = [segments for segments in self._backlog + batch if not self._send(segments)]
        excess = max(0, len(waiting) - BACKLOG)
        self.dropped += sum(s.decisions for s in waiting[:excess])
        self._backlog = waiting[excess:]
        for player, live in self.live.items():
            live.waiting = sum(s.decisions for s in self._backlog if s.player == player)

    def _send(self, segments: Segments) -> bool:
        live = self.live.get(segments.player)
        decisions = segments.decisions
        if live is None or live.host.incarnation != segments.incarnation:
            self.dropped += decisions
            return True
        head = SegmentsHead(
            name=self._name,
            session=self._session,
            player=segments.player,
            incarnation=segments.incarnation,
            decisions=decisions,
            sent=live.sent + decisions,
        )
        if not self._clients[live.host.address].send(head, segments.arrays()):
            return False
        live.sent += decisions
        return True

    def close(self) -> None:
        """Close every link."""
        for client in self._clients.values():
            client.close()
