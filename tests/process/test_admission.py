"""A valid key that does what its holder would not do: it harms nobody else, and it can be shut out."""

import time

import msgspec
import pytest

from launch.topology.endpoints import Endpoints
from launch.viewers.reading import status
from launch.viewers.view import open_view
from league.events import CandidateWritten
from league.state import OVER, TRAINING
from league.ticket import Episode, Fault, Result
from league.wire.codec import VERSION_FRAME
from league.wire.keys import KeysError, load_client_keys, renew_key, revoke_key
from league.wire.messages import Held, Orders, Progress, Refused, Report, Roster, Verdict
from league.wire.sockets import REVOKED, Sockets

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


class Peer:
    """Whoever holds a key, on a connection of its own."""

    def __init__(self, run, key, name=None, session="s"):
        self.doors = Endpoints(run, key, "tcp")
        self.link, self.name, self.session, self.request = self.doors.coordinator(), name or key, session, 0

    def ask(self, message, seconds=10):
        """Send, and return the answer: that to this request, or a refusal."""
        self.link.send(message)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for answer, _ in self.link.receive(0.5):
                if isinstance(answer, Refused) or answer.request == message.request:
                    return answer
        return None

    def report(self, seconds=10, **fields):
        self.request += 1
        return self.ask(Report(request=self.request, name=self.name, session=self.session, **fields), seconds)

    def take(self, count):
        found = []
        while len(found) < count:
            orders = self.report(want=min(64, count - len(found)))
            assert orders.tickets, "the league has enough to play"
            found += orders.tickets
        return found

    def progress(self, *candidates):
        self.request += 1
        who = {"request": self.request, "name": self.name, "session": self.session}
        return self.ask(Progress(**who, address="tcp://127.0.0.1:2", candidates=candidates))


def finished(tickets, ranks=(0, 1)):
    episodes = {ticket.number: (Episode(ranks, (1.0, -1.0), 9),) * ticket.episodes for ticket in tickets}
    return tuple(Result(ticket=t.number, attempt=t.attempt, episodes=episodes[t.number]) for t in tickets)


def faults(tickets):
    return tuple(Fault(ticket=t.number, attempt=t.attempt, reason="on fire") for t in tickets)


def verdicts(orders, verdict):
    return sum(ack.verdict == verdict for ack in orders.acks)


@pytest.fixture
def league(serve, tmp_path, write_candidate):
    """A coordinator on a tcp port whose players have their first candidates; a function that opens a peer of it."""
    _, run = serve(tmp_path / "run", "launch.transport=tcp", "league.lease.give_up=5", "league.lease.quarantine=10")
    peers = []

    def join(*arguments, **options):
        peers.append(Peer(run, *arguments, **options))
        return peers[-1]

    learner = join("learner-0")
    rows = learner.progress().players
    learner.progress(*(write_candidate(run, row.player, row.incarnation) for row in rows))
    yield run, join
    for peer in peers:
        peer.doors.__exit__()


TICKETS = 39


@pytest.mark.parametrize(
    ("key", "session"), [("collector-1", "other"), ("collector-1", "honest"), ("collector-0", "other")]
)
def test_nobody_reports_on_a_ticket_that_another_session_holds(league, figure, key, session):
    run, join = league
    honest, thief = join("collector-0", session="honest"), join(key, session=session)
    tickets = honest.take(TICKETS)
    answers = [
        thief.report(results=finished(tickets, (1, 0))),
        thief.report(faults=faults(tickets)),
        thief.report(results=finished(tickets), faults=faults(tickets)),
    ]
    accepted = sum(verdicts(orders, Verdict.ACCEPTED) for orders in answers)
    assert accepted == 0
    held = tuple(Held(t.number, t.attempt, 5) for t in tickets)
    assert len(thief.report(held=held).revoked) == TICKETS, "nor does it get them by saying so"
    assert honest.report(held=held).revoked == (), "whoever holds them still does"
    assert open_view(run).state.phase == TRAINING, "the league goes on"
    assert verdicts(honest.report(results=finished(tickets)), Verdict.ACCEPTED) == TICKETS
    figure(f"key {key}, session {session!r}: {accepted} of {4 * TICKETS} foreign results and faults accepted")


