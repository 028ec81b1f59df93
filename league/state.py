"""The state of a league: the fold of its events.

    state = LeagueState(config)
    for seq, event in ledger.events():
        apply(state, event)

Nothing else changes a state, and nothing about a league lives anywhere else.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import msgspec

from league.events import (
    CandidateWritten,
    CollectorQuarantined,
    ConfigChanged,
    DuelCounted,
    DuelEpisode,
    Event,
    LeagueFounded,
    LedgerDamaged,
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
from league.plain_state import FINAL as FINAL
from league.plain_state import OVER as OVER
from league.plain_state import TRAINING as TRAINING
from league.plain_state import PlainState, Tally
from league.player import Player
from league.population import Population
from league.ratings import Elo
from league.rulebook import LeagueConfig
from league.ticket import Entry, Episode, Purpose, Ticket, mean_return

TRAIN, EVALUATE = Purpose.TRAIN, Purpose.EVALUATE  # a member of an enumeration takes long to look up

Pairing = frozenset[PlayerId]
Played = Episode | DuelEpisode


def pairing(ticket: Ticket) -> Pairing:
    """Return who meets in a ticket."""
    return frozenset(entry.player for entry in ticket.entries)


class LeagueState(PlainState):
    """Everything a league knows. Read it as you like; only `apply` changes it."""

    def __init__(self, config: LeagueConfig) -> None:
        super().__init__()
        self.config = config
        self.population = Population()
        self.training = Payoff(config.payoff)
        self.evaluation = Payoff(config.payoff)
        self.elo = Elo(config.evaluation.elo_k)
        self.open: dict[TicketNumber, Ticket] = {}
        self.pending: Tally[Pairing] = Tally()  # evaluation episodes handed out and not settled, by pairing

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
        """Return the entry used to evaluate a player: a snapshot or a bot, for a learning player its newest candidate.

        None if nothing could play: it has no candidate yet, or is a human.
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


def apply_all(state: LeagueState, events: Iterable[Event | DuelCounted]) -> None:
    """Change the state by some events, in order: what `apply` does for each of them, for those who fold a million.

    Most events are training tickets of one against one: these are settled here, without a call for each.
    """
    tickets, games, record = state.open, state.games, state.training.record_games
    results = played = steps = settled = 0
    for event in events:
        if type(event) is DuelCounted and (ticket := tickets[event.ticket]).purpose == TRAIN:
            del tickets[event.ticket]
            episodes, number = event.episodes, len(event.episodes)
            results, played, settled = results + 1, played + number, settled + ticket.episodes
            for episode in episodes:
                steps += episode.length
            first, second = ticket.entries
            a, b = first.player, second.player
            games[a] += number
            games[b] += number
            if a != b:
                record(a, b, [episode.ranks for episode in episodes])
            state.voids_in_a_row = 0
        elif type(event) is TicketIssued:
            _issue(state, event.ticket)
        elif type(event) is DuelCounted:
            _count(state, event)
        else:
            apply(state, event)  # type: ignore[arg-type]
    if results:
        state.results[TRAIN] += results
        state.episodes[TRAIN] += played
        state.steps[TRAIN] += steps
        state.outstanding[TRAIN] -= settled


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
            state.quarantined, state.damaged = {}, ""
        case CollectorQuarantined():
            state.quarantined[event.name] = event.why
        case PhaseBegan():
            state.phase, state.why = event.phase, event.why
            if event.phase != OVER:  # at the end they show whether it was given up
                state.voids_in_a_row = 0
        case OperatorActed():
            state.paused = event.action == "pause" or (state.paused and event.action != "resume")
        case LedgerDamaged():
            state.damaged = state.damaged or event.what
        case SnapshotPruned():
            _prune(state, event.snapshot)
        case _:
            raise TypeError(f"the fold does not know the event {event!r}")


def _prune(state: LeagueState, snapshot: Hash) -> None:
    for kept in state.kept.values():
        if snapshot in kept:
            kept.remove(snapshot)


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
    if ticket.purpose == EVALUATE:
        state.pending[pairing(ticket)] += ticket.episodes
        for entry in ticket.entries:
            state.evaluated[entry.player] += ticket.episodes


def _settle(state: LeagueState, number: TicketNumber) -> Ticket:
    ticket = state.open.pop(number)
    state.outstanding[ticket.purpose] -= ticket.episodes
    if ticket.purpose == EVALUATE:
        met = pairing(ticket)
        state.pending[met] -= ticket.episodes
        if not state.pending[met]:
            del state.pending[met]
    return ticket


def _count(state: LeagueState, event: ResultCounted | DuelCounted) -> None:
    ticket, episodes = _settle(state, event.ticket), event.episodes
    purpose, entries, number = ticket.purpose, ticket.entries, len(episodes)
    state.voids_in_a_row = 0
    state.results[purpose] += 1
    state.episodes[purpose] += number
    state.steps[purpose] += sum([episode.length for episode in episodes])
    for entry in entries:
        state.games[entry.player] += number
    sides = _sides(state, len(entries))
    if len(sides) == 2 and sides[0] != sides[1]:
        _count_duel(state, ticket, sides, episodes)
    else:
        assert isinstance(event, ResultCounted)  # only leagues of one against one are decoded without returns
        _count_match(state, ticket, sides, event.episodes)


def _count_duel(state: LeagueState, ticket: Ticket, sides: Sequence[int], episodes: Sequence[Played]) -> None:
    """Record a match of one against one: the same as `_count_match`, at half the price, for nearly all matches."""
    a, b = ticket.entries[0].player, ticket.entries[1].player
    if a == b:
        return
    games = [episode.ranks for episode in episodes]
    if ticket.purpose == TRAIN:
        state.training.record_games(a, b, games)
        return
    state.evaluation.record_games(a, b, games, 1.0)
    state.elo.update_games(a, b, games)
    _tally(state, ticket, sides, episodes)


def _count_match(state: LeagueState, ticket: Ticket, sides: Sequence[int], episodes: Sequence[Episode]) -> None:
    """Record a match of any number of entries on any sides."""
    players = [entry.player for entry in ticket.entries]
    training = ticket.purpose == TRAIN
    table, decay = (state.training, None) if training else (state.evaluation, 1.0)
    record_ranks(table, players, [episode.ranks for episode in episodes], decay, meetings(players, sides))
    if len(set(sides)) < len(sides) or len(sides) == 1:
        _share(table, players, sides, episodes, decay)
    if not training:
        _rate(state, ticket, sides, episodes)
        _tally(state, ticket, sides, episodes)


def _sides(state: LeagueState, entries: int) -> Sequence[int]:
    """Return the side of each entry: that of the seat it begins in."""
    return range(entries) if state.env is None or len(state.env.seats) != entries else state.env.sides


def _share(
    table: Payoff, players: Sequence[PlayerId], sides: Sequence[int], episodes: Sequence[Episode], decay: float | None
) -> None:
    """Record what team-mates earned together: the mean return of the seats of their side."""
    together = mates(players, sides)
    members = {side: [i for i, where in enumerate(sides) if where == side] for side in set(sides)}
    for episode in episodes:
        for a, b, side in together:
            table.record_return(a, b, mean_return(episode, members[side]), decay)


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


def _tally(state: LeagueState, ticket: Ticket, sides: Sequence[int], episodes: Sequence[Played]) -> None:
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
