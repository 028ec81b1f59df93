"""Reports to the coordinator: candidates, metrics, and the addresses at which collectors reach a learner."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from league.ids import PlayerId
from league.limits import within
from league.per_player import PerPlayer
from league.wire.messages import Candidate, Progress
from league.wire.ports import Client
from learners.player_settings import PlayerSettings

UNKNOWN = ("",)  # the address of a buffer process that has not answered yet


@dataclass(frozen=True, slots=True)
class LearnerAddresses:
    """Where a learner is reached: each rank, the buffer process beside each rank, and the inference process."""

    ranks: tuple[str, ...]
    buffers: tuple[str, ...] = ()  # empty: replays are in the learner
    inference: str = ""

    def of_segments(
        self, players: PerPlayer[PlayerSettings]
    ) -> tuple[tuple[str, ...], dict[PlayerId, tuple[str, ...]]]:
        """Return where segments go by default, and where those of players go that learn in the other way."""
        if not self.buffers:
            return self.ranks, {}
        buffers = self.buffers if all(self.buffers) else UNKNOWN
        default, other = (buffers, self.ranks) if players.default.replays else (self.ranks, buffers)
        others = [PlayerId(name) for name, own in players.own.items() if own.replays != players.default.replays]
        return default, dict.fromkeys(others, other)


@dataclass(frozen=True, slots=True)
class Trained:
    """What a report says about players."""

    candidates: Sequence[Candidate]  # the newest of each
    finished: Sequence[PlayerId]  # those that no longer train, and whose last candidate is written


@dataclass(slots=True, kw_only=True)
class ProgressReporter:
    """Sends `Progress` once per heartbeat, and at once when there is news.

    if reporter.due(addresses):
        reporter.send(clock(), addresses, Trained(candidates, finished), metrics)
    """

    name: str
    session: str
    coordinator: Client
    players: PerPlayer[PlayerSettings]
    heartbeat: float
    clock: Callable[[], float]
    host: str = ""  # the machine that it runs on
    answered: int = -1  # the newest request that a roster answered
    urgent: bool = True  # report at the next opportunity
    _request: int = 0
    _sent_at: float | None = None
    _addresses: LearnerAddresses | None = None  # as last reported
    _first_report: dict[PlayerId, int] = field(default_factory=dict)  # request that first named the newest candidate

    def due(self, addresses: LearnerAddresses) -> bool:
        """Whether to report now."""
        late = self._sent_at is None or self.clock() - self._sent_at >= self.heartbeat
        return late or self.urgent or addresses != self._addresses

    def elapsed(self, now: float) -> float | None:
        """Return the seconds since the last report; None before the first one."""
        return None if self._sent_at is None else now - self._sent_at

    def send(self, now: float, addresses: LearnerAddresses, trained: Trained, metrics: dict[str, float]) -> None:
        """Report."""
        self._request += 1
        default, doors = addresses.of_segments(self.players)
        sent = self.coordinator.send(
            Progress(
                request=self._request,
                name=self.name,
                session=self.session,
                address=default[0],
                more=default[1:],
                inference=addresses.inference,
                doors=doors,
                candidates=tuple(trained.candidates),
                finished=tuple(trained.finished),
                metrics=within(metrics),
                host=self.host,
            )
        )
        self._sent_at, self.urgent, self._addresses = now, False, addresses
        if sent:
            for candidate in trained.candidates:
                self._first_report.setdefault(candidate.player, self._request)

    def new_candidate(self, player: PlayerId) -> None:
        """Report at the next opportunity: the player has a new candidate."""
        self._first_report.pop(player, None)
        self.urgent = True

    def forget(self, player: PlayerId) -> None:
        """Forget the candidate of an incarnation that is over."""
        self._first_report.pop(player, None)

    def is_known(self, player: PlayerId) -> bool:
        """Whether the coordinator answered a report of the player's newest candidate."""
        first = self._first_report.get(player)
        return first is not None and self.answered >= first
