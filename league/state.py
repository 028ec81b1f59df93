"""The state of a league: the fold of its events.

    state = LeagueState(config)
    for seq, event in ledger.events():
        apply(state, event)

Nothing else changes a state, and nothing about a league lives anywhere else.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import msgspec

from league.candidate_games import CandidateGames
from league.evaluation_payoff import EvaluationPayoff, predecessor
from league.events import (
    CandidateWritten,
    CollectorQuarantined,
    ConfigChanged,
    DuelCounted,
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
from league.limits import ABSENT
from league.margins import largest_margin
from league.mixture import resolve
from league.payoff import RETURN, Payoff
from league.plain_state import FINAL as FINAL
from league.plain_state import OVER as OVER
from league.plain_state import TRAINING as TRAINING
from league.plain_state import PlainState, Tally
from league.player import Player, Status
from league.population import Population
from league.ratings.elo import Elo
from league.results import (
    EvaluationMatch,
    Played,
    evaluate_duel,
    evaluate_match,
    share_returns,
    side_returns,
    train_match,
)
from league.rulebook import LeagueConfig
from league.ticket import Entry, Episode, Member, Purpose, Ticket
from league.variant_scores import count_variant

TRAIN, EVALUATE = Purpose.TRAIN, Purpose.EVALUATE  # a member of an enumeration takes long to look up

Pairing = frozenset[PlayerId]


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
        self.evaluation = EvaluationPayoff(config.payoff)
        self.elo = Elo(config.evaluation.elo_k)
        self.open: dict[TicketNumber, Ticket] = {}
        self.proofs: dict[PlayerId, CandidateGames] = {}  # training games since each candidate after the last freeze
        self.pending: Tally[Pairing] = Tally()  # evaluation episodes handed out and not settled, by pairing

    def go_by(self, payoff: str, returns: bool = False) -> None:
        """Let scores go by outcome or by return, and keep returns beside them, as the league was founded."""
        self.payoff_by, self.keeps_returns = payoff, returns
        if returns:
            assert self.env is not None
            self.evaluation.keep_returns(self.env)
        if payoff == RETURN:
            assert self.env is not None
            for table in (self.training, self.evaluation):
                table.go_by_return(largest_margin(self.env.returns))

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
        if found.status == Status.MIXTURE:
            members = self.members(found)
            return Entry(player, members=members) if members else None
        newest = self.candidate(player) if found.learning else None
        snapshot = newest.snapshot if newest is not None else found.snapshot
        return None if snapshot is None and found.bot is None else Entry(player, snapshot, found.bot)

    def members(self, mixture: Player) -> tuple[Member, ...]:
        """Return the members of a mixture as they play now; none if one of them cannot play yet."""
        return resolve(mixture, self.population, self.contestant)

    def evaluated_as(self, entry: Entry) -> PlayerId | None:
        """Return the row of the evaluation that an entry's games belong to; None for a candidate that is too old."""
        if entry.player not in self.incarnations:
            return entry.player  # it does not learn
        newest = self.candidate(entry.player)
        if newest is not None and newest.snapshot == entry.snapshot:
            return entry.player
        before = self.previous.get(entry.player)
        return predecessor(entry.player) if before is not None and before == entry.snapshot else None

    def games_of_newest(self, player: PlayerId, other: PlayerId) -> int:
        """Return how many evaluation games a player's newest candidate has against another; in co-operation with it."""
        together = self.env is not None and self.env.cooperative
        return int((self.evaluation.return_games if together else self.evaluation.games)(player, other))

    def referenced(self) -> set[Hash]:
        """Return every snapshot that must stay: frozen, newest, named by an open ticket, or where a player began."""
        pinned = {p.snapshot for p in self.population if p.snapshot is not None}
        pinned.update(self.initial.values(), self.starts.values())
        pinned.update(c.snapshot for c in self.candidates.values())
        pinned.update(snapshot for t in self.open.values() for e in t.entries for snapshot in e.snapshots)
        return pinned

    def mains(self) -> list[Player]:
        """Return the learning players that a league is about: those that are up against their own kind; else all."""
        learning, kinds = self.population.learning(), self.config.kinds
        return [p for p in learning if p.kind not in kinds or not self.config.rules(p.kind).exploits] or learning

    def probed(self) -> list[Player]:
        """Return the learning players that the probe at the end of a league is trained against."""
        kinds = self.config.kinds
        return [p for p in self.population.learning() if p.kind not in kinds or kinds[p.kind].probed]

    def start(self, player: PlayerId) -> Hash | None:
        """Return the snapshot that the player's present incarnation begins with; None before its first candidate."""
        return self.starts.get(player) or self.initial.get(player)

    def since_freeze(self, player: PlayerId) -> int:
        """Return how many decisions the newest candidate was trained on since the last freeze or reset."""
        newest = self.candidate(player)
        return 0 if newest is None else newest.decisions - self.frozen_at[player]


