"""The state of a league: the fold of its events.

    state = LeagueState(config)
    for seq, event in ledger.events():
        apply(state, event)

Nothing else changes a state, and nothing about a league lives anywhere else.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import msgspec

from league.events import (
    CandidateWritten,
    ConfigChanged,
    Event,
    LeagueFounded,
    OperatorActed,
    PhaseBegan,
    PlayerAdded,
    PlayerFrozen,
    PlayerReset,
    ResultCounted,
    SnapshotPruned,
    TermBegan,
    TicketIssued,
    TicketReissued,
    TicketVoided,
    TicketWithdrawn,
)
from league.ids import Hash, PlayerId, TicketNumber
from league.payoff import Payoff, mates, meetings, record_ranks
from league.player import Player
from league.population import Population
from league.ratings import Elo
from league.rulebook import LeagueConfig
from league.spec import EnvSpec
from league.ticket import Entry, Episode, Purpose, Ticket

TRAINING, FINAL, OVER = "training", "final", "over"

Pairing = frozenset[PlayerId]


def pairing(ticket: Ticket) -> Pairing:
    """Return who meets in a ticket."""
    return frozenset(entry.player for entry in ticket.entries)


class LeagueState:
    """Everything a league knows. Read it as you like; only `apply` changes it."""

    def __init__(self, config: LeagueConfig) -> None:
        self.config = config
        self.seed = 0
        self.config_hash = Hash("")
        self.env: EnvSpec | None = None
        self.term = 0
        self.phase = TRAINING
        self.why = ""
        self.paused = False

        self.population = Population()
        self.training = Payoff(config.payoff)
        self.evaluation = Payoff(config.payoff)
        self.elo = Elo(config.evaluation.elo_k)

        self.candidates: dict[PlayerId, CandidateWritten] = {}
        self.initial: dict[PlayerId, Hash] = {}
        self.incarnations: dict[PlayerId, int] = {}
        self.frozen_at: dict[PlayerId, int] = {}  # decisions when it was last frozen or reset
        self.latest: dict[PlayerId, dict[PlayerId, list[int]]] = {}  # wins, draws, losses of the newest candidate

        self.open: dict[TicketNumber, Ticket] = {}
        self.tickets = 0
        self.asked: Counter[PlayerId] = Counter()  # training episodes handed out for each learning player
        self.results: Counter[str] = Counter()  # tickets by purpose
        self.episodes: Counter[str] = Counter()
        self.steps: Counter[str] = Counter()
        self.games: Counter[PlayerId] = Counter()
        self.outstanding: Counter[str] = Counter()  # episodes handed out and not settled, by purpose
        self.pending: Counter[Pairing] = Counter()  # the same for evaluation, by pairing
        self.evaluated: Counter[PlayerId] = Counter()  # evaluation episodes handed out; older candidates count less
        self.voids = 0
        self.voids_in_a_row = 0
        self.kept: dict[PlayerId, list[Hash]] = {}  # candidates that are still in the store, oldest first

    @property
    def env_steps(self) -> int:
        """Moves in training and evaluation."""
        return sum(self.steps.values())

    def candidate(self, player: PlayerId) -> CandidateWritten | None:
        """Return the newest candidate of the player's present incarnation."""
        newest = self.candidates.get(player)
        if newest is None or newest.incarnation != self.incarnations[player]:
            return None
        return newest

    def contestant(self, player: PlayerId) -> Entry | None:
        """Return as what a player is evaluated: a snapshot or a bot, for a learning player its newest candidate.

        None if there is nothing that could play: no candidate yet, or a human, who is not here.
        """
        found = self.population[player]
        newest = self.candidate(player) if found.learning else None
        snapshot = newest.snapshot if newest is not None else found.snapshot
        return None if snapshot is None and found.bot is None else Entry(player, snapshot, found.bot)

    def referenced(self) -> set[Hash]:
        """Return every snapshot that must stay: frozen, initial, newest, or named by an open ticket."""
        pinned = {p.snapshot for p in self.population if p.snapshot is not None}
        pinned.update(self.initial.values())
        pinned.update(c.snapshot for c in self.candidates.values())
        pinned.update(e.snapshot for t in self.open.values() for e in t.entries if e.snapshot is not None)
        return pinned

    def since_freeze(self, player: PlayerId) -> int:
        """Return how many decisions the newest candidate was trained on since the last freeze or reset."""
        newest = self.candidate(player)
        return 0 if newest is None else newest.decisions - self.frozen_at[player]


