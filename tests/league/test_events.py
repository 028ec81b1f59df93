"""Events: a closed union that survives the way through JSON."""

import json
from typing import get_args

import msgspec
import pytest

from league import events
from league.player import Player
from league.spec import Array, EnvSpec, Seat
from league.ticket import Entry, Episode, Purpose, Ticket

ENV = EnvSpec(
    name="game", agents=("a", "b"), seats=(Seat((0,)), Seat((1,))), observation=Array((2,), "int8"), actions=3
)
TICKET = Ticket(
    number=3, purpose=Purpose.TRAIN, entries=(Entry("main"), Entry("main.0", "f" * 64)), episodes=8, trains=("main",)
)
ALL = (
    events.LeagueFounded(seed=1, config="c" * 64, env=ENV),
    events.ConfigChanged(config="d" * 64),
    events.TermBegan(term=2),
    events.PlayerAdded(player=Player(id="main", kind="main", rate=0.5, role="fox")),
    events.CandidateWritten(player="main", incarnation=1, version=2, snapshot="e" * 64, decisions=10),
    events.PlayerFrozen(
        player=Player(id="main.0", kind="main", parent="main", snapshot="e" * 64), decisions=10, why="due"
    ),
    events.PlayerReset(player="main", incarnation=2),
    events.TicketIssued(ticket=TICKET),
    events.TicketReissued(ticket=3, attempt=1, why="no progress for 30 s"),
    events.TicketVoided(ticket=3, why='the board caught fire: "ouch" \N{FIRE}'),
    events.TicketWithdrawn(ticket=3),
    events.ResultCounted(ticket=3, attempt=1, episodes=(Episode((0, 1), (1.5, -0.1), 7, b"\x00\xff"),)),
    events.OperatorActed(action="pause"),
    events.CollectorQuarantined(name="collector-3", why="the board caught fire"),
    events.SnapshotPruned(snapshot="e" * 64),
    events.PhaseBegan(phase="final", why="the budget is spent"),
    events.LedgerDamaged(what="event 7: the row was changed"),
)


def test_every_kind_is_tried_here():
    assert {type(event) for event in ALL} == set(get_args(events.Event))


@pytest.mark.parametrize("event", ALL, ids=events.kind_of)
def test_an_event_survives_json(event):
    body = events.encode(event)
    assert events.decode(body) == event
    assert msgspec.json.decode(body)["event"] == events.kind_of(event)


def test_kinds_are_distinct():
    assert len({events.kind_of(event) for event in ALL}) == len(ALL)


@pytest.mark.parametrize(
    "body",
    [
        b'{"event":"league_sold"}',
        b'{"event":"term_began"}',
        b'{"event":"term_began","term":"two"}',
        b'{"event":"term_began","term":2,"host":"node7"}',
        b"{}",
        b"",
    ],
)
def test_what_is_no_event_is_refused(body):
    with pytest.raises(msgspec.MsgspecError):
        events.decode(body)


def test_floats_are_exact():
    episode = Episode((0, 1), (0.1 + 0.2, -1e-300), 7)
    event = events.ResultCounted(ticket=1, attempt=0, episodes=(episode,))
    assert events.decode(events.encode(event)).episodes[0].returns == episode.returns


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ("candidate_written", "decisions"),
        ("candidate_written", "version"),
        ("player_frozen", "decisions"),
        ("player_reset", "incarnation"),
        ("term_began", "term"),
        ("ticket_reissued", "attempt"),
        ("league_founded", "seed"),
    ],
)
@pytest.mark.parametrize("number", [10**30, -(10**30)])
def test_numbers_that_no_checkpoint_can_hold_are_refused(event, field, number):
    (found,) = (known for known in ALL if events.kind_of(known) == event)
    plain = msgspec.json.decode(events.encode(found)) | {field: number}
    with pytest.raises(msgspec.ValidationError):
        events.decode(json.dumps(plain).encode())
