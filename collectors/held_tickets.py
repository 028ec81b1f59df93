"""The tickets that a collector holds, their results, and the reports that carry them to the coordinator.

    tickets.obey(orders, now)               # new tickets, acknowledgements, revocations
    for held in tickets.queue: ...          # play their episodes, then
    tickets.finish(held)                    # or tickets.fail(held, reason)
    if tickets.due(now):
        coordinator.send(tickets.report(now, tickets.want(now), ...))

Every report carries a result until it is acknowledged: so it counts, and only once.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from collectors.config import CollectorConfig
from collectors.seating import HeldTicket, episodes_to_record
from league import result_check as checking
from league.ids import PlayerId, TicketNumber
from league.limits import HELD, REASON
from league.spec import EnvSpec
from league.ticket import Fault, Result, Ticket, episode_seeds
from league.wire.messages import Ack, Held, Orders, Report

log = logging.getLogger("ludus.collector")

MAX_UNACKED = 1000
REPORT_BYTES = 1 << 18  # of results in one report: messages to the coordinator are bounded
RETRY = 2.0  # seconds after which an unanswered report is sent again
REST = 0.02  # seconds before the next request for tickets when the coordinator had none
PACE = 0.02  # least seconds between two reports: a fast game finishes episodes at every tick

Key = tuple[TicketNumber, int]  # a ticket and its attempt


@dataclass(slots=True)
class _Request:
    """The last report, which the coordinator answers with orders."""

    number: int = 0
    at: float = -1e9
    answered: bool = True
    wanted: int = 0
    rest_until: float = -1e9  # the coordinator had no tickets: do not ask at once


class HeldTickets:
    """The tickets under way, and what the coordinator has to know about them."""

    def __init__(  # noqa: PLR0913  (the collector passes what it is itself given)
        self,
        name: str,
        session: str,
        run_seed: int,
        slots: int,
        config: CollectorConfig,
        journal: Callable[[Sequence[Ack], str], None],
        env: EnvSpec,
        host: str = "",
    ) -> None:
        self._name, self._session, self._run_seed, self._slots = name, session, run_seed, slots
        self._config, self._journal, self._env, self._host = config, journal, env, host
        self._held: dict[Key, HeldTicket] = {}
        self.queue: list[HeldTicket] = []  # those of them with episodes that no slot has taken yet, oldest first
        self._results: dict[Key, Result] = {}
        self._faults: dict[Key, Fault] = {}
        self._logged: set[str] = set()  # reasons of failed tickets that are logged once
        self._request = _Request()
        self._term = 0
        self._directory = 0
        self.stop = False

    @property
    def full(self) -> bool:
        """Whether so many results are unacknowledged that nothing new may be played."""
        return len(self._results) > MAX_UNACKED

    @property
    def trained(self) -> set[PlayerId]:
        """The players that the held tickets train."""
        return {player for held in self._held.values() for player in held.ticket.trains}

    # --- tickets ---------------------------------------------------------------------------------------------

    def obey(self, orders: Orders, now: float) -> bool:
        """Take in tickets, acknowledgements and revocations; return False for orders of a replaced coordinator."""
        if orders.term < self._term:
            return False
        self._term = orders.term
        self.stop = self.stop or orders.stop
        if orders.request == self._request.number:
            self._request.answered = True
            if len(orders.tickets) < self._request.wanted:
                self._request.rest_until = now + REST
        settled = [ack for ack in orders.acks if self._results.pop((ack.ticket, ack.attempt), None) is not None]
        if settled:
            self._journal(settled, orders.head)
        for ack in orders.acks:
            self._faults.pop((ack.ticket, ack.attempt), None)
        for number, attempt in orders.revoked:
            held = self._held.pop((number, attempt), None)
            if held is not None:
                held.revoked = True
        if orders.hosts is not None:
            self._directory = orders.directory
        for ticket in orders.tickets:
            self._hold(ticket)
        return True

    def _hold(self, ticket: Ticket) -> None:
        seeds = episode_seeds(self._run_seed, ticket, ticket.attempt, range(ticket.episodes))
        held = HeldTicket(ticket, episodes_to_record(ticket, self._config.record_share), seeds)
        if held.key not in self._held:
            self._held[held.key] = held
            self.queue.append(held)

    def finish(self, held: HeldTicket) -> None:
        """Keep the result of a ticket once all its episodes are finished. A result that would not count is a fault."""
        if held.key not in self._held:
            return  # kept already: of a ticket whose episodes end in one tick, each of them asks
        result = held.result()
        if result is None:
            return
        wrong = checking.problem(held.ticket, result.episodes, self._env)
        if wrong:
            self.fail(held, f"{self._env.name}: {wrong}. See: ludus check-env {self._env.name}", again=False)
        else:
            self._held.pop(held.key, None)
            self._results[held.key] = result

    def fail(self, held: HeldTicket, reason: str, again: bool = True) -> None:
        """Give a ticket back without a result. Unless `again`, the same reason is logged only once."""
        if not held.revoked:
            held.revoked = True
            self._held.pop(held.key, None)
            number, attempt = held.key
            self._faults[held.key] = Fault(ticket=number, attempt=attempt, reason=reason[:REASON])
            if again or reason not in self._logged:
                log.warning("ticket %d, attempt %d: %s", number, attempt, reason)
            if not again:
                self._logged.add(reason)

    # --- reports ---------------------------------------------------------------------------------------------

    def due(self, now: float) -> bool:
        """Return whether there is something to report, or a heartbeat is due; one report is under way at a time."""
        request = self._request
        if now - request.at < (PACE if request.answered else RETRY):
            return False
        late = now - request.at >= self._config.heartbeat
        return bool(late or self._results or self._faults or not request.answered or self.want(now))

    def want(self, now: float) -> int:
        """Return how many tickets to request, so that enough unstarted episodes are held."""
        if now < self._request.rest_until or self.full:
            return 0
        unstarted = sum(held.unstarted for held in self.queue)
        ahead = self._config.ahead * self._slots
        if unstarted >= ahead:
            return 0
        each = max((p.ticket.episodes for p in self._held.values()), default=8)
        return min(64, -(-(ahead - unstarted) // each))

    def report(
        self, now: float, want: int, progress: int, starved: tuple[PlayerId, ...], metrics: Mapping[str, float]
    ) -> Report:
        """Return the next report; `progress` is that of the collector, and renews all its leases."""
        request = self._request
        request.number += 1
        request.at, request.answered, request.wanted = now, False, want
        return Report(
            request=request.number,
            name=self._name,
            session=self._session,
            want=want,
            held=tuple(Held(number, attempt, progress) for number, attempt in self._held),
            results=self._oldest_results(),
            faults=tuple(self._faults.values()),
            starved=starved,
            directory=self._directory,
            metrics=dict(metrics),
            host=self._host,
        )

    def _oldest_results(self) -> tuple[Result, ...]:
        """Return the results to send now: after a long silence not all of them fit into one report."""
        chosen: list[Result] = []
        size = 0
        for result in self._results.values():
            size += sum(20 + 12 * len(e.ranks) + len(e.actions) for e in result.episodes)  # as msgpack, at most
            if chosen and (size > REPORT_BYTES or len(chosen) == HELD):
                break
            chosen.append(result)
        return tuple(chosen)
