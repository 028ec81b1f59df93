"""What collectors need around them: a coordinator that never runs out of tickets, a learner that takes all."""

from collections.abc import Iterator, Sequence
from itertools import cycle

import msgspec

from launch.config.config import Config
from league.ids import PlayerId, TicketNumber, derive_seed
from league.policies.layout import initial
from league.spec import EnvSpec
from league.store.run_directory import Rendezvous, RunDirectory
from league.ticket import Entry, Purpose, Ticket
from league.wire.messages import Ack, Credit, Host, Orders, Pull, Report, SegmentsHead, Verdict, Watch, Weights
from league.wire.ports import Incoming
from league.wire.sockets import Sockets

ENDLESS = 1 << 50  # decisions


class StandIn:
    """A coordinator and a learner in this process. Every player is live, and one of two trains."""

    def __init__(self, sockets: Sockets, config: Config, run: RunDirectory, spec: EnvSpec, players: int) -> None:
        self._config = config
        self._players = [PlayerId(f"player-{i}") for i in range(players)]
        self._weights = {
            player: initial(config.policy, spec, derive_seed(config.seed, player)) for player in self._players
        }
        self._versions = dict.fromkeys(self._players, 0)
        self._coordinator = sockets.serve(run.address("coordinator"))
        self._learner = sockets.serve(run.address("learner-0"))
        run.publish_rendezvous(Rendezvous(address=self._coordinator.address, term=1))
        run.publish_rendezvous(Rendezvous(address=self._learner.address, term=1), "learner-0")
        self._inference, self._watcher = "", b""
        self._seats = len(spec.seats)
        self._pairs = _pairs(self._players)
        self._tickets = 0
        self.decisions = dict.fromkeys(self._players, 0)  # received, by player
        self.steps: dict[str, float] = {}  # env steps, as each collector told last
        self.waits: dict[str, float] = {}  # and the share of time that it waited

    def serve(self) -> bool:
        """Answer what is there; return whether a collector reported env steps."""
        for incoming in self._learner.receive(0):
            self._feed(incoming)
        told = False
        for incoming in self._coordinator.receive(0.005):
            report = incoming.message
            if isinstance(report, Report):
                self._coordinator.send(incoming.peer, self._order(report))
                if report.metrics.get("env_steps"):
                    told = True
                    self.steps[report.name] = report.metrics["env_steps"]
                    self.waits[report.name] = report.metrics["wait_share"]
        return told

    def _order(self, report: Report) -> Orders:
        directory = 1 + bool(self._inference)
        host = Host(player="", incarnation=0, address=self._learner.address, inference=self._inference)
        hosts = tuple(msgspec.structs.replace(host, player=p) for p in self._players)
        return Orders(
            term=1,
            request=report.request,
            acks=tuple(Ack(r.ticket, r.attempt, Verdict.ACCEPTED) for r in report.results),
            tickets=tuple(self._ticket() for _ in range(report.want)),
            directory=directory,
            hosts=None if report.directory == directory else hosts,
        )

    def _ticket(self) -> Ticket:
        self._tickets += 1
        trained, other = next(self._pairs)
        return Ticket(
            number=TicketNumber(self._tickets),
            purpose=Purpose.TRAIN,
            entries=(Entry(trained), Entry(other))[: self._seats],
            episodes=self._config.league.episodes,
            trains=(trained,),
        )

    def _feed(self, incoming: Incoming) -> None:
        message = incoming.message
        if isinstance(message, Watch):
            self._inference, self._watcher = message.address, incoming.peer
            for player in self._players:
                if message.known.get(player) != (0, self._versions[player]):
                    self._send_weights(incoming.peer, player)
        elif isinstance(message, Pull):
            self._publish(incoming.peer, message.player, message.weights)
        elif isinstance(message, SegmentsHead):
            player = message.player
            self.decisions[player] += message.decisions
            if self.decisions[player] >= (self._versions[player] + 1) * self._config.algo["batch"]:
                self._versions[player] += 1
                if self._watcher:
                    self._send_weights(self._watcher, player)
                self._publish(incoming.peer, player, weights=not self._watcher)

    def _publish(self, peer: bytes, player: PlayerId, weights: bool) -> None:
        if weights:
            self._send_weights(peer, player)
        version = self._versions[player]
        self._learner.send(peer, Credit(player=player, incarnation=0, version=version, allowance=ENDLESS))

    def _send_weights(self, peer: bytes, player: PlayerId) -> None:
        weights = Weights(player=player, incarnation=0, version=self._versions[player])
        self._learner.send(peer, weights, {"flat": self._weights[player]})


def _pairs(players: Sequence[PlayerId]) -> Iterator[tuple[PlayerId, PlayerId]]:
    """Yield every ordered pair of different players, again and again; each trains in turn."""
    count = len(players)
    return cycle([(players[i], players[(i + ahead) % count]) for ahead in range(1, count) for i in range(count)])