def apply(state: LeagueState, event: Event) -> None:
    """Change the state by one event, in place."""
    match event:
        case ResultCounted():
            _count(state, event)
        case TicketIssued():
            _issue(state, event.ticket)
        case TicketReissued():
            ticket = state.open[event.ticket]
            state.open[event.ticket] = msgspec.structs.replace(ticket, attempt=event.attempt)
        case TicketVoided():
            _settle(state, event.ticket)
            state.voids += 1
            state.voids_in_a_row += 1
        case TicketWithdrawn():
            _settle(state, event.ticket)
        case CandidateWritten():
            _candidate(state, event)
        case PlayerAdded():
            _add(state, event.player)
        case PlayerFrozen():
            _freeze(state, event)
        case PlayerReset():
            _reset(state, event)
        case _:
            _apply_rare(state, event)


def _apply_rare(state: LeagueState, event: Event) -> None:
    match event:
        case LeagueFounded():
            state.seed, state.config_hash, state.env = event.seed, event.config, event.env
        case ConfigChanged():
            state.config_hash = event.config
        case TermBegan():
            state.term = event.term
        case PhaseBegan():
            state.phase, state.why = event.phase, event.why
            state.voids_in_a_row = 0
        case OperatorActed():
            state.paused = event.action == "pause" or (state.paused and event.action != "resume")
        case SnapshotPruned():
            for kept in state.kept.values():
                if event.snapshot in kept:
                    kept.remove(event.snapshot)
        case _:
            raise TypeError(f"the fold does not know the event {event!r}")


def _add(state: LeagueState, player: Player) -> None:
    state.population.add(player)
    state.training.index(player.id)
    state.evaluation.index(player.id)
    state.elo.add(player)
    if player.learning:
        others = [state.asked[p.id] / p.rate for p in state.population.learning() if p.rate > 0 and p.id != player.id]
        state.asked[player.id] = int(player.rate * min(others, default=0.0))  # who comes late need not catch up
        state.incarnations[player.id] = 0
        state.frozen_at[player.id] = 0


def _candidate(state: LeagueState, event: CandidateWritten) -> None:
    if event.player not in state.initial:
        state.initial[event.player] = event.snapshot
    state.candidates[event.player] = event
    state.kept.setdefault(event.player, []).append(event.snapshot)
    carry = state.config.evaluation.carry
    state.evaluation.scale_row(event.player, carry)
    state.evaluated[event.player] = int(state.evaluated[event.player] * carry)
    state.latest[event.player] = {}


def _freeze(state: LeagueState, event: PlayerFrozen) -> None:
    parent = event.player.parent
    assert parent is not None  # Player checks it
    _add(state, event.player)
    state.training.inherit(event.player.id, parent)
    state.frozen_at[parent] = event.decisions


def _reset(state: LeagueState, event: PlayerReset) -> None:
    state.incarnations[event.player] = event.incarnation
    state.training.scale_row(event.player, 0.0)
    state.evaluation.scale_row(event.player, 0.0)


def _issue(state: LeagueState, ticket: Ticket) -> None:
    state.open[ticket.number] = ticket
    state.tickets = ticket.number
    state.outstanding[ticket.purpose] += ticket.episodes
    if ticket.trains is not None:
        state.asked[ticket.trains] += ticket.episodes
    if ticket.purpose == Purpose.EVALUATE:
        state.pending[pairing(ticket)] += ticket.episodes
        for entry in ticket.entries:
            state.evaluated[entry.player] += ticket.episodes


