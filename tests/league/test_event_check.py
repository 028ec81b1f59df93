"""Whether an event can follow on a state, and whether a state contradicts itself."""

import msgspec
import pytest

from league.event_check import contradiction, unfit
from league.events import (
    CandidateWritten,
    LeagueFounded,
    PhaseBegan,
    PlayerAdded,
    PlayerFrozen,
    PlayerReset,
    ResultCounted,
    TermBegan,
    TicketIssued,
    TicketReissued,
    TicketVoided,
)
from league.player import Player
from league.rulebook import LeagueConfig
from league.spec import Array, EnvSpec, Seat
from league.state import LeagueState, apply
from league.ticket import Entry, Episode, Purpose, Ticket

ENV = EnvSpec("toy", ("a", "b"), (Seat((0,)), Seat((1,))), Array((3,), "float32"), actions=2)
MAIN, BOT = Player(id="main", kind="main"), Player(id="random", kind="scripted", bot="random", anchor=0.0)
TICKET = Ticket(number=1, purpose=Purpose.TRAIN, entries=(Entry("main"), Entry("random", None, "random")), episodes=1,
                trains=("main",))  # fmt: skip
STORY = (
    LeagueFounded(seed=1, config="c", env=ENV),
    TermBegan(term=1),
    PlayerAdded(player=MAIN),
    PlayerAdded(player=BOT),
    CandidateWritten(player="main", incarnation=0, version=0, snapshot="s0", decisions=0),
    TicketIssued(ticket=TICKET),
)
WON = Episode(ranks=(0, 1), returns=(1.0, -1.0), length=3)
FROZEN = Player(id="main.0", kind="main", snapshot="s0", parent="main")


@pytest.fixture
def state():
    state = LeagueState(LeagueConfig())
    for event in STORY:
        assert unfit(state, event) == ""
        apply(state, event)
        assert contradiction(state) == ""
    return state


@pytest.mark.parametrize(
    "event",
    [
        ResultCounted(ticket=1, attempt=0, episodes=(WON,)),
        TicketReissued(ticket=1, attempt=1, why="x"),
        TicketVoided(ticket=1, why="x"),
        TicketIssued(ticket=msgspec.structs.replace(TICKET, number=2)),
        PlayerFrozen(player=FROZEN, decisions=0, why="x", scores={"random": 0.5}),
        PlayerReset(player="main", incarnation=1),
        PhaseBegan(phase="final", why="x"),
    ],
)
def test_what_follows_is_taken(event, state):
    assert unfit(state, event) == ""
    apply(state, event)
    assert contradiction(state) == ""


def changed(ticket, **changes):
    return TicketIssued(ticket=msgspec.structs.replace(ticket, number=2, **changes))


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (STORY[0], "founds a league that exists"),
        (TermBegan(term=0), "begins term 0 after term 1"),
        (PhaseBegan(phase="?", why=""), "begins a phase that is none"),
        (PlayerAdded(player=MAIN), "adds a player that is there"),
        (PlayerAdded(player=Player(id="x" * 999, kind="main")), "an endless one"),
        (PlayerAdded(player=Player(id="x", kind="main", rate=1e300)), "impossible rating or rate"),
        (PlayerAdded(player=Player(id="x", kind="mixture", members=(("main", -3.0),))), "impossible shares"),
        (PlayerFrozen(player=msgspec.structs.replace(FROZEN, parent=None), decisions=0, why=""), "has no parent"),
        (PlayerFrozen(player=msgspec.structs.replace(FROZEN, parent="who"), decisions=0, why=""), "does not exist"),
        (PlayerFrozen(player=FROZEN, decisions=0, why="", scores={"main": 7.0}), "scores that are none"),
        (PlayerReset(player="random", incarnation=1), "says that 'random' learns"),
        (PlayerReset(player="main", incarnation=0), "not a later one"),
        (CandidateWritten(player="who", incarnation=0, version=0, snapshot="s", decisions=0), "does not exist: 'who'"),
        (CandidateWritten(player="main", incarnation=3, version=0, snapshot="s", decisions=0), "incarnation 3"),
        (TicketIssued(ticket=TICKET), "issues ticket 1 after ticket 1"),
        (changed(TICKET, entries=(Entry("main"),)), "a ticket for 1 entries"),
        (changed(TICKET, entries=(Entry("who"), Entry("main"))), "does not exist: 'who'"),
        (changed(TICKET, trains=("random",)), "says that 'random' learns"),
        (changed(TICKET, episodes=0), "a ticket for no episodes"),
        (TicketVoided(ticket=9, why=""), "is about ticket 9, which is not open"),
        (TicketReissued(ticket=1, attempt=0, why=""), "after attempt 0"),
        (ResultCounted(ticket=1, attempt=4, episodes=(WON,)), "of attempt 4 of ticket 1"),
        (ResultCounted(ticket=1, attempt=0, episodes=()), "a result with 0 episodes"),
    ],
)
def test_what_does_not_follow_is_named(event, reason, state):
    assert reason in unfit(state, event)


def test_a_state_of_events_that_do_not_fit_contradicts_itself(state):
    apply(state, changed(TICKET, entries=(Entry("who"), Entry("random", None, "random")), trains=()))
    assert contradiction(state) == "it names a player that does not exist: 'who'"
    apply(state, ResultCounted(ticket=2, attempt=0, episodes=(WON,)))
    assert contradiction(state) == "it names a player that does not exist: 'who'"
