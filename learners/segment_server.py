"""The segment server: receives segments from collectors, and sends them credits and weights."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from league.ids import PlayerId
from league.spec import EnvSpec
from league.wire.messages import Credit, Pull, Refused, Role, SegmentsHead, Watch, Weights
from league.wire.ports import Incoming, Server
from learners.batcher import Training
from learners.credits import Credits
from learners.fed_player import FedPlayer
from learners.segment_check import SegmentsError, open_fitness, open_segments

SESSIONS = 4096  # of collectors that may feed one player

Players = Mapping[PlayerId, FedPlayer]


@dataclass(slots=True, kw_only=True)
class SegmentServer:
    """Serves collectors and the inference process, also in the middle of an update.

    A buffer process has one, too: collectors talk to both in the same way.
    """

    inbox: Server
    spec: EnvSpec
    clock: Callable[[], float]
    round: int = 0  # steps of the process so far: when batches became full, wherever their segments went
    malformed: int = 0  # messages that violate the protocol
    inference: str = ""  # where the inference process answers that watched us last
    inference_metrics: dict[str, float] = field(default_factory=dict)
    _credits: dict[PlayerId, Credits] = field(default_factory=dict)
    _watchers: dict[str, bytes] = field(default_factory=dict)  # peers by session
    _reminded: int = -1  # the second in which credit was last sent to all

    def serve(self, players: Players, timeout: float) -> None:
        """Wait up to `timeout` seconds for messages, and answer them."""
        for incoming in self.inbox.receive(timeout):
            self.answer(incoming, players)
        self.remind(players)

    def remind(self, players: Players) -> None:
        """Send credit to all once a second: shares change as collectors come and go, and messages are lost.

        Seconds are those of the clock, so a learner and its buffer process do it in the same round.
        """
        second = int(self.clock())
        if second != self._reminded:
            self._reminded = second
            for fed in players.values():
                self.grant(fed)

    def answer(self, incoming: Incoming, players: Players) -> None:
        """Answer one message."""
        message = incoming.message
        if isinstance(message, Watch) and incoming.role in (None, Role.INFERENCE):
            self._watch(incoming.peer, message, players)
        elif not isinstance(message, SegmentsHead | Pull) or incoming.role not in (None, Role.COLLECTOR):
            self.malformed += 1
            self._refuse(incoming, "segments and pulls are taken here, from collectors only")
        elif incoming.name not in (None, message.name):
            self.malformed += 1
            self._refuse(incoming, f"the key of {incoming.name!r} does not speak for {message.name!r}")
        elif message.player not in players or players[message.player].elsewhere:
            self._refuse(incoming, f"player {message.player!r} does not train here")
        elif self._is_crowded(message.session, players[message.player]):
            self.malformed += 1
            self._refuse(incoming, f"{SESSIONS} collectors feed {message.player!r} already")
        elif isinstance(message, Pull):
            self._pull(incoming.peer, message, players[message.player])
        else:
            self._take_in(incoming, message, players[message.player])

    def publish(self, fed: FedPlayer) -> None:
        """Send new weights to the sessions that feed this player, and credit to all sessions."""
        credits = self._credits_of(fed)
        for session in credits.feeding(self.clock()):
            if credits.sessions[session].weights:
                self._send_weights(credits.sessions[session].peer, fed)
        self._watchers = {s: peer for s, peer in self._watchers.items() if self._send_weights(peer, fed)}
        self.grant(fed)

    def grant(self, fed: FedPlayer) -> None:
        """Send credit to all sessions."""
        for session in list(self._credits_of(fed).sessions):
            self._send_credit(session, fed)

    def forget(self, player: PlayerId) -> None:
        """Forget the sessions of a player that no longer trains here."""
        self._credits.pop(player, None)

    def _watch(self, peer: bytes, watch: Watch, players: Players) -> None:
        self.inference, self.inference_metrics = watch.address, watch.metrics
        self._watchers[watch.session] = peer
        for player, fed in players.items():
            incarnation, version = watch.known.get(player, (-1, -1))
            if incarnation == fed.incarnation and fed.skip_lost(version):
                self.publish(fed)
            elif (incarnation, version) != (fed.incarnation, fed.version):
                self._send_weights(peer, fed)

    def _pull(self, peer: bytes, pull: Pull, fed: FedPlayer) -> None:
        self._credits_of(fed).heard(pull.session, peer, pull.sent, self.clock(), fed=False)
        self._credits_of(fed).sessions[pull.session].weights = pull.weights
        same = pull.incarnation == fed.incarnation
        if same and fed.skip_lost(pull.version):
            self.publish(fed)
        # A collector that knows a later incarnation would refuse these weights.
        elif pull.weights and (pull.incarnation < fed.incarnation or (same and pull.version != fed.version)):
            self._send_weights(peer, fed)
        self._send_credit(pull.session, fed)

    def _take_in(self, incoming: Incoming, head: SegmentsHead, fed: FedPlayer) -> None:
        try:
            segments = self._open(head, incoming, fed)
        except SegmentsError as error:
            self.malformed += 1
            self._refuse(incoming, f"segments of {head.player!r} from {head.name!r}: {error}")
            return
        credits = self._credits_of(fed)
        known = credits.sessions.get(head.session)
        sent = max(head.sent, (known.sent if known else 0) + head.decisions)
        credits.heard(head.session, incoming.peer, sent, self.clock(), fed=True)
        newest = int(segments.version.max(initial=-1)) if head.incarnation == fed.incarnation else -1
        if fed.skip_lost(newest):
            self.publish(fed)
        elif newest > fed.version:
            self.malformed += 1
            self._refuse(incoming, f"segments of {head.player!r} of version {newest}: there was no such version")
            return
        if not fed.offer(segments, head.session):
            self._send_credit(head.session, fed)
        elif fed.batcher.full and fed.full_since is None:
            fed.full_since = self.round

    def _open(self, head: SegmentsHead, incoming: Incoming, fed: FedPlayer) -> Training:
        """Return what a message holds, checked."""
        if fed.noise:
            return open_fitness(head, incoming.arrays, fed.noise)
        return open_segments(head, incoming.arrays, self.spec, fed.memory, fed.state)

    def _is_crowded(self, session: str, fed: FedPlayer) -> bool:
        sessions = self._credits_of(fed).sessions
        return session not in sessions and len(sessions) >= SESSIONS

    def _credits_of(self, fed: FedPlayer) -> Credits:
        return self._credits.setdefault(fed.player, Credits(fed.batcher.batch))

    def _send_weights(self, peer: bytes, fed: FedPlayer) -> bool:
        message = Weights(player=fed.player, incarnation=fed.incarnation, version=fed.version)
        return self.inbox.send(peer, message, {"flat": fed.weights})

    def _send_credit(self, session: str, fed: FedPlayer) -> None:
        credits, now = self._credits_of(fed), self.clock()
        allowance = max(0, credits.allowance(session, fed.held(session), now)) if fed.takes else 0
        message = Credit(
            player=fed.player,
            incarnation=fed.incarnation,
            version=fed.version,
            allowance=allowance,
        )
        if not self.inbox.send(credits.sessions[session].peer, message):
            credits.forget(session, now)

    def _refuse(self, incoming: Incoming, reason: str) -> None:
        self.inbox.send(incoming.peer, Refused(reason=reason))