def _settle(state: LeagueState, number: TicketNumber) -> Ticket:
    ticket = state.open.pop(number)
    state.outstanding[ticket.purpose] -= ticket.episodes
    if ticket.purpose == Purpose.EVALUATE:
        state.pending[pairing(ticket)] -= ticket.episodes
        if not state.pending[pairing(ticket)]:
            del state.pending[pairing(ticket)]
    return ticket


def _count(state: LeagueState, event: ResultCounted) -> None:
    ticket = _settle(state, event.ticket)
    state.voids_in_a_row = 0
    state.results[ticket.purpose] += 1
    state.episodes[ticket.purpose] += len(event.episodes)
    state.steps[ticket.purpose] += sum(episode.length for episode in event.episodes)
    players = [entry.player for entry in ticket.entries]
    for player in players:
        state.games[player] += len(event.episodes)
    table = state.training if ticket.purpose == Purpose.TRAIN else state.evaluation
    decay = None if ticket.purpose == Purpose.TRAIN else 1.0
    sides = _sides(state, len(players))
    met = meetings(players, sides)
    for episode in event.episodes:
        record_ranks(table, players, episode.ranks, decay, met)
    if len(set(sides)) < len(sides) or len(sides) == 1:
        _share(table, players, sides, event.episodes, decay)
    if ticket.purpose == Purpose.EVALUATE:
        _rate(state, ticket, sides, event.episodes)
        _tally(state, ticket, sides, event.episodes)


def _sides(state: LeagueState, entries: int) -> Sequence[int]:
    """Return the side of each entry: that of the seat it begins in."""
    return range(entries) if state.env is None or len(state.env.seats) != entries else state.env.sides


def _share(
    table: Payoff, players: Sequence[PlayerId], sides: Sequence[int], episodes: Sequence[Episode], decay: float | None
) -> None:
    """Record what team-mates earned together: the mean return of the seats of their side."""
    together = mates(players, sides)
    for episode in episodes:
        for a, b, side in together:
            earned = [value for value, where in zip(episode.returns, sides, strict=True) if where == side]
            table.record_return(a, b, sum(earned) / len(earned), decay)


def _rate(state: LeagueState, ticket: Ticket, sides: Sequence[int], episodes: Sequence[Episode]) -> None:
    """Feed evaluation episodes to the online Elo, a game for each pair of sides."""
    teams: dict[int, dict[PlayerId, int]] = {}  # the players of each side; ranks are equal within a side
    for i, (entry, side) in enumerate(zip(ticket.entries, sides, strict=True)):
        teams.setdefault(side, {}).setdefault(entry.player, i)
    games = [
        (list(a), list(b), next(iter(a.values())), next(iter(b.values())))
        for a, b in combinations(teams.values(), 2)
        if a.keys() != b.keys()
    ]
    share = 1.0 / max(1, len(teams) - 1)
    for episode in episodes:
        for a, b, i, j in games:
            difference = episode.ranks[j] - episode.ranks[i]  # positive: a did better
            state.elo.update_sides(a, b, 0.5 if difference == 0 else float(difference > 0), share)


def _tally(state: LeagueState, ticket: Ticket, sides: Sequence[int], episodes: Sequence[Episode]) -> None:
    """Count wins, draws and losses of newest candidates; in co-operation every game is as good as drawn."""
    entries = ticket.entries
    players = [entry.player for entry in entries]
    first = {player: i for i, player in reversed(list(enumerate(players)))}
    pairs = [pair for i, j in meetings(players, sides) for pair in ((i, j), (j, i))]
    if len(set(sides)) == 1:
        pairs = [(first[a], first[b]) for a, b, _ in mates(players, sides)]
    for i, j in pairs:
        newest = state.candidates.get(players[i])
        if newest is not None and newest.snapshot == entries[i].snapshot:
            tally = state.latest[players[i]].setdefault(players[j], [0, 0, 0])
            for episode in episodes:
                difference = episode.ranks[j] - episode.ranks[i]
                tally[0 if difference > 0 else 1 if difference == 0 else 2] += 1
