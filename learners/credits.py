"""Credits: how many decisions of a player each collector session may send, so that no queue grows old.

A credit is an absolute number, counted like the collector's own `sent`: losing a credit, losing segments or
restarting the learner changes nothing that the next credit does not mend.
"""

from dataclasses import dataclass, field

AHEAD = 2  # batches that may be under way for one player: one that trains, one that fills


@dataclass(slots=True)
class CreditSession:
    """One start of a collector, as the learner of a player knows it."""

    peer: bytes
    sent: int  # decisions that it has sent in all, as far as we know
    heard: float  # when it said anything
    fed: float  # when it came, or gave segments
    weights: bool = True  # whether it wants those of new versions


@dataclass(slots=True)
class Credits:
    """The sessions that feed one player. Incarnations come and go, the count goes on.

    credits.heard("s1", peer, sent=1000, now=clock(), fed=True)
    credits.allowance("s1", held=1000, now=clock())     # 1000 - 1000 + the session's share of two batches
    """

    batch: int
    recent: float = 10.0  # seconds without segments after which a session has no share any more
    sessions: dict[str, CreditSession] = field(default_factory=dict)

    def heard(self, name: str, peer: bytes, sent: int, now: float, fed: bool) -> None:
        """Note a message of a session."""
        session = self.sessions.get(name)
        if session is None:
            self.sessions[name] = CreditSession(peer, sent, now, now)
            return
        session.peer, session.heard = peer, now
        session.sent = max(session.sent, sent)
        if fed:
            session.fed = now

    def feeding(self, now: float) -> list[str]:
        """Return the sessions that fed the player lately, or came lately."""
        return [name for name, session in self.sessions.items() if now - session.fed <= self.recent]

    def allowance(self, name: str, held: int, now: float) -> int:
        """Return how many decisions the session may have sent in all, when `held` of them lie here."""
        sharing = len({name, *self.feeding(now)})
        return self.sessions[name].sent - held + AHEAD * self.batch // sharing

    def forget(self, name: str, now: float) -> None:
        """Forget a session that cannot be reached, if it has been silent for long."""
        if now - self.sessions[name].heard > 6 * self.recent:
            del self.sessions[name]
