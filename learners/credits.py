"""Credits: how many decisions of a player each collector session may send, so that data does not age in queues.

A credit is an absolute number, counted like the collector's own `sent`: after a lost credit, lost segments or a restart
of the learner, the next credit is right again.
"""

from dataclasses import dataclass, field

AHEAD = 2  # batches that may be under way for one player: one that trains, one that fills


@dataclass(slots=True)
class CreditSession:
    """One start of a collector, as the learner of a player knows it."""

    peer: bytes
    sent: int  # decisions that it has sent in all, as far as we know
    heard: float  # when its last message came
    fed: float  # when it connected, or last sent segments
    weights: bool = True  # whether it wants those of new versions


@dataclass(slots=True)
class Credits:
    """The sessions that feed one player; counts go on through its incarnations.

    credits.heard("s1", peer, sent=1000, now=clock(), fed=True)
    credits.allowance("s1", held=1000, now=clock())     # 1000 - 1000 + the session's share of two batches
    """

    batch: int
    recent: float = 10.0  # seconds without segments after which a session loses its share
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
        """Return the sessions that recently connected or sent segments."""
        return [name for name, session in self.sessions.items() if now - session.fed <= self.recent]

    def allowance(self, name: str, held: int, now: float) -> int:
        """Return how many decisions the session may have sent in all, if `held` of them are still here."""
        sharing = len({name, *self.feeding(now)})
        return self.sessions[name].sent - held + AHEAD * self.batch // sharing

    def forget(self, name: str, now: float) -> None:
        """Forget an unreachable session that has been silent for long."""
        if now - self.sessions[name].heard > 6 * self.recent:
            del self.sessions[name]
