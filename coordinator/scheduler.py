"""The scheduler: which ticket comes next. Pure: it reads the state and draws from the rng it is given.

Evaluation gets its share of env steps by deficit; training episodes are shared out among the learning players
by their rates, and a matchmaker names the opponents.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import combinations

import numpy as np

from league.ids import PlayerId, TicketNumber
from league.matchmaking.choice import Choice, draw
from league.matchmaking.pool import fits
from league.matchmaking.recipes import matchmaker
from league.player import Player
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
        self._known: dict[tuple[PlayerId, str], list[Choice]] = {}  # choices that hold for this batch
        self.backed_off: dict[frozenset[PlayerId], float] = {}  # pairings that were void, and until when

    def choices(self, player: Player, roles: frozenset[str] | None = None) -> list[Choice]:
        """Return whom the player would meet now, with exact probabilities and reasons."""
        return self._matchmaker(player, self._state.population, self._state.training, roles)

    def next(self, now: float, starved: Collection[PlayerId] = ()) -> Ticket | None:
        """Return a new ticket, or None if there is nothing to play."""
        state = self._state
        if state.paused or state.env is None:
            return None
        number = TicketNumber(state.tickets + 1)
        rng = self._draws.of(state.seed, number)
        if state.phase == FINAL:
            return self._final(number, now)
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

    def _places(self, player: PlayerId) -> list[int]:
        """Return where a player can sit: one seat of each role that it can take, as entries rotate within a role."""
        roles = self._roles()
        return [roles.index(role) for role in dict.fromkeys(roles) if self._fits(player, role)]

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
                )
        return None

    def _hungry(self, starved: Collection[PlayerId]) -> list[Player]:
        """Return the learning players that can train now, the one furthest behind its rate first.

        Nobody runs far ahead of a player that its learner starves: where learners are the limit, rates are kept,
        too, and collectors rest.
        """
        state = self._state
        ready = [p for p in state.population.learning() if p.rate > 0 and state.candidate(p.id) is not None]
        had = {p.id: state.asked[p.id] / p.rate for p in ready}
        limit = min(had.values(), default=0.0) + LEAD * state.config.episodes / (sum(p.rate for p in ready) or 1.0)
        return sorted((p for p in ready if p.id not in starved and had[p.id] <= limit), key=lambda p: had[p.id])

    def _match(self, player: Player, rng: np.random.Generator, now: float) -> tuple[Entry, ...] | None:
        """Return the player among opponents; None while one of them could only be somebody without weights."""
        place = _any(self._places(player.id), rng)
        entries = []
        for seat, role in enumerate(self._roles()):
            entry = Entry(player.id) if seat == place else self._opponent(player, role, rng, now)
            if entry is None:
                return None
            entries.append(entry)
        return tuple(entries)

    def _opponent(self, player: Player, role: str, rng: np.random.Generator, now: float) -> Entry | None:
        choices = self._known_choices(player, role)
        rested = choices  # most leagues never see a void pairing: then there is nothing to leave out
        if self.backed_off:
            rested = [c for c in choices if not self._rests(player.id, c.opponent, now)]
        return self._entry(draw(rested or choices, rng).opponent) if choices else None

    def _known_choices(self, player: Player, role: str) -> list[Choice]:
        found = self._known.get((player.id, role))
        if found is None:
            found = [c for c in self.choices(player, frozenset({role})) if self._playable(c)]
            self._known[player.id, role] = found
        return found

    def forget(self) -> None:
        """Ask matchmakers anew from now on: a batch of messages is over, or the pool has changed.

        In between, all tickets of a player are drawn from the same choices, as if its results came in at the end
        of the batch. A busy coordinator would spend most of its time on them otherwise.
        """
        self._known.clear()

    def _playable(self, choice: Choice) -> bool:
        return not choice.live or self._state.candidate(choice.opponent) is not None

    def _entry(self, player: PlayerId) -> Entry:
        found = self._state.population[player]
        return Entry(player, found.snapshot, found.bot)

    # --- evaluation ------------------------------------------------------------------------------------------

    def _evaluation_is_due(self) -> bool:
        """Return whether evaluation, outstanding tickets included, is behind its share of env steps."""
        state = self._state
        expected = {p: state.steps[p] + state.outstanding[p] * self._typical_length(p) for p in Purpose}
        return expected[Purpose.EVALUATE] < state.config.evaluation.share * sum(expected.values())

    def _typical_length(self, purpose: Purpose) -> float:
        episodes = self._state.episodes[purpose]
        return self._state.steps[purpose] / episodes if episodes else TYPICAL_LENGTH

    def contestants(self) -> list[Entry]:
        """Return all that can be evaluated: scripted and frozen players, and the newest candidates."""
        entries = []
        for player in self._state.population:
            if player.learning:
                newest = self._state.candidate(player.id)
                if newest is not None:
                    entries.append(Entry(player.id, newest.snapshot))
            elif player.snapshot is not None or player.bot is not None:
                entries.append(self._entry(player.id))
        return entries

    def _evaluation(self, number: TicketNumber, rng: np.random.Generator, now: float) -> Ticket | None:
        """Let the contestant with the fewest games meet those it met least: often anchors, so that no rating drifts."""
        contestants = self.contestants()
        if len(contestants) < 2 or self._state.config.evaluation.share <= 0:
            return None
        first = _least(contestants, [self._state.evaluated[e.player] for e in contestants], rng)
        place = _any(self._places(first.player), rng)
        others = [e for e in contestants if e.player != first.player]
        others = [e for e in others if not self._rests(first.player, e.player, now)] or others
        anchored = rng.random() < self._state.config.evaluation.anchored
        entries: list[Entry] = []
        for seat, role in enumerate(self._roles()):
            fitting = [first] if seat == place else [e for e in others if self._fits(e.player, role)]
            if not fitting:
                return None
            fresh = [e for e in fitting if e not in entries] or fitting
            if anchored:
                fresh = [e for e in fresh if self._state.population[e.player].anchor is not None] or fresh
            entries.append(_least(fresh, [self._met(first, e) for e in fresh], rng))
        return self._evaluation_ticket(number, entries, self._state.config.evaluation.episodes)

    def _met(self, a: Entry, b: Entry) -> float:
        """Return how often two contestants met in evaluation, matches under way included."""
        pending = self._state.pending[frozenset((a.player, b.player))]
        return self._state.evaluation.games(a.player, b.player) + pending

    def _evaluation_ticket(self, number: TicketNumber, entries: Sequence[Entry], episodes: int) -> Ticket:
        return Ticket(number=number, purpose=Purpose.EVALUATE, entries=tuple(entries), episodes=episodes)

    # --- the final evaluation --------------------------------------------------------------------------------

    def final_pairings(self) -> list[tuple[Entry, Entry, int]]:
        """Return (candidate, anchor, episodes still to be handed out) of the final evaluation."""
        state = self._state
        games = len(self._roles()) - 1  # in one episode: the anchor has all other seats
        missing = []
        for entry in self.contestants():
            if not state.population[entry.player].learning:
                continue
            for anchor in state.population.anchors():
                played = sum(state.latest[entry.player].get(anchor.id, ()))
                left = -(-(state.config.evaluation.final_games - played) // games) if games else 0
                left -= state.pending[frozenset((entry.player, anchor.id))]
                if left > 0 and self._final_places(entry.player, anchor.id):
                    missing.append((entry, self._entry(anchor.id), left))
        return missing

    def _final_places(self, player: PlayerId, anchor: PlayerId) -> list[int]:
        """Return where a player can sit so that the anchor can have all other seats."""
        stuck = [seat for seat, role in enumerate(self._roles()) if not self._fits(anchor, role)]
        return [place for place in self._places(player) if all(seat == place for seat in stuck)]

    def _final(self, number: TicketNumber, now: float) -> Ticket | None:
        pairings = self.final_pairings()
        if not pairings:
            return None
        rested = [p for p in pairings if not self._rests(p[0].player, p[1].player, now)]
        candidate, anchor, left = (rested or pairings)[0]
        places = self._final_places(candidate.player, anchor.player)
        entries = [anchor] * len(self._roles())
        entries[places[number % len(places)]] = candidate  # in every role in turn
        return self._evaluation_ticket(number, entries, min(left, self._state.config.evaluation.episodes))


def final_is_done(state: LeagueState, scheduler: Scheduler) -> bool:
    """Return whether the final evaluation has been played out."""
    return not state.open and not scheduler.final_pairings()


def _any(places: Sequence[int], rng: np.random.Generator) -> int:
    return places[int(rng.integers(len(places)))] if len(places) > 1 else places[0]


def _least(entries: Sequence[Entry], games: Sequence[float], rng: np.random.Generator) -> Entry:
    fewest = min(games)
    ties = [e for e, g in zip(entries, games, strict=True) if g == fewest]
    return ties[int(rng.integers(len(ties)))]
