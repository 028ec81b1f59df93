"""The feed: segments of collectors come in here, credits go out, and weights, also to the inference process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from league.ids import PlayerId
from league.spec import EnvSpec
from league.wire.messages import Credit, Pull, Refused, Role, SegmentsHead, Watch, Weights
from league.wire.ports import Incoming, Server
from learners.credits import Credits
from learners.inbox import NEWEST, SegmentsError, open_segments
from learners.trainee import Trainee

Trainees = Mapping[PlayerId, Trainee]


@dataclass(slots=True, kw_only=True)
class Feed:
    """All that a learner says to collectors and inference processes. It may be served in the middle of an update."""

    inbox: Server
    spec: EnvSpec
    clock: Callable[[], float]
    arrivals: int = 0  # segment messages so far: the order in which batches became full
    malformed: int = 0  # messages that nobody should have sent
    inference: str = ""  # where the inference process answers that watched us last
    inference_metrics: dict[str, float] = field(default_factory=dict)
    _credits: dict[PlayerId, Credits] = field(default_factory=dict)
    _watchers: dict[str, bytes] = field(default_factory=dict)  # peers by session

    def serve(self, trainees: Trainees, timeout: float) -> None:
        """Wait up to `timeout` seconds for messages, and answer them."""
        for incoming in self.inbox.receive(timeout):
            message = incoming.message
            if isinstance(message, Watch) and incoming.role in (None, Role.INFERENCE):
                self._watch(incoming.peer, message, trainees)
            elif not isinstance(message, SegmentsHead | Pull) or incoming.role not in (None, Role.COLLECTOR):
                self.malformed += 1
                self._refuse(incoming, "a learner takes segments and pulls, from collectors only")
            elif message.player not in trainees:
                self._refuse(incoming, f"player {message.player!r} does not train here")
            elif isinstance(message, Pull):
                self._pull(incoming.peer, message, trainees[message.player])
            else:
                self._take_in(incoming, message, trainees[message.player])

    def publish(self, trainee: Trainee) -> None:
        """Send new weights to the sessions that feed this player, and credit to all that ever asked."""
        credits = self._credits_of(trainee)
        for session in credits.feeding(self.clock()):
            if credits.sessions[session].weights:
                self._send_weights(credits.sessions[session].peer, trainee)
        self._watchers = {s: peer for s, peer in self._watchers.items() if self._send_weights(peer, trainee)}
        self.grant(trainee)

    def grant(self, trainee: Trainee) -> None:
        """Send credit to all sessions that ever asked."""
        for session in list(self._credits_of(trainee).sessions):
            self._send_credit(session, trainee)

    def forget(self, player: PlayerId) -> None:
        """Forget who fed a player that trains here no more."""
        self._credits.pop(player, None)

    def _watch(self, peer: bytes, watch: Watch, trainees: Trainees) -> None:
        self.inference, self.inference_metrics = watch.address, watch.metrics
        self._watchers[watch.session] = peer
        for player, trainee in trainees.items():
            incarnation, version = watch.known.get(player, (-1, -1))
            if incarnation == trainee.incarnation and version <= NEWEST and trainee.overtake(version):
                self.publish(trainee)
            elif (incarnation, version) != (trainee.incarnation, trainee.version):
                self._send_weights(peer, trainee)

    def _pull(self, peer: bytes, pull: Pull, trainee: Trainee) -> None:
        self._credits_of(trainee).heard(pull.session, peer, pull.sent, self.clock(), fed=False)
        self._credits_of(trainee).sessions[pull.session].weights = pull.weights
        same = pull.incarnation == trainee.incarnation
        if same and pull.version <= NEWEST and trainee.overtake(pull.version):
            self.publish(trainee)
        # A collector that is ahead of us would not take the weights of an incarnation that is over.
        elif pull.weights and (pull.incarnation < trainee.incarnation or (same and pull.version != trainee.version)):
            self._send_weights(peer, trainee)
        self._send_credit(pull.session, trainee)

    def _take_in(self, incoming: Incoming, head: SegmentsHead, trainee: Trainee) -> None:
        try:
            segments = open_segments(head, incoming.arrays, self.spec, trainee.memory, trainee.state)
        except SegmentsError as error:
            self.malformed += 1
            self._refuse(incoming, f"segments of {head.player!r} from {head.name!r}: {error}")
            return
        self.arrivals += 1
        credits = self._credits_of(trainee)
        known = credits.sessions.get(head.session)
        sent = max(head.sent, (known.sent if known else 0) + head.decisions)
        credits.heard(head.session, incoming.peer, sent, self.clock(), fed=True)
        if head.incarnation == trainee.incarnation and trainee.overtake(int(segments.version.max(initial=-1))):
            self.publish(trainee)
        if not trainee.offer(segments, head.session):
            self._send_credit(head.session, trainee)
        elif trainee.batcher.full and trainee.full_since is None:
            trainee.full_since = self.arrivals

    def _credits_of(self, trainee: Trainee) -> Credits:
        return self._credits.setdefault(trainee.player, Credits(trainee.batcher.batch))

    def _send_weights(self, peer: bytes, trainee: Trainee) -> bool:
        message = Weights(player=trainee.player, incarnation=trainee.incarnation, version=trainee.version)
        return self.inbox.send(peer, message, {"flat": trainee.weights})

    def _send_credit(self, session: str, trainee: Trainee) -> None:
        credits, now = self._credits_of(trainee), self.clock()
        allowance = credits.allowance(session, trainee.held(session), now) if trainee.train else 0
        message = Credit(
            player=trainee.player,
            incarnation=trainee.incarnation,
            version=trainee.version,
            allowance=allowance,
        )
        if not self.inbox.send(credits.sessions[session].peer, message):
            credits.forget(session, now)

    def _refuse(self, incoming: Incoming, reason: str) -> None:
        self.inbox.send(incoming.peer, Refused(reason=reason))