def apply_all(state: LeagueState, events: Iterable[Event | DuelCounted]) -> None:
    """Change the state by some events, in order: what `apply` does for each of them, for those who fold a million.

    Most events are training tickets of one against one: these are settled here, without a call for each.
    """
    tickets, games, record = state.open, state.games, state.training.record_games
    trained_episodes, trained_steps = state.trained_episodes, state.trained_steps
    results = played = steps = settled = 0
    no_variant = msgspec.UNSET
    for event in events:
        if (
            type(event) is DuelCounted
            and (ticket := tickets[event.ticket]).purpose == TRAIN
            and ticket.variant is no_variant
        ):
            del tickets[event.ticket]
            episodes, number = event.episodes, len(event.episodes)
            results, played, settled = results + 1, played + number, settled + ticket.episodes
            length = 0
            for episode in episodes:
                length += episode.length
            steps += length
            for learner in ticket.trains:
                trained_episodes[learner] += number
                trained_steps[learner] += length
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
            state.go_by(event.payoff, event.returns is True)
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
            state.paused = event.action == "pause" or (state.paused and event.action != "unpause")
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
        if player.start is not None:
            state.initial[player.id] = player.start


def _candidate(state: LeagueState, event: CandidateWritten) -> None:
    if event.player not in state.initial:
        state.initial[event.player] = event.snapshot
    before = state.candidate(event.player)
    if before is not None:
        state.previous[event.player] = before.snapshot
    state.evaluation.succeed(event.player)
    state.candidates[event.player] = event
    state.proofs.setdefault(event.player, CandidateGames()).note(state.training.raw_row(event.player))
    state.kept.setdefault(event.player, []).append(event.snapshot)
    state.evaluated[event.player] //= 2  # from nothing, each new candidate would take all evaluation for a while


def _freeze(state: LeagueState, event: PlayerFrozen) -> None:
    parent = event.player.parent
    assert parent is not None  # Player checks it
    _add(state, event.player)
    state.training.inherit(event.player.id, parent)
    state.frozen_at[parent] = event.decisions
    if event.scores:
        state.exploits[event.player.id] = event.scores
    state.population.begin(parent)
    _prove_again(state, parent)


def _reset(state: LeagueState, event: PlayerReset) -> None:
    state.incarnations[event.player] = event.incarnation
    state.previous.pop(event.player, None)
    state.starts.pop(event.player, None)
    if event.start is not None:
        state.starts[event.player] = event.start
    state.population.begin(event.player)
    state.training.scale_row(event.player, 0.0)
    state.evaluation.restart(event.player)
    _prove_again(state, event.player)


def _prove_again(state: LeagueState, player: PlayerId) -> None:
    """Let only games from now on count as proof: the player was frozen or reset."""
    games = state.proofs.setdefault(player, CandidateGames())
    games.clear()
    games.note(state.training.raw_row(player))


def _issue(state: LeagueState, ticket: Ticket) -> None:
    state.open[ticket.number] = ticket
    state.tickets = ticket.number
    state.outstanding[ticket.purpose] += ticket.episodes
    for player in ticket.trains:
        state.asked[player] += ticket.episodes
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
    length = sum([episode.length for episode in episodes])
    state.steps[purpose] += length
    for learner in ticket.trains:
        state.trained_episodes[learner] += number
        state.trained_steps[learner] += length
    for entry in entries:
        state.games[entry.player] += number
    sides = _sides(state, len(entries))
    if ticket.variant is not msgspec.UNSET and purpose == TRAIN:
        players, decay = [entry.player for entry in entries], state.config.payoff.decay
        count_variant(state.variants, ticket.variant.name, players, sides, [one.ranks for one in episodes], decay)
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
        if state.training.by_return:
            played = [episode for episode in episodes if ABSENT not in episode.ranks]
            leads = [(mine - yours) / 2 for mine, yours in side_returns(sides, played)]
            state.training.record_margins(a, b, leads)
        return
    match = _match(state, ticket, sides)
    if state.evaluation.by_return or state.keeps_returns or any(ABSENT in ranks for ranks in games):
        evaluate_match(state.evaluation, match, episodes)
    else:
        evaluate_duel(state.evaluation, match, games)
    state.elo.update_games(a, b, games)


def _count_match(state: LeagueState, ticket: Ticket, sides: Sequence[int], episodes: Sequence[Episode]) -> None:
    """Record a match of any number of entries on any sides."""
    shared = len(set(sides)) < len(sides) or len(sides) == 1
    if ticket.purpose == TRAIN:
        players = [entry.player for entry in ticket.entries]
        train_match(state.training, players, sides, episodes)
        if shared:
            share_returns(state.training, players, sides, episodes)
        return
    match = _match(state, ticket, sides)
    evaluate_match(state.evaluation, match, episodes)
    if shared:
        share_returns(state.evaluation, match.rows, sides, episodes, 1.0)
    _rate(state, ticket, sides, episodes)


def _match(state: LeagueState, ticket: Ticket, sides: Sequence[int]) -> EvaluationMatch:
    rows = [state.evaluated_as(entry) for entry in ticket.entries]
    return EvaluationMatch(ticket, rows, _roles(state, len(sides)), tuple(sides))


def _sides(state: LeagueState, entries: int) -> Sequence[int]:
    """Return the side of each entry: that of the seat it begins in."""
    return range(entries) if state.env is None or len(state.env.seats) != entries else state.env.sides


def _roles(state: LeagueState, entries: int) -> tuple[str, ...]:
    """Return the role of each entry's seat."""
    return ("player",) * entries if state.env is None or len(state.env.seats) != entries else state.env.roles


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
            if ABSENT in (episode.ranks[i], episode.ranks[j]):
                continue
            difference = episode.ranks[j] - episode.ranks[i]  # positive: a did better
            state.elo.update_sides(a, b, 0.5 if difference == 0 else float(difference > 0), share)