def test_a_collector_that_fails_everything_is_quarantined_and_the_league_goes_on(league, figure):
    run, join = league
    honest, rogue = join("collector-0"), join("collector-1")
    honest.report()
    asked = failed = 0
    while tickets := rogue.report(want=64).tickets:  # nobody has shown yet that it can be done otherwise
        asked += len(tickets)
        failed += verdicts(rogue.report(faults=faults(tickets)), Verdict.ACCEPTED)
    assert open_view(run).state.phase == TRAINING, "one collector does not end a league"
    honest.report(results=finished(honest.take(9)))
    tickets = honest.take(9)
    assert rogue.report(want=64).tickets == ()
    state = open_view(run).state
    assert set(state.quarantined) == {"collector-1"}
    assert (state.phase, sum(state.results.values())) == (TRAINING, 9)
    assert verdicts(honest.report(results=finished(tickets)), Verdict.ACCEPTED) == 9
    figure(f"{failed} faults of {asked} tickets of one collector in a row; results of the other: 18 of 18 counted")


def test_a_quarantine_is_an_event_that_the_status_shows(league, capsys):
    run, join = league
    honest, rogue = join("collector-0"), join("collector-1")
    held = rogue.take(20)
    honest.report(results=finished(honest.take(1)))
    for ticket in held[:10]:
        rogue.report(faults=faults([ticket]))
        honest.report(results=finished(honest.take(1)))
    assert set(open_view(run).state.quarantined) == {"collector-1"}
    revoked = rogue.report(held=tuple(Held(t.number, t.attempt, 9) for t in held[10:])).revoked
    assert len(revoked) == 10, "others play what it held"
    assert rogue.report(want=9).tickets == ()
    status(run)
    assert "collector-1 is quarantined" in " ".join(capsys.readouterr().out.split())


def test_if_everybody_fails_the_league_ends_with_the_reason(league):
    run, join = league
    peers = [join(f"collector-{number}") for number in range(2)]
    for peer in peers:
        peer.report()
    while (state := open_view(run).state).phase != OVER:
        for peer in peers:
            tickets = peer.report(want=4).tickets
            accepted = verdicts(peer.report(faults=faults(tickets)), Verdict.ACCEPTED)
            over = accepted < len(tickets) and open_view(run).state.phase == OVER  # the league ended meanwhile
            assert over or accepted == len(tickets)
    assert state.why.endswith("tickets in a row were void, the last one because of: on fire")


IMPOSSIBLE = {
    "ranks of nobody": Episode((-7, 99), (1.0, -1.0), 9),
    "a gap in the ranks": Episode((1, 2), (1.0, -1.0), 9),
    "a length of 2^64-1": Episode((0, 1), (1.0, -1.0), 2**64 - 1),
    "a return of 1e308": Episode((0, 1), (1e308, -1e308), 9),
    "more actions than moves": Episode((0, 1), (1.0, -1.0), 9, bytes(999)),
}


@pytest.mark.parametrize("wrong", IMPOSSIBLE)
def test_an_impossible_result_is_not_counted(league, wrong):
    run, join = league
    collector = join("collector-0")
    (ticket,) = collector.take(1)
    episodes = (IMPOSSIBLE[wrong],) * ticket.episodes
    collector.link.send(Report(request=99, name="collector-0", session="s", results=(
        Result(ticket=ticket.number, attempt=ticket.attempt, episodes=episodes),
    )))  # fmt: skip
    assert isinstance(collector.report(), Orders)
    state = open_view(run).state
    assert (sum(state.results.values()), state.env_steps) == (0, 0)


def test_a_learner_cannot_pass_off_what_is_not_its_candidate(league, figure, write_candidate):
    run, join = league
    learner = join("learner-0")
    row = learner.progress().players[0]
    right = write_candidate(run, row.player, row.incarnation, 1, 100)
    replaced = msgspec.structs.replace
    missing = replaced(right, snapshot="0" * 64)
    damaged = write_candidate(run, row.player, row.incarnation, 2, 100)
    path = run.snapshots / f"{damaged.snapshot}.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
    far = write_candidate(run, row.player, row.incarnation, 2**30, 100)
    much = write_candidate(run, row.player, row.incarnation, 3, 2**50)
    other = next(one.player for one in learner.progress().players if one.player != row.player)
    lies = [
        replaced(right, snapshot="../../../../etc/passwd"),
        replaced(right, snapshot="../../../../etc/passwd", version=2**62),
        replaced(right, version=2**62),
        missing,
        damaged,
        far,
        much,
        replaced(right, version=5),
        replaced(right, decisions=101),
        replaced(right, player=other),
        replaced(right, player="random"),
    ]
    for lie in lies:
        who = {"request": 1, "name": "learner-0", "session": "s"}
        learner.link.send(Progress(**who, address="tcp://127.0.0.1:2", candidates=(lie,)))
    assert isinstance(learner.progress(), Roster), "it is heard again"
    written = [event for event in events_of(run) if isinstance(event, CandidateWritten) and event.version]
    assert written == []
    learner.progress(right)
    assert [event.snapshot for event in events_of(run) if isinstance(event, CandidateWritten)][-1] == right.snapshot
    figure(f"{len(written)} of {len(lies)} wrong candidates written")


