"""Folding fast is folding: bit for bit what one game after the other gives, for every kind of league."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league import events
from league.evaluation_payoff import RatedGame, predecessor
from league.events import (
    CandidateWritten,
    LeagueFounded,
    PlayerAdded,
    PlayerFrozen,
    PlayerReset,
    ResultCounted,
    TermBegan,
    TicketIssued,
    TicketVoided,
)
from league.payoff import mates, meetings
from league.player import Player
from league.rulebook import LeagueConfig
from league.spec import Array, EnvSpec, Seat
from league.state import LeagueState, apply
from league.store.fold import encode_fold, fold_all, fold_rows, resume_fold, write_fold
from league.store.ledger import Ledger, LedgerError
from league.ticket import Entry, Episode, Purpose, Ticket, seating

PLAYERS = [
    Player(id="main", kind="main"),
    Player(id="rival", kind="main_exploiter", rate=0.5),
    Player(id="random", kind="scripted", bot="random", anchor=0.0),
    Player(id="strong", kind="scripted", bot="strong", anchor=9e5),
]
SIDES = {"duel": (0, 1), "alone": (0,), "together": (0, 0), "free for all": (0, 1, 2), "teams": (0, 0, 1, 1)}


def environment(sides):
    seats = tuple(Seat((i,), side=f"side {side}") for i, side in enumerate(sides))
    names = tuple(f"agent {i}" for i in range(len(sides)))
    return EnvSpec(name="game", agents=names, seats=seats, observation=Array((1,), "float32"), actions=2)


def slowly(state, event):
    """Apply one event, with each game recorded by itself: the arithmetic that the fast way has to keep."""
    if not isinstance(event, ResultCounted):
        follow_candidates(state, event)
        return apply(state, event)
    ticket = state.open[event.ticket]
    apply(state, events.TicketWithdrawn(ticket=event.ticket))
    state.voids_in_a_row = 0
    state.results[ticket.purpose] += 1
    state.episodes[ticket.purpose] += len(event.episodes)
    state.steps[ticket.purpose] += sum(episode.length for episode in event.episodes)
    players, sides = [entry.player for entry in ticket.entries], state.env.sides
    for player in players:
        state.games[player] += len(event.episodes)
    training = ticket.purpose == Purpose.TRAIN
    table, decay = (state.training, None) if training else (state.evaluation, 1.0)
    rows = players if training else [row_slowly(state, entry) for entry in ticket.entries]
    if training:
        train_slowly(state, players, event.episodes)
    else:
        evaluate_slowly(state, ticket, rows, event.episodes)
        rate_slowly(state, players, sides, event.episodes)
    for episode in event.episodes:
        for a, b, side in mates(rows, sides) if len(set(sides)) < len(sides) or len(sides) == 1 else ():
            if a is not None and b is not None:
                table.record_return(a, b, side_return(episode, sides, side), decay)
    return None


def follow_candidates(state, event):
    if isinstance(event, CandidateWritten):
        state.written[event.player].append(event.snapshot)
    elif isinstance(event, PlayerReset):
        state.written[event.player].clear()


def train_slowly(state, players, episodes):
    sides = state.env.sides
    for episode in episodes:
        for i, j in meetings(players, sides):
            state.training.record(players[i], players[j], outcome(episode.ranks, i, j))
    for (a, b), met in pairs_slowly(players, sides).items() if state.payoff_by == "return" else ():
        for episode in episodes:
            for i, j in met:
                state.training.record_margins(a, b, [margin(episode, sides, i, j)])


def pairs_slowly(players, sides):
    pairs = {}
    for i, j in meetings(players, sides):
        flipped = (players[j], players[i]) in pairs
        key, met = ((players[j], players[i]), (j, i)) if flipped else ((players[i], players[j]), (i, j))
        pairs.setdefault(key, []).append(met)
    return pairs


def side_return(episode, sides, side):
    earned = [value for value, where in zip(episode.returns, sides, strict=True) if where == side]
    return sum(earned) / len(earned)


def margin(episode, sides, i, j):
    return (side_return(episode, sides, sides[i]) - side_return(episode, sides, sides[j])) / 2


def row_slowly(state, entry):
    """Return the row of an entry by the history of its candidates."""
    if entry.player not in state.written:
        return entry.player
    newest = [*reversed(state.written[entry.player])]
    places = dict(zip(newest[:2], (entry.player, predecessor(entry.player)), strict=False))
    return places.get(entry.snapshot)


def evaluate_slowly(state, ticket, rows, episodes):
    """Count the games of each pair, one turn after the other."""
    players, sides = [entry.player for entry in ticket.entries], state.env.sides
    for (a, b), met in pairs_slowly(players, sides).items():
        turns = {}
        for number, episode in enumerate(episodes):
            order = seating(state.env.roles, number, sides)
            for i, j in met:
                won = outcome(episode.ranks, i, j)
                state.evaluation.record_raw(a, b, *(int(won == one) for one in (1.0, 0.5, 0.0)))
                first = first_seat(order, sides, i) < first_seat(order, sides, j)
                led = margin(episode, sides, i, j) if state.payoff_by == "return" else 0.0
                turns.setdefault(number // ticket.turn, []).append(RatedGame(won, first, led))
        mine, yours = rows[met[0][0]], rows[met[0][1]]
        if mine is not None and yours is not None:
            state.evaluation.record_turns(mine, yours, list(turns.values()))


def first_seat(order, sides, entry):
    return min(seat for seat, one in enumerate(order) if sides[one] == sides[entry])


def outcome(ranks, i, j):
    return 0.5 if ranks[i] == ranks[j] else float(ranks[i] < ranks[j])


def rate_slowly(state, players, sides, episodes):
    teams = {}
    for i, side in enumerate(sides):
        teams.setdefault(side, {}).setdefault(players[i], i)
    for episode in episodes:
        for a, b in combinations(teams.values(), 2):
            if a.keys() != b.keys():
                won = outcome(episode.ranks, next(iter(a.values())), next(iter(b.values())))
                state.elo.update_sides(list(a), list(b), won, 1.0 / max(1, len(teams) - 1))


@st.composite
def histories(draw):
    """A league of any kind: tickets of all purposes among members of a growing pool, results, voids, candidates."""
    sides = SIDES[draw(st.sampled_from([*sorted(SIDES), "duel", "duel", "duel"]))]
    by = draw(st.sampled_from(["outcome", "outcome", "return"]))
    told = [LeagueFounded(seed=1, config="c", env=environment(sides), payoff=by)]
    told += [PlayerAdded(player=player) for player in PLAYERS]
    members = {player.id: None for player in PLAYERS}
    versions, incarnations = (dict.fromkeys(("main", "rival"), 0) for _ in range(2))
    steps = st.sampled_from(["train"] * 4 + ["evaluate"] * 3 + ["void", "void", "candidate", "freeze", "reset", "term"])
    for number, step in enumerate(draw(st.lists(steps, max_size=25)), start=1):
        who = draw(st.sampled_from(sorted(versions)))
        if step in ("candidate", "freeze", "reset"):
            versions[who] += 1
            told.append(
                CandidateWritten(
                    player=who,
                    incarnation=incarnations[who],
                    version=number,
                    snapshot=f"{who}-{versions[who]}",
                    decisions=number,
                )
            )
            members[who] = f"{who}-{versions[who]}"
        if step == "freeze":
            frozen = Player(id=f"{who}.{number}", kind="main", parent=who, snapshot=members[who])
            told.append(PlayerFrozen(player=frozen, decisions=number, why="due"))
            members[frozen.id] = frozen.snapshot
        elif step == "reset":
            incarnations[who] = number
            told.append(PlayerReset(player=who, incarnation=number))
        elif step == "term":
            told.append(TermBegan(term=number))
        elif step in ("train", "evaluate", "void"):
            told += draw(match(number, "train" if step == "void" else step, sides, members, step == "void"))
    return told


@st.composite
def match(draw, number, purpose, sides, members, void):
    names = draw(st.lists(st.sampled_from(sorted(members)), min_size=len(sides), max_size=len(sides)))
    entries = tuple(Entry(name, members[name]) for name in names)
    turn = draw(st.integers(1, 3)) if purpose == "evaluate" else 1
    ticket = Ticket(number=number, purpose=Purpose(purpose), entries=entries, episodes=2, turn=turn)
    if void:
        return [TicketIssued(ticket=ticket), TicketVoided(ticket=number, why="poison")]
    return [TicketIssued(ticket=ticket), draw(results(number, sides))]


@st.composite
def results(draw, number, sides):
    ranks = st.lists(st.integers(0, 2), min_size=len(set(sides)), max_size=len(set(sides)))
    returns = st.floats(-1e6, 1e6, allow_nan=False)
    episodes = tuple(
        Episode(
            tuple(of_side[side] for side in sides),
            tuple(draw(returns) for _ in sides),
            draw(st.integers(1, 400)),
            draw(st.binary(max_size=6)),
        )
        for of_side in draw(st.lists(ranks, min_size=1, max_size=9))
    )
    return ResultCounted(ticket=number, attempt=0, episodes=episodes)


def folded(history, one):
    state = LeagueState(LeagueConfig())
    state.written = {"main": [], "rival": []}  # the candidates of this incarnation, for `slowly`
    for event in history:
        one(state, event)
    return state


@settings(max_examples=150, deadline=None)
@given(history=histories(), page=st.sampled_from([1, 3, 1000]))
def test_the_fast_fold_equals_one_game_after_the_other_bit_for_bit(history, page):
    slow = encode_fold(folded(history, slowly), 0)
    rows = [(seq, events.encode(event)) for seq, event in enumerate(history, start=1)]
    fast = LeagueState(LeagueConfig())
    for start in range(0, len(rows), page):  # once the environment is known, results may be decoded in short
        fold_rows(fast, rows[start : start + page])
    assert encode_fold(fast, 0) == slow
    assert encode_fold(folded(history, apply), 0) == slow, "a coordinator applies event by event"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(history=histories(), data=st.data())
def test_going_on_from_a_checkpoint_at_any_event_gives_the_same_bits(history, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("refold")
    stop = data.draw(st.integers(1, len(history)))
    with Ledger.open(folder / "ledger.sqlite") as ledger:
        ledger._connection.execute("pragma synchronous=off")
        ledger.commit(history)
        write_fold(folder / "fold", folded(history[:stop], apply), stop, ledger.mark(stop))
        state, since = resume_fold(folder / "fold", LeagueConfig(), ledger)
        assert since == stop
        fold_all(state, ledger, since)
        assert encode_fold(state, 0) == encode_fold(folded(history, slowly), 0)


def test_a_training_result_ends_a_row_of_voids():
    entries = (Entry("main"), Entry("random"))
    issued = [
        TicketIssued(ticket=Ticket(number=number, purpose=Purpose.TRAIN, entries=entries, episodes=1))
        for number in (1, 2)
    ]
    won = ResultCounted(ticket=2, attempt=0, episodes=(Episode((0, 1), (1.0, -1.0), 3),))
    founded = [LeagueFounded(seed=1, config="c", env=environment((0, 1))), *(PlayerAdded(player=p) for p in PLAYERS)]
    state = folded(founded, apply)
    rows = enumerate([*issued, TicketVoided(ticket=1, why="poison"), won], start=10)
    fold_rows(state, [(seq, events.encode(event)) for seq, event in rows])
    assert (state.voids, state.voids_in_a_row, state.outstanding[Purpose.TRAIN]) == (1, 0, 0)


def test_a_result_that_does_not_fit_a_duel_is_still_read_in_full():
    """The short form is a shortcut: what does not fit it is decoded as before, and told as before if it is damaged."""
    duel = [LeagueFounded(seed=1, config="c", env=environment((0, 1))), *(PlayerAdded(player=p) for p in PLAYERS)]
    ticket = Ticket(number=1, purpose=Purpose.TRAIN, entries=(Entry("main"), Entry("random")), episodes=1)
    rows = [(i, events.encode(e)) for i, e in enumerate([*duel, TicketIssued(ticket=ticket)], start=1)]
    three = ResultCounted(ticket=1, attempt=0, episodes=(Episode((0, 1, 2), (0.0, 0.0, 0.0), 3),))
    state = LeagueState(LeagueConfig())
    fold_rows(state, rows)
    with pytest.raises(ValueError, match="too many values to unpack"):
        fold_rows(state, [(9, events.encode(three))])
    with pytest.raises(LedgerError, match="event 10 of the ledger cannot be read"):
        fold_rows(state, [(9, events.encode(TermBegan(term=1))), (10, b'{"event":"term_ended"}')])
