"""The client of learners: segments go out within the credit that a learner grants, weights come in by version."""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from league.fitness import Fitness
from league.ids import PlayerId
from league.segment import Segments
from league.wire.messages import Credit, Host, Pull, Refused, SegmentsHead, Weights
from league.wire.ports import Client

log = logging.getLogger("ludus.collector")

PULL_AGAIN_SECONDS = 1.0  # after which an unanswered pull is repeated
Training = Segments | Fitness
BACKLOG = 64  # messages kept while a learner does not read; then the oldest are dropped and counted


@dataclass(slots=True)
class LearnerRank:
    """One rank of a player's learner: how many decisions it allows, and how many were sent."""

    allowance: int = 0
    sent: int = 0
    pulled_at: float = -PULL_AGAIN_SECONDS

    @property
    def credit(self) -> int:
        """How many more decisions it accepts."""
        return self.allowance - self.sent


@dataclass(slots=True)
class LivePlayer:
    """A live player and its learner, as this collector knows them."""

    host: Host
    version: int = -1
    newest: int = 0  # the newest version that its learner announced
    waiting: int = 0  # decisions in the backlog
    ranks: dict[str, LearnerRank] = field(default_factory=dict)  # by address

    def move(self, host: Host) -> None:
        """Follow the player to another learner; new ranks begin without credit."""
        self.host, self.newest = host, 0
        self.ranks = {address: self.ranks.get(address, LearnerRank()) for address in host.addresses}
        for rank in self.ranks.values():
            rank.pulled_at = -PULL_AGAIN_SECONDS

    @property
    def hungriest(self) -> str:
        """The address of the rank with most credit: every rank gets its share of the segments."""
        return max(self.ranks, key=lambda address: self.ranks[address].credit)

    @property
    def credit(self) -> int:
        """How many more decisions its ranks accept; not above 0: how far the rank with most credit is from accepting.

        A rank that got more than it allows, or stopped, must not use up what another rank lacks: ranks in step wait
        for the one without a batch.
        """
        credits = [rank.credit for rank in self.ranks.values()]
        return sum(credit for credit in credits if credit > 0) or max(credits)


class LearnerClient:
    """One client for each learner address, one `LivePlayer` for each learning player.

    Without `weights` it follows versions only: the weights are in inference processes.
    """

    def __init__(self, name: str, session: str, connect: Callable[[str], Client], weights: bool = True) -> None:
        self._name, self._session, self._connect, self._weights = name, session, connect, weights
        self._clients: dict[str, Client] = {}
        self._backlog: list[Training] = []
        self.live: dict[PlayerId, LivePlayer] = {}
        self.dropped = 0  # decisions that no learner accepted

    def follow(self, hosts: Iterable[Host]) -> list[tuple[PlayerId, int]]:
        """Apply a new directory; return the players that were reset, with their old incarnation."""
        reset = []
        for host in hosts:
            live = self.live.get(host.player)
            if live is None:
                live = self.live[host.player] = LivePlayer(host)
            elif live.host == host:
                continue
            elif live.host.incarnation != host.incarnation:
                reset.append((host.player, live.host.incarnation))
                live.version = -1
            live.move(host)
        wanted = {address for live in self.live.values() for address in live.ranks}
        for address in [a for a in self._clients if a not in wanted]:
            self._clients.pop(address).close()
        for address in sorted(wanted - self._clients.keys()):  # a set has another order in each process
            self._clients[address] = self._connect(address)
        return reset

    def credit(self, player: PlayerId, unsent: int) -> int:
        """Return how many more decisions of a player its learner accepts, less those recorded and `unsent`."""
        live = self.live[player]
        if live.version < 0:
            return 0
        return live.credit - live.waiting - unsent

    def receive(self, now: float) -> list[tuple[PlayerId, int, npt.NDArray[np.float32] | None]]:
        """Take in credits and weights; return new versions, with their weights if those are pulled."""
        fresh: list[tuple[PlayerId, int, npt.NDArray[np.float32] | None]] = []
        for address, client in self._clients.items():
            for message, arrays in client.receive(0):
                if isinstance(message, Refused):
                    log.warning("a learner refused a message: %s", message.reason)
                elif isinstance(message, Credit | Weights):
                    live = self.live.get(message.player)
                    if live is None or live.host.incarnation != message.incarnation:
                        continue
                    if isinstance(message, Credit):
                        live.newest = message.version
                        if address in live.ranks:
                            live.ranks[address].allowance = message.allowance
                        if not self._weights and message.version != live.version:
                            live.version = message.version
                            fresh.append((message.player, message.version, None))
                    elif message.version > live.version and "flat" in arrays:
                        live.version = message.version
                        fresh.append((message.player, message.version, arrays["flat"]))
        return fresh

    def pull(self, now: float, starved: Collection[PlayerId]) -> None:
        """Request newer weights, and credit for starved players; repeat requests that got no answer."""
        for player, live in self.live.items():
            stale = live.version < 0 or live.newest > live.version or player in starved
            for address, rank in live.ranks.items() if stale else ():
                if now - rank.pulled_at >= PULL_AGAIN_SECONDS:
                    rank.pulled_at = now
                    self._clients[address].send(
                        Pull(
                            name=self._name,
                            session=self._session,
                            player=player,
                            incarnation=live.host.incarnation,
                            version=live.version,
                            sent=rank.sent,
                            weights=self._weights,
                        )
                    )

    def send(self, batch: Sequence[Training]) -> None:
        """Send segments; those that cannot be sent now are kept and tried again, up to a bound."""
        if not batch and not self._backlog:
            return
        waiting = [segments for segments in [*self._backlog, *batch] if not self._send(segments)]
        excess = max(0, len(waiting) - BACKLOG)
        self.dropped += sum(s.units for s in waiting[:excess])
        self._backlog = waiting[excess:]
        for player, live in self.live.items():
            live.waiting = sum(s.units for s in self._backlog if s.player == player)

    def _send(self, segments: Training) -> bool:
        live = self.live.get(segments.player)
        decisions = segments.units
        if live is None or live.host.incarnation != segments.incarnation:
            self.dropped += decisions
            return True
        address = live.hungriest
        rank = live.ranks[address]
        head = SegmentsHead(
            name=self._name,
            session=self._session,
            player=segments.player,
            incarnation=segments.incarnation,
            decisions=decisions,
            sent=rank.sent + decisions,
        )
        if not self._clients[address].send(head, segments.arrays()):
            return False
        rank.sent += decisions
        return True

    def close(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            client.close()
