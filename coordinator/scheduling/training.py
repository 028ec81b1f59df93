"""Training tickets: whose turn it is by the rates of the players, and with whom by matchmaking."""

from collections.abc import Collection, Sequence

import numpy as np

from coordinator.scheduling.choosing import any_of
from coordinator.scheduling.episode_costs import episode_costs
from coordinator.scheduling.resting import RestingPairs
from coordinator.scheduling.seat_choices import Seats
from league.ids import PlayerId, TicketNumber
from league.kinds import kind_matchmaker
from league.matchmaking.asking import Matchmaker
from league.matchmaking.choice import Choice, sample
from league.player import Player, Status
from league.state import LeagueState
from league.ticket import Entry, Purpose, Ticket

LEAD = 64  # tickets of the whole league by which a player may be ahead of its rate


class TrainingTickets:
    """Chooses the next training ticket."""

    def __init__(self, state: LeagueState, seats: Seats, resting: RestingPairs, allow: Collection[str] = ()) -> None:
        self._state, self._seats, self._resting, self._allow = state, seats, resting, allow
        self._matchmakers: dict[str, Matchmaker] = {}  # by kind
        self._cached: dict[tuple[PlayerId, str, bool], list[Choice]] = {}  # choices that hold for this batch
        self.cpu_seconds: dict[PlayerId, float] = {}  # that the learner of a player spent on an episode of it
        self._ready: list[Player] | None = None  # learning players that could train, in this batch as well

    def choices(self, player: Player, roles: frozenset[str] | None = None, mates: bool = False) -> list[Choice]:
        """Return whom the player would meet now, or play with, with exact probabilities and reasons."""
        if player.kind not in self._matchmakers:
            self._matchmakers[player.kind] = kind_matchmaker(self._state.config.rules(player.kind), self._allow)
        return self._matchmakers[player.kind](player, self._state.population, self._state.training, roles, mates)

    def next(
        self, number: TicketNumber, rng: np.random.Generator, now: float, starved: Collection[PlayerId]
    ) -> Ticket | None:
        """Return a ticket for the player furthest behind its rate, which trains the others that play live, too."""
        hungry = self._hungry(starved)
        for player in hungry:
            entries = self._match(player, rng, now)
            if entries is not None:
                return Ticket(
                    number=number,
                    purpose=Purpose.TRAIN,
                    entries=entries,
                    episodes=self._state.config.episodes,
                    trains=self._trained(player, entries, hungry),
                    spirit=self._spirit(player.id),
                )
        return None

    def forget(self) -> None:
        """Ask matchmakers again from now on: a batch of messages is over, or the pool has changed.

        In between, all tickets of a player are chosen with the same probabilities, as if its results came in at the
        end of the batch. A busy coordinator would spend most of its time on them otherwise.
        """
        self._cached.clear()
        self._ready = None

    def _trained(self, player: Player, entries: Sequence[Entry], hungry: Sequence[Player]) -> tuple[PlayerId, ...]:
        """Return who learns from a match: the player whose turn it is, and the other live ones that can train now.

        A ticket has one team spirit: who is at another point of its annealing does not learn from it.
        """
        spirit = self._spirit(player.id)
        able = {p.id for p in hungry if self._spirit(p.id) == spirit}
        return tuple(dict.fromkeys((player.id, *(entry.player for entry in entries if entry.player in able))))

    def _spirit(self, player: PlayerId) -> float:
        newest = self._state.candidate(player)
        return self._state.config.team.at(0 if newest is None else newest.decisions)

    def _hungry(self, starved: Collection[PlayerId]) -> list[Player]:
        """Return the learning players that can train now, the one furthest behind its rate first.

        Nobody runs far ahead of a player that its learner starves, or by matches of others: where learners are the
        limit, rates are kept, too, and collectors rest.
        """
        state = self._state
        if self._ready is None:
            learning = state.population.learning()
            self._ready = [p for p in learning if p.rate > 0 and state.candidate(p.id) is not None]
        ready = self._ready
        cost = episode_costs(state, ready, self.cpu_seconds)
        had = {p.id: state.asked[p.id] * cost[p.id] / p.rate for p in ready}
        lead = LEAD * state.config.episodes * max(cost.values(), default=0.0)
        limit = min(had.values(), default=0.0) + lead / (sum(p.rate for p in ready) or 1.0)
        return sorted((p for p in ready if p.id not in starved and had[p.id] <= limit), key=lambda p: had[p.id])

    def _match(self, player: Player, rng: np.random.Generator, now: float) -> tuple[Entry, ...] | None:
        """Return the player among others; None while one of them could only be somebody without weights."""
        place, sides = any_of(self._seats.places(player.id), rng), self._seats.sides
        entries = []
        for seat, role in enumerate(self._seats.roles):
            mate = sides[seat] == sides[place]
            entry = Entry(player.id) if seat == place else self._other(player, role, mate, rng, now)
            if entry is None:
                return None
            entries.append(entry)
        return tuple(entries)

    def _other(self, player: Player, role: str, mate: bool, rng: np.random.Generator, now: float) -> Entry | None:
        choices = self._playable_choices(player, role, mate)
        rested = choices  # most leagues never see a void pairing: then there is nothing to leave out
        if self._resting:
            rested = [c for c in choices if not self._resting.rests(player.id, c.opponent, now)]
        return self._entry(sample(rested or choices, rng).opponent) if choices else None

    def _playable_choices(self, player: Player, role: str, mate: bool) -> list[Choice]:
        found = self._cached.get((player.id, role, mate))
        if found is None:
            found = [c for c in self.choices(player, frozenset({role}), mate) if self._playable(c)]
            self._cached[player.id, role, mate] = found
        return found

    def _playable(self, choice: Choice) -> bool:
        """Whether an opponent has weights: a live one its first candidate, a mixture those of all its members."""
        if choice.live:
            return self._state.candidate(choice.opponent) is not None
        mixture = self._state.population[choice.opponent].status == Status.MIXTURE
        return not mixture or self._state.contestant(choice.opponent) is not None

    def _entry(self, player: PlayerId) -> Entry:
        found = self._state.population[player]
        members = self._state.members(found) if found.status == Status.MIXTURE else ()
        return Entry(player, found.snapshot, found.bot, members)
