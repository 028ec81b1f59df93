"""The fold: what each kind of event does to a league, and that nothing else does."""

from typing import get_args

import msgspec
import numpy as np
import pytest

from league import events as all_events
from league.evaluation_payoff import predecessor
from league.events import (
    CandidateWritten,
    CollectorQuarantined,
    ConfigChanged,
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
from league.limits import ABSENT
from league.player import Player
from league.rulebook import LeagueConfig
from league.spec import Array, EnvSpec, Seat
from league.state import FINAL, OVER, TRAINING, LeagueState, apply
from league.store.fold import encode_fold
from league.ticket import Entry, Episode, Purpose, Ticket

ENV = EnvSpec(
    name="game", agents=("a", "b"), seats=(Seat((0,)), Seat((1,))), observation=Array((1,), "float32"), actions=2
)
MAIN = Player(id="main", kind="main")
BOT = Player(id="bot", kind="scripted", bot="random", anchor=0.0)


def fold(*events, config=None):
    state = LeagueState(config or LeagueConfig())
    for event in events:
        apply(state, event)
    return state


def candidate(version, decisions=0, incarnation=0, player="main"):
    return CandidateWritten(
        player=player,
        incarnation=incarnation,
        version=version,
        snapshot=f"{player}-{incarnation}-{version}",
        decisions=decisions,
    )


def frozen(number, version, decisions=0):
    player = Player(id=f"main.{number}", kind="main", parent="main", snapshot=f"main-0-{version}")
    return PlayerFrozen(player=player, decisions=decisions, why="due")


def issue(number, purpose=Purpose.EVALUATE, entries=(("main", "main-0-0"), ("bot", None)), episodes=2, turn=1):
    seats = tuple(Entry(player, snapshot) for player, snapshot in entries)
    trains = ("main",) if purpose == Purpose.TRAIN else ()
    ticket = Ticket(number=number, purpose=purpose, entries=seats, episodes=episodes, trains=trains, turn=turn)
    return TicketIssued(ticket=ticket)


def result(number, *ranks, length=5):
    return ResultCounted(ticket=number, attempt=0, episodes=tuple(Episode(r, (0.0,) * len(r), length) for r in ranks))


FOUNDED = (LeagueFounded(seed=5, config="c1", env=ENV), PlayerAdded(player=MAIN), PlayerAdded(player=BOT))
WIN, DRAW, LOSS = (0, 1), (0, 0), (1, 0)

EXAMPLES = (
    *FOUNDED,
    TermBegan(term=1),
    candidate(0),
    frozen(0, 0),
    issue(1),
    TicketReissued(ticket=1, attempt=1, why="slow"),
    result(1, WIN, DRAW),
    issue(2, Purpose.TRAIN, (("main", None), ("main.0", "main-0-0"))),
    result(2, LOSS, LOSS),
    issue(3),
    TicketVoided(ticket=3, why="poison"),
    issue(4),
    TicketWithdrawn(ticket=4),
    candidate(1, 100),
    PlayerReset(player="main", incarnation=1),
    candidate(0, 100, incarnation=1),
    SnapshotPruned(snapshot="main-0-1"),
    OperatorActed(action="pause"),
    CollectorQuarantined(name="collector-3", why="on fire"),
    ConfigChanged(config="c2"),
    PhaseBegan(phase=FINAL, why="spent"),
    LedgerDamaged(what="event 7: the row was changed"),
)


def test_every_kind_of_event_is_applied():
    assert {type(event) for event in EXAMPLES} == set(get_args(all_events.Event))
    state = LeagueState(LeagueConfig())
    for event in EXAMPLES:
        before = encode_fold(state, 0)
        apply(state, event)
        assert encode_fold(state, 0) != before, f"{all_events.kind_of(event)} changed nothing"


def test_the_fold_is_deterministic():
    assert encode_fold(fold(*EXAMPLES), 9) == encode_fold(fold(*EXAMPLES), 9)


def test_an_unknown_event_is_an_error():
    class Sold(msgspec.Struct):
        price: int

    with pytest.raises(TypeError, match="does not know the event"):
        apply(LeagueState(LeagueConfig()), Sold(price=3))


def test_founding_and_terms():
    state = fold(*FOUNDED, TermBegan(term=3), ConfigChanged(config="c2"))
    assert (state.seed, state.env, state.term, state.config_hash, state.phase) == (5, ENV, 3, "c2", TRAINING)
    assert [p.id for p in state.population] == ["main", "bot"]
    assert state.incarnations == {"main": 0}
    assert state.elo["bot"] == 0.0


def test_a_player_cannot_join_twice():
    with pytest.raises(ValueError, match="already a player"):
        fold(*FOUNDED, PlayerAdded(player=MAIN))


def test_the_first_candidate_is_the_initial_one_and_the_newest_is_the_candidate():
    state = fold(*FOUNDED, candidate(0), candidate(1, 70))
    assert state.initial == {"main": "main-0-0"}
    assert state.candidate("main").version == 1
    assert state.since_freeze("main") == 70
    assert state.kept == {"main": ["main-0-0", "main-0-1"]}
    assert fold(*FOUNDED).candidate("main") is None


def test_a_frozen_player_inherits_and_the_count_begins_anew():
    train = issue(1, Purpose.TRAIN, (("main", None), ("bot", None)), episodes=4)
    state = fold(*FOUNDED, candidate(0), train, result(1, WIN, WIN, WIN, WIN), candidate(1, 70), frozen(0, 1, 70))
    assert state.population["main.0"].parent == "main"
    assert state.since_freeze("main") == 0
    assert state.training.score("main.0", "bot") == pytest.approx(state.training.score("main", "bot"))
    assert state.training.games("main.0", "bot") == 0
    assert state.elo["main.0"] == state.elo["main"]


def test_a_reset_player_has_no_candidate_and_no_record_but_its_initial_weights():
    train = issue(1, Purpose.TRAIN, (("main", None), ("bot", None)))
    state = fold(*FOUNDED, candidate(0), train, result(1, WIN, WIN), PlayerReset(player="main", incarnation=1))
    assert state.candidate("main") is None
    assert state.since_freeze("main") == 0
    assert state.initial["main"] == "main-0-0"
    assert state.training.games("main", "bot") == 0
    assert state.training.raw("main", "bot") == (2, 0, 0)
    apply(state, candidate(0, 50, incarnation=1))
    assert state.candidate("main").incarnation == 1


def test_an_open_ticket_is_counted_as_outstanding_until_it_is_settled():
    state = fold(*FOUNDED, candidate(0), issue(1, episodes=3), issue(2, Purpose.TRAIN, (("main", None), ("bot", None))))
    assert (state.tickets, list(state.open)) == (2, [1, 2])
    assert state.outstanding == {"evaluate": 3, "train": 2}
    assert state.pending == {frozenset(("main", "bot")): 3}
    assert (state.asked["main"], state.evaluated["bot"]) == (2, 3)
    apply(state, TicketReissued(ticket=1, attempt=2, why="slow"))
    assert state.open[1].attempt == 2
    apply(state, TicketVoided(ticket=1, why="poison"))
    apply(state, TicketWithdrawn(ticket=2))
    assert state.open == {}
    assert not any(state.outstanding.values())
    assert not state.pending
    assert (state.voids, state.voids_in_a_row) == (1, 1)
    assert sum(state.results.values()) == 0


def test_a_result_feeds_its_own_table_and_ends_the_row_of_voids():
    state = fold(
        *FOUNDED,
        candidate(0),
        issue(1),
        TicketVoided(ticket=1, why="x"),
        issue(2),
        issue(3, Purpose.TRAIN, (("main", None), ("bot", None))),
        result(2, WIN, DRAW, length=7),
        result(3, LOSS, LOSS, length=4),
    )
    assert state.evaluation.raw("main", "bot") == (1, 1, 0)
    assert state.training.raw("main", "bot") == (0, 0, 2)
    assert (state.results, state.episodes) == ({"evaluate": 1, "train": 1}, {"evaluate": 2, "train": 2})
    assert (state.steps, state.env_steps) == ({"evaluate": 14, "train": 8}, 22)
    assert state.games == {"main": 4, "bot": 4}
    assert (state.voids, state.voids_in_a_row) == (1, 0)


def test_only_evaluation_moves_elo():
    train = issue(1, Purpose.TRAIN, (("main", None), ("bot", None)))
    assert fold(*FOUNDED, candidate(0), train, result(1, WIN, WIN)).elo["main"] == 0.0
    assert fold(*FOUNDED, candidate(0), issue(1), result(1, WIN, WIN)).elo["main"] > 0.0
    assert fold(*FOUNDED, candidate(0), issue(1), result(1, WIN, WIN)).elo["bot"] == 0.0


BEFORE = predecessor("main")


def test_a_new_candidate_starts_without_games_and_leaves_its_own_to_its_predecessor():
    events = (*FOUNDED, candidate(0), issue(1), result(1, WIN, DRAW), issue(2), result(2, LOSS, LOSS))
    state = fold(*events)
    assert state.evaluation.counts("main", "bot") == (1, 1, 2)
    assert state.evaluation.counts(BEFORE, "bot") == (0, 0, 0)
    state = fold(*events, candidate(1))
    assert state.evaluation.counts("main", "bot") == state.evaluation.counts("bot", "main") == (0, 0, 0)
    assert state.evaluation.counts(BEFORE, "bot") == (1, 1, 2)
    assert state.evaluation.counts("bot", BEFORE) == (2, 1, 1)
    assert state.evaluation.raw("main", "bot") == (1, 1, 2), "raw counts have all candidates"
    assert (state.evaluated["main"], state.evaluated["bot"]) == (2, 4)
    assert state.games_of_newest("main", "bot") == 0
    state = fold(*events, candidate(1), candidate(2))
    assert state.evaluation.counts(BEFORE, "bot") == (0, 0, 0), "only one candidate back is kept"


def test_a_late_result_belongs_to_the_candidate_that_played_it():
    events = (*FOUNDED, candidate(0), issue(1), issue(2), candidate(1), result(1, WIN, WIN))
    late = fold(*events)
    assert late.evaluation.counts("main", "bot") == (0, 0, 0)
    assert late.evaluation.counts(BEFORE, "bot") == (2, 0, 0)
    too_late = fold(*events, candidate(2), result(2, LOSS, LOSS))
    assert too_late.evaluation.counts(BEFORE, "bot") == (0, 0, 0)
    assert too_late.evaluation.raw("main", "bot") == (2, 0, 2)


def test_a_reset_player_has_no_predecessor():
    events = (*FOUNDED, candidate(0), issue(1), issue(2), result(1, WIN, WIN), candidate(1))
    state = fold(*events, PlayerReset(player="main", incarnation=1))
    assert state.evaluation.counts(BEFORE, "bot") == (0, 0, 0)
    apply(state, result(2, WIN, WIN))
    apply(state, candidate(0, incarnation=1))
    assert state.evaluation.counts(BEFORE, "bot") == state.evaluation.counts("main", "bot") == (0, 0, 0)
    assert state.evaluation.raw("main", "bot") == (4, 0, 0)


def test_evaluation_is_counted_by_seat_and_by_turn():
    paired = issue(1, episodes=4, turn=2)
    state = fold(*FOUNDED, candidate(0), paired, result(1, WIN, LOSS, WIN, WIN))
    counts = state.evaluation.game_counts(["main", "bot"])
    assert counts.wins.tolist() == [[0, 2], [1, 0]], "main won both games from the first seat, the bot one of two"
    assert counts.losses.tolist() == [[0, 0], [1, 0]]
    assert counts.pairs.tolist() == [[0, 2], [2, 0]]
    assert counts.pair_squares.tolist() == [[0, 0.25 + 1], [0.25 + 0, 0]]
    assert not counts.margins.any(), "this league goes by outcome"


def by_return(*events, returns=(-2.0, 2.0)):
    env = msgspec.structs.replace(ENV, returns=returns)
    founded = LeagueFounded(seed=5, config="c1", env=env, payoff="return")
    return fold(founded, *FOUNDED[1:], candidate(0), *events)


def paid(number, *margins):
    episodes = tuple(Episode((0, 1) if m > 0 else (1, 0), (m, -m), 5) for m in margins)
    return ResultCounted(ticket=number, attempt=0, episodes=episodes)


def test_a_league_by_return_scores_by_how_much_was_won():
    """Two small wins and one large loss: it wins two games of three, and loses money."""
    train = issue(1, Purpose.TRAIN, (("main", None), ("bot", None)), episodes=3)
    state = by_return(train, paid(1, 0.5, 0.5, -2.0))
    assert state.payoff_by == "return"
    assert state.training.raw("main", "bot") == (2, 0, 1)
    assert state.training.score("main", "bot") < 0.5 < state.training.score("bot", "main")
    mean, low, high = state.training.margin("main", "bot")
    assert low < mean < 0 < high
    outcome = fold(*FOUNDED, candidate(0), train, paid(1, 0.5, 0.5, -2.0))
    assert outcome.training.score("main", "bot") > 0.5
    assert outcome.training.margin("main", "bot") is None


def test_margins_of_evaluation_are_counted_by_turn():
    state = by_return(issue(1, episodes=4, turn=2), paid(1, 2.0, -1.0, 1.0, 1.0))
    counts = state.evaluation.game_counts(["main", "bot"])
    assert counts.margins.tolist() == [[0, 3], [-3, 0]]
    assert counts.margin_squares.tolist() == [[0, 0.25 + 1], [0.25 + 1, 0]]


def test_more_than_two_entries_give_a_game_for_each_pair():
    other = Player(id="other", kind="main")
    entries = (("main", "main-0-0"), ("bot", None), ("other", "other-0-0"))
    state = fold(
        *FOUNDED,
        PlayerAdded(player=other),
        candidate(0),
        candidate(0, player="other"),
        issue(1, entries=entries, episodes=1),
        result(1, (0, 2, 1)),
    )
    assert [state.evaluation.counts("main", other) for other in ("bot", "other")] == [(1, 0, 0)] * 2
    assert [state.evaluation.counts("other", other) for other in ("main", "bot")] == [(0, 0, 1), (1, 0, 0)]
    assert state.elo["main"] > state.elo["other"]


def test_an_episode_without_one_of_two_players_is_no_game():
    absent = ((ABSENT, 0), (0, ABSENT))
    for purpose in Purpose:
        state = fold(*FOUNDED, candidate(0), issue(1, purpose), result(1, *absent))
        table = state.evaluation if purpose == Purpose.EVALUATE else state.training
        assert table.raw("main", "bot") == (0, 0, 0)
        assert table.games("main", "bot") == 0
        assert state.elo["main"] == 0.0
        assert state.episodes[purpose] == 2
    one = fold(*FOUNDED, candidate(0), issue(1), result(1, WIN, absent[0]))
    assert one.evaluation.raw("main", "bot") == (1, 0, 0)
    assert one.evaluation.game_counts(["main", "bot"]).pairs[0, 1] == 1


def test_self_play_is_no_evidence():
    state = fold(
        *FOUNDED, candidate(0), issue(1, Purpose.TRAIN, (("main", None), ("main", None))), result(1, WIN, LOSS)
    )
    assert not np.any(state.training.points(["main", "bot"]))
    assert state.games["main"] == 4


def test_pause_unpause_and_phases():
    state = fold(*FOUNDED, OperatorActed(action="pause"), OperatorActed(action="drain"))
    assert state.paused
    apply(state, OperatorActed(action="unpause"))
    assert not state.paused
    apply(state, OperatorActed(action="stop"))
    assert not state.paused
    state.voids_in_a_row = 7
    apply(state, PhaseBegan(phase=OVER, why="hopeless"))
    assert (state.phase, state.why, state.voids_in_a_row) == (OVER, "hopeless", 7), "they say how it ended"
    apply(state, PhaseBegan(phase=TRAINING, why="resumed"))
    assert state.voids_in_a_row == 0


def test_what_is_referenced_must_stay():
    state = fold(
        *FOUNDED,
        candidate(0),
        candidate(1),
        frozen(0, 1),
        candidate(2),
        issue(1, entries=(("main", "main-0-2"), ("bot", None))),
        candidate(3),
        candidate(4),
    )
    assert state.referenced() == {"main-0-0", "main-0-1", "main-0-2", "main-0-4"}
    apply(state, SnapshotPruned(snapshot="main-0-3"))
    assert state.kept["main"] == ["main-0-0", "main-0-1", "main-0-2", "main-0-4"]
