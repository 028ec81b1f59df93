"""The scheduler: which ticket comes next. Pure: it reads the state and draws from the rng it is given.

Evaluation gets its share of env steps by deficit; training episodes are shared out among the learning players
by their rates, and a matchmaker names the opponents.
"""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from league.ids import PlayerId, TicketNumber
from league.matchmaking.choice import Choice, draw
from league.matchmaking.recipes import matchmaker
from league.player import Player
from league.state import FINAL, TRAINING, LeagueState
from league.ticket import Entry, Purpose, Ticket

TYPICAL_LENGTH = 20.0  # moves in an episode, until the first results tell


class Scheduler:
    """Draws the next ticket of a league."""

    def __init__(self, state: LeagueState) -> None:
        self._state = state
        self._matchmaker: Callable[..., list[Choice]] = matchmaker(state.config.matchmaking)
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
        rng = np.random.Generator(np.random.Philox(key=[state.seed, number]))
        if state.phase == FINAL:
            return self._final(number)
        if state.phase != TRAINING:
            return None
        if self._evaluation_is_due():
            return self._evaluation(number, rng) or self._training(number, rng, now, starved)
        return self._training(number, rng, now, starved)

    # --- training --------------------------------------------------------------------------------------------

    def _training(
        self, number: TicketNumber, rng: np.random.Generator, now: float, starved: Collection[PlayerId]
    ) -> Ticket | None:
        player = self._hungriest(starved)
        if player is None:
            return None
        assert self._state.env is not None
        seats = self._state.env.seats
        place = next(i for i, seat in enumerate(seats) if player.role in (None, seat.role))
        entries = [
            Entry(player.id) if i == place else self._opponent(player, seat.role, rng, now)
            for i, seat in enumerate(seats)
        ]
        return Ticket(
            number=number,
            purpose=Purpose.TRAIN,
            entries=tuple(entries),
            episodes=self._state.config.episodes,
            trains=player.id,
        )

    def _hungriest(self, starved: Collection[PlayerId]) -> Player | None:
        """Return the learning player that is furthest behind its rate."""
        state = self._state
        ready = [
            p
            for p in state.population.learning()
            if p.rate > 0 and p.id not in starved and state.candidate(p.id) is not None
        ]
        return min(ready, key=lambda p: state.asked[p.id] / p.rate, default=None)

    def _opponent(self, player: Player, role: str, rng: np.random.Generator, now: float) -> Entry:
        choices = self.choices(player, frozenset({role}))
        usable = [c for c in choices if self._playable(c) and not self._rests(player.id, c.opponent, now)]
        choice = draw(usable or [c for c in choices if self._playable(c)], rng)
        return self._entry(choice.opponent)

    def _playable(self, choice: Choice) -> bool:
        return not choice.live or self._state.candidate(choice.opponent) is not None

    def _rests(self, a: PlayerId, b: PlayerId, now: float) -> bool:
        return self.backed_off.get(frozenset((a, b)), 0.0) > now

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

    def _evaluation(self, number: TicketNumber, rng: np.random.Generator) -> Ticket | None:
        """Let the contestant with the fewest games meet those it met least."""
        contestants = self.contestants()
        if len(contestants) < 2 or self._state.config.evaluation.share <= 0:
            return None
        first = _least(contestants, [self._state.evaluated[e.player] for e in contestants], rng)
        others = [e for e in contestants if e.player != first.player]
        assert self._state.env is not None
        entries = [first]
        while len(entries) < len(self._state.env.seats):
            entries.append(_least(others, [self._met(first, e) for e in others], rng))
        return self._evaluation_ticket(number, entries, self._state.config.evaluation.episodes)

    def _met(self, a: Entry, b: Entry) -> float:
        """Return how often two contestants met in evaluation, matches under way included."""
        pending = self._state.pending[frozenset((a.player, b.player))]
        return self._state.evaluation.games(a.player, b.player) + pending

    def _evaluation_ticket(self, number: TicketNumber, entries: Sequence[Entry], episodes: int) -> Ticket:
        return Ticket(number=number, purpose=Purpose.EVALUATE, entries=tuple(entries), episodes=episodes)

    # --- the final evaluation --------------------------------------------------------------------------------

    def final_pairings(self) -> list[tuple[Entry, Entry, int]]:
        """Return (candidate, anchor, games still to be handed out) of the final evaluation."""
        state = self._state
        missing = []
        for entry in self.contestants():
            if not state.population[entry.player].learning:
                continue
            for anchor in state.population.anchors():
                played = sum(state.latest[entry.player].get(anchor.id, ()))
                left = state.config.evaluation.final_games - played
                left -= state.pending[frozenset((entry.player, anchor.id))]
                if left > 0:
                    missing.append((entry, self._entry(anchor.id), left))
        return missing

    def _final(self, number: TicketNumber) -> Ticket | None:
        pairings = self.final_pairings()
        if not pairings:
            return None
        candidate, anchor, left = pairings[0]
        assert self._state.env is not None
        entries = [candidate] + [anchor] * (len(self._state.env.seats) - 1)
        return self._evaluation_ticket(number, entries, min(left, self._state.config.evaluation.episodes))


def final_is_done(state: LeagueState, scheduler: Scheduler) -> bool:
    """Return whether the final evaluation has been played out."""
    return not state.open and not scheduler.final_pairings()


def _least(entries: Sequence[Entry], games: Sequence[float], rng: np.random.Generator) -> Entry:
    fewest = min(games)
    ties = [e for e, g in zip(entries, games, strict=True) if g == fewest]
    return ties[int(rng.integers(len(ties)))]
