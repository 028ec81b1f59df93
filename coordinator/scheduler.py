"""The scheduler: which ticket comes next. Pure: it reads the state and draws from the rng it is given.

Evaluation gets its share of env steps by deficit; training episodes are shared out among the learning players
by their rates, and a matchmaker names the opponents.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations

import numpy as np

from coordinator.challenging import is_human
from league.ids import PlayerId, TicketNumber
from league.matchmaking.choice import Choice, draw
from league.matchmaking.pool import fits
from league.matchmaking.recipes import matchmaker
from league.player import Kind, Player
from league.state import FINAL, TRAINING, LeagueState, pairing
from league.ticket import Entry, Purpose, Ticket

LEAD = 64  # tickets of the whole league by which a player may be ahead of its rate
TYPICAL_LENGTH = 20.0  # moves in an episode, until the first results tell


class Draws:
    """The random numbers of each ticket: Philox under a key, so there is no state of a generator to keep.

    A generator is set to its key instead of made anew: making one asks the system for entropy first, in vain.
    """

    def __init__(self) -> None:
        self._philox = np.random.Philox(key=0)
        self._rng = np.random.Generator(self._philox)
        self._start = self._philox.state

    def of(self, seed: int, number: int) -> np.random.Generator:
        """Return the generator of one ticket; the one before must not be used any more."""
        self._start["state"]["key"][:] = seed % 2**64, number
        self._philox.state = self._start
        return self._rng


class Scheduler:
    """Draws the next ticket of a league."""

    def __init__(self, state: LeagueState) -> None:
        self._state = state
        self._matchmaker: Callable[..., list[Choice]] = matchmaker(state.config.matchmaking)
        self._draws = Draws()
        self._known: dict[tuple[PlayerId, str, bool], list[Choice]] = {}  # choices that hold for this batch
        self._ready: list[Player] | None = None  # learning players that could train, in this batch as well
        self._sits: dict[PlayerId, list[int]] = {}  # where a player can sit,
        self._seated: dict[tuple[PlayerId, PlayerId], list[int]] = {}  # and where opposite another one
        self.backed_off: dict[frozenset[PlayerId], float] = {}  # pairings that were void, and until when
        self.waiting = False  # for last candidates, before which the final evaluation hands out no tickets
        self.closing = False  # the time for the final evaluation is up: no more tickets

    def choices(self, player: Player, roles: frozenset[str] | None = None, mates: bool = False) -> list[Choice]:
        """Return whom the player would meet now, or play with, with exact probabilities and reasons."""
        return self._matchmaker(player, self._state.population, self._state.training, roles, mates)

    def next(self, now: float, starved: Collection[PlayerId] = ()) -> Ticket | None:
        """Return a new ticket, or None if there is nothing to play."""
        state = self._state
        if state.paused or state.env is None:
            return None
        number = TicketNumber(state.tickets + 1)
        rng = self._draws.of(state.seed, number)
        if state.phase == FINAL:
            return None if self.waiting or self.closing else self._final(number, now)
        if state.phase != TRAINING:
            return None
        if self._evaluation_is_due():
            return self._evaluation(number, rng, now) or self._training(number, rng, now, starved)
        return self._training(number, rng, now, starved)

    def back_off(self, ticket: Ticket, until: float) -> None:
        """Do not draw the pairs of a void ticket again for a while, unless nothing else is left."""
        for pair in combinations(pairing(ticket), 2):
            self.backed_off[frozenset(pair)] = until

    def _rests(self, a: PlayerId, b: PlayerId, now: float) -> bool:
        return self.backed_off.get(frozenset((a, b)), 0.0) > now

    def _roles(self) -> tuple[str, ...]:
        assert self._state.env is not None
        return self._state.env.roles

    def _sides(self) -> tuple[int, ...]:
        assert self._state.env is not None
        return self._state.env.sides

    def _places(self, player: PlayerId) -> list[int]:
        """Return where a player can sit: one seat of each kind, as entries rotate among those of a kind."""
        if player in self._sits:
            return self._sits[player]
        roles, sides = self._roles(), self._sides()
        kinds: dict[tuple[str, ...], int] = {}
        for seat, role in enumerate(roles):
            if self._fits(player, role):
                company = sorted(other for other, side in zip(roles, sides, strict=True) if side == sides[seat])
                kinds.setdefault((role, *company), seat)
        self._sits[player] = list(kinds.values())
        return self._sits[player]

    def _fits(self, player: PlayerId, role: str) -> bool:
        return fits(self._state.population[player], frozenset({role}))

    # --- training --------------------------------------------------------------------------------------------

    def _training(
        self, number: TicketNumber, rng: np.random.Generator, now: float, starved: Collection[PlayerId]
    ) -> Ticket | None:
        for player in self._hungry(starved):
            entries = self._match(player, rng, now)
            if entries is not None:
                return Ticket(
                    number=number,
                    purpose=Purpose.TRAIN,
                    entries=entries,
                    episodes=self._state.config.episodes,
                    trains=player.id,
                    spirit=self._spirit(player.id),
                )
        return None

    def _spirit(self, player: PlayerId) -> float:
        newest = self._state.candidate(player)
        return self._state.config.team.at(0 if newest is None else newest.decisions)

    def _hungry(self, starved: Collection[PlayerId]) -> list[Player]:
        """Return the learning players that can train now, the one furthest behind its rate first.

        Nobody runs far ahead of a player that its learner starves: where learners are the limit, rates are kept,
        too, and collectors rest.
        """
        state = self._state
        if self._ready is None:
            learning = state.population.learning()
            self._ready = [p for p in learning if p.rate > 0 and state.candidate(p.id) is not None]
        ready = self._ready
        had = {p.id: state.asked[p.id] / p.rate for p in ready}
        limit = min(had.values(), default=0.0) + LEAD * state.config.episodes / (sum(p.rate for p in ready) or 1.0)
        return sorted((p for p in ready if p.id not in starved and had[p.id] <= limit), key=lambda p: had[p.id])

    def _match(self, player: Player, rng: np.random.Generator, now: float) -> tuple[Entry, ...] | None:
        """Return the player among others; None while one of them could only be somebody without weights."""
        place, sides = _any(self._places(player.id), rng), self._sides()
        entries = []
        for seat, role in enumerate(self._roles()):
            mate = sides[seat] == sides[place]
            entry = Entry(player.id) if seat == place else self._other(player, role, mate, rng, now)
            if entry is None:
                return None
            entries.append(entry)
        return tuple(entries)

    def _other(self, player: Player, role: str, mate: bool, rng: np.random.Generator, now: float) -> Entry | None:
        choices = self._known_choices(player, role, mate)
        rested = choices  # most leagues never see a void pairing: then there is nothing to leave out
        if self.backed_off:
            rested = [c for c in choices if not self._rests(player.id, c.opponent, now)]
        return self._entry(draw(rested or choices, rng).opponent) if choices else None

    def _known_choices(self, player: Player, role: str, mate: bool) -> list[Choice]:
        found = self._known.get((player.id, role, mate))
        if found is None:
            found = [c for c in self.choices(player, frozenset({role}), mate) if self._playable(c)]
            self._known[player.id, role, mate] = found
        return found

    def forget(self) -> None:
        """Ask matchmakers anew from now on: a batch of messages is over, or the pool has changed.

        In between, all tickets of a player are drawn from the same choices, as if its results came in at the end
        of the batch. A busy coordinator would spend most of its time on them otherwise.
        """
        self._known.clear()
        self._ready = None

    def _playable(self, choice: Choice) -> bool:
        return not choice.live or self._state.candidate(choice.opponent) is not None

    def _entry(self, player: PlayerId) -> Entry:
        found = self._state.population[player]
        return Entry(player, found.snapshot, found.bot)

    # --- evaluation ------------------------------------------------------------------------------------------

    def _evaluation_is_due(self) -> bool:
        """Return whether evaluation, outstanding tickets included, is behind its share of env steps."""
        training, evaluation = self._expected(Purpose.TRAIN), self._expected(Purpose.EVALUATE)
        return evaluation < self._state.config.evaluation.share * (training + evaluation)

    def _expected(self, purpose: Purpose) -> float:
        """Return the env steps of a purpose, as many for an outstanding episode as for a typical one."""
        steps, episodes = self._state.steps[purpose], self._state.episodes[purpose]
        return steps + self._state.outstanding[purpose] * (steps / episodes if episodes else TYPICAL_LENGTH)

    def contestants(self) -> list[Entry]:
        """Return all that can be evaluated: scripted and frozen players, and the newest candidates."""
        found = (self._state.contestant(player.id) for player in self._state.population)
        return [entry for entry in found if entry is not None]

    def _evaluation(self, number: TicketNumber, rng: np.random.Generator, now: float) -> Ticket | None:
        """Let the contestant with the fewest games meet those it met least: often anchors, so that no rating drifts."""
        contestants = self.contestants()
        if not contestants or self._state.config.evaluation.share <= 0:
            return None
        first = _least(contestants, [self._state.evaluated[e.player] for e in contestants], rng)
        place = _any(self._places(first.player), rng)
        fill = self._with_partner if self._cooperative() else self._against
        entries = fill(first, place, contestants, rng, now)
        if entries is None:
            return None
        return self._evaluation_ticket(number, entries, self._state.config.evaluation.episodes)

    def _cooperative(self) -> bool:
        return len(set(self._sides())) == 1

    def _against(
        self, first: Entry, place: int, contestants: Sequence[Entry], rng: np.random.Generator, now: float
    ) -> list[Entry] | None:
        """Return a match of sides: each is a team of one player, as far as its role allows.

        So a rating is that of a player, and not of whom it happened to play with.
        """
        roles, sides = self._roles(), self._sides()
        others = [e for e in contestants if e.player != first.player]
        others = [e for e in others if not self._rests(first.player, e.player, now)] or others
        anchored = rng.random() < self._state.config.evaluation.anchored
        lineup: dict[int, Entry] = {place: first}
        for seat, role in enumerate(roles):
            if seat in lineup:
                continue
            mates = [e for s, e in lineup.items() if sides[s] == sides[seat] and self._fits(e.player, role)]
            fitting = mates[:1] or [e for e in others if self._fits(e.player, role)]
            if not fitting:
                return None
            fresh = [e for e in fitting if e not in lineup.values()] or fitting
            if anchored:
                fresh = [e for e in fresh if self._state.population[e.player].anchor is not None] or fresh
            lineup[seat] = _least(fresh, [self._met(first, e) for e in fresh], rng)
        return [lineup[seat] for seat in range(len(roles))]

    def _with_partner(
        self, first: Entry, place: int, contestants: Sequence[Entry], rng: np.random.Generator, now: float
    ) -> list[Entry] | None:
        """Return a match of one side: a contestant with the partner, perhaps itself, that it has played with least."""
        partners = [e for e in contestants if self._lineup(first, e, place)]
        partners = [e for e in partners if not self._rests(first.player, e.player, now)] or partners
        if len(self._roles()) == 1:
            partners = [first]
        if not partners:
            return None
        return self._lineup(first, _least(partners, [self._met(first, e) for e in partners], rng), place)

    def _met(self, a: Entry, b: Entry) -> float:
        """Return how often two contestants met in evaluation, matches under way included."""
        pending = self._state.pending[frozenset((a.player, b.player))]
        met = self._state.evaluation.return_games if self._cooperative() else self._state.evaluation.games
        return met(a.player, b.player) + pending

    def _lineup(self, first: Entry, second: Entry, place: int) -> list[Entry] | None:
        """Return a match of two: the first has a seat and as much of its side as it can, the second all others.

        Where all are on one side, the first has only its seat, and seats whose role neither of them has go to the
        newest candidate of that role. None if somebody's role does not allow it.
        """
        sides, lineup = self._sides(), []
        for seat, role in enumerate(self._roles()):
            mine = sides[seat] == sides[place]
            order = (second, first) if self._cooperative() else (first, second) if mine else (second,)
            fitting = [first] if seat == place else [e for e in order if self._fits(e.player, role)]
            if not fitting and self._cooperative() and first != second:
                fitting = self._newest(role)
            if not fitting:
                return None
            lineup.append(fitting[0])
        return lineup if second in lineup else None

    def _newest(self, role: str) -> list[Entry]:
        """Return the newest candidates of the learning players that have a role."""
        bound = (player.id for player in self._state.population.learning() if self._fits(player.id, role))
        return [entry for entry in map(self._state.contestant, bound) if entry is not None]

    def _evaluation_ticket(self, number: TicketNumber, entries: Sequence[Entry], episodes: int) -> Ticket:
        return Ticket(number=number, purpose=Purpose.EVALUATE, entries=tuple(entries), episodes=episodes)

    # --- the final evaluation --------------------------------------------------------------------------------

    def final_pairings(self) -> Iterator[tuple[Entry, Entry, int]]:
        """Yield (candidate, other, episodes still to be handed out) of the final evaluation."""
        state = self._state
        contestants = self.contestants()
        games = max(1, len(set(self._sides())) - 1)  # in one episode: the other has all other sides
        for entry in (e for e in contestants if state.population[e.player].learning):
            for other, wanted in self._final_quotas(entry, contestants):
                played = sum(state.latest[entry.player].get(other.player, ()))
                left = -(-(wanted - played) // games) - state.pending[frozenset((entry.player, other.player))]
                if left > 0:
                    yield entry, other, left

    @property
    def _bounded(self) -> bool:
        return self._state.config.final_seconds() is not None

    def final_games(self) -> tuple[int, int]:
        """Return how many games of the final evaluation are played, and how many are wanted."""
        contestants, done, total = self.contestants(), 0, 0
        for entry in (e for e in contestants if self._state.population[e.player].learning):
            for other, wanted in self._final_quotas(entry, contestants):
                done += min(wanted, sum(self._state.latest[entry.player].get(other.player, ())))
                total += wanted
        return done, total

    def _final_quotas(self, entry: Entry, contestants: Sequence[Entry]) -> list[tuple[Entry, int]]:
        """Return whom a candidate meets in the final evaluation, and how often.

        The anchors, so that its score against each is worth its digits; and as often in all, shared out evenly, the
        frozen players. These met each other about as often as anchors, and where players beat each other in circles
        only those who met the same can be compared. In co-operation it plays with itself and the other candidates.
        """
        everybody, enough = self._state.population, self._state.config.evaluation.final_games
        fitting = [e for e in contestants if self._final_places(entry, e)]
        anchors = [e for e in fitting if everybody[e.player].anchor is not None]
        if self._cooperative():
            candidates = [e for e in fitting if everybody[e.player].learning]
            others = candidates + anchors if len(self._roles()) > 1 else [entry]
            return [(other, enough) for other in others]
        whole = enough * len(anchors)
        frozen = [e for e in fitting if everybody[e.player].kind == Kind.FROZEN and e not in anchors][-whole:]
        return [(e, enough) for e in anchors] + [(e, min(enough, whole // len(frozen))) for e in frozen if whole]

    def _final_places(self, entry: Entry, other: Entry) -> list[int]:
        """Return where a player can sit so that the other can have the rest."""
        pair = (entry.player, other.player)
        if pair not in self._seated:
            places = self._places(entry.player)
            self._seated[pair] = [place for place in places if self._lineup(entry, other, place)]
        return self._seated[pair]

    def _final(self, number: TicketNumber, now: float) -> Ticket | None:
        pairings = list(self.final_pairings())
        if not pairings:
            return None
        rested = [p for p in pairings if not self._rests(p[0].player, p[1].player, now)] or pairings
        # Where time may end it early, all pairings come along together: the one with the most left is next.
        candidate, other, left = max(rested, key=lambda p: p[2]) if self._bounded else rested[0]
        places = self._final_places(candidate, other)
        entries = self._lineup(candidate, other, places[number % len(places)])  # in every role in turn
        assert entries is not None
        return self._evaluation_ticket(number, entries, min(left, self._state.config.evaluation.episodes))


def final_is_done(state: LeagueState, scheduler: Scheduler) -> bool:
    """Return whether the final evaluation has been played out."""
    others = any(not is_human(state, ticket) for ticket in state.open.values())
    return not others and not scheduler.waiting and (scheduler.closing or not any(scheduler.final_pairings()))


def _any(places: Sequence[int], rng: np.random.Generator) -> int:
    return places[int(rng.integers(len(places)))] if len(places) > 1 else places[0]


def _least(entries: Sequence[Entry], games: Sequence[float], rng: np.random.Generator) -> Entry:
    fewest = min(games)
    ties = [e for e, g in zip(entries, games, strict=True) if g == fewest]
    return ties[int(rng.integers(len(ties)))]