def test_a_learner_that_names_no_address_for_its_players_keeps_nobody_from_playing(league):
    _, join = league
    rogue = join("learner-0")
    player = rogue.progress().players[0].player
    who = {"request": 9, "name": "learner-0", "session": "s"}
    rogue.link.send(Progress(**who, address="tcp://127.0.0.1:2", doors={player: ()}))
    assert isinstance(rogue.progress(), Roster)
    assert isinstance(join("collector-0").report(want=1), Orders)


def events_of(run):
    found = []
    open_view(run, lambda seq, event, state: found.append(event))
    return found


def test_floods_of_names_and_metrics_are_not_remembered(league, figure):
    run, join = league
    rogue = join("collector-1")
    for number in range(2000):
        rogue.link.send(Report(request=1, name=f"collector-{number}", session=f"{number}"))
        rogue.link.send(Report(request=1, name="collector-1", session=f"{number}"))
    assert isinstance(rogue.report(), Orders | Refused)
    names = {worker.name for worker in open_view(run).workers}
    assert names <= {"learner-0", "collector-1"}
    flood = {f"metric-{number}": 1.0 for number in range(60_000)}
    join("collector-2").link.send(Report(request=1, name="collector-2", session="s", metrics=flood))
    honest = join("collector-0")
    honest.report(metrics={"speed": 1.0})
    workers = {worker.name: worker for worker in open_view(run).workers}
    assert workers["collector-0"].metrics == {"speed": 1.0}
    assert "collector-2" not in workers
    figure(f"2,000 names from one key: {len(names)} remembered; 60,000 metrics in one report: 0 taken")


def test_a_key_is_shut_out_while_the_league_runs(league, patiently, figure):
    run, join = league
    stolen, honest = join("collector-1"), join("collector-0")
    copy = load_client_keys(run.keys, "collector-1")
    assert isinstance(stolen.report(), Orders)
    revoke_key(run.keys, "collector-1")
    began = time.monotonic()

    def refused():
        try:
            return stolen.report() is None
        except KeysError as error:
            return REVOKED in str(error)

    patiently(refused, 10, "the end of a connection that was there before")
    seconds = time.monotonic() - began
    assert stolen.report(seconds=1) is None, "it is not even answered any more"
    with pytest.raises(KeysError, match="was revoked, or never made"):
        join("collector-1").report()
    with Sockets() as sockets:
        again = sockets.connect(run.read_rendezvous().address, copy)
        again.send(Report(request=1, name="collector-1", session="copy"))
        assert again.receive(1.5) == [], "nor is a new connection with a copy of the key"
    assert isinstance(honest.report(), Orders), "nobody else is touched"
    renew_key(run.keys, "collector-1")
    newcomer = join("collector-1", session="new")
    patiently(lambda: isinstance(newcomer.report(), Orders), 20, "a process with the new key")
    assert stolen.report(seconds=1) is None, "the old key of the same name stays out"
    figure(f"a revoked key was shut out within {seconds:.1f} s")


def test_a_message_beyond_its_limits_costs_its_sender_only(league):
    _, join = league
    rogue, honest = join("collector-1"), join("collector-0")
    rogue.report()
    head = msgspec.msgpack.encode({"kind": "report", "request": 1, "name": "x" * 99, "session": "s"})
    for _ in range(200):
        rogue.link._client._socket.send_multipart([VERSION_FRAME, head])
    assert rogue.report(seconds=1) is None, "it used up its budget of bad messages"
    assert isinstance(honest.report(), Orders)
