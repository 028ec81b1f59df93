"""The directory: which learner process trains which player, and where collectors reach it. In memory only."""

from collections.abc import Sequence
from dataclasses import dataclass

from league.ids import PlayerId, derive_seed
from league.state import LeagueState
from league.wire.messages import Host, Progress


@dataclass(frozen=True, slots=True)
class _Addresses:
    """The addresses of a learner and of the processes beside it."""

    ranks: tuple[str, ...]  # receive segments
    inference: str  # runs its networks
    doors: dict[PlayerId, tuple[str, ...]]  # receive the segments of these players instead


class Directory:
    """Learner processes by name. `fingerprint` identifies the current hosts: collectors get them when it changed."""

    def __init__(self, state: LeagueState, learners: Sequence[str]) -> None:
        self.learners = list(learners)
        self.fingerprint = 0  # equal hosts give the same one in every term
        self._state = state
        self._addresses: dict[str, _Addresses] = {}
        self.refresh()

    def assigned(self, learner: str) -> list[PlayerId]:
        """Return the learning players of a learner process: they are dealt out in turn, in their order."""
        if learner not in self.learners:
            return []
        mine, total = self.learners.index(learner), len(self.learners)
        return [p.id for i, p in enumerate(self._state.population.learning()) if i % total == mine]

    def note(self, progress: Progress) -> None:
        """Record the addresses of a learner."""
        addresses = _Addresses((progress.address, *progress.more), progress.inference, progress.doors)
        if self._addresses.get(progress.name) != addresses:
            self._addresses[progress.name] = addresses
            self.refresh()

    def refresh(self) -> None:
        """Recompute the fingerprint: an address, the players or their incarnations may have changed."""
        hosts = (f"{host.player} {host.incarnation} {host.addresses} {host.inference}" for host in self.hosts())
        self.fingerprint = derive_seed("directory", *hosts)

    def hosts(self) -> tuple[Host, ...]:
        """Return the addresses of each learning player whose learner has reported one."""
        incarnations = self._state.incarnations
        return tuple(
            Host(player=p, incarnation=incarnations[p], address=at[0], more=at[1:], inference=its.inference)
            for learner in self.learners
            if learner in self._addresses
            for its in [self._addresses[learner]]
            for p in self.assigned(learner)
            if (at := its.doors.get(p, its.ranks))[0]
        )
