"""Coordinator and ledger against a model of three dictionaries, under whatever hypothesis thinks of."""

import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from shipped_kinds import shipped_kinds

from coordinator.coordinator import Coordinator
from coordinator.opening import open_league, refold
from coordinator.workers import REPLACED, SESSIONS
from league.events import ResultCounted
from league.rulebook import LeagueConfig, PlayerConfig
from league.spec import Array, EnvSpec, Seat
from league.store.fold import encode_fold
from league.store.ledger import Ledger
from league.ticket import Episode, Fault, Result
from league.wire.messages import Candidate, Held, Progress, Report, Verdict

ENV = EnvSpec(
    name="game", agents=("a", "b"), seats=(Seat((0,)), Seat((1,))), observation=Array((1,), "float32"), actions=2
)
COLLECTORS = st.sampled_from(["c0", "c1", "c2"])
ATTEMPTS = 4


def rules():
    config = LeagueConfig(
        players={
            "main": PlayerConfig(),
            "exploiter": PlayerConfig(kind="main_exploiter"),
            "random": PlayerConfig(kind="scripted", bot="random", anchor=0.0),
        },
        kinds=shipped_kinds(),
        episodes=1,
    )
    config.evaluation.episodes = 1
    config.lease.attempts = ATTEMPTS
    config.lease.give_up = 10**6
    config.promotion.min_decisions, config.promotion.max_decisions = 50, 100
    return config


class League(RuleBasedStateMachine):
    """The model knows which attempt of a ticket is current, who holds it, what was counted, and what is void."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = 0.0
        self.current, self.counted, self.void = {}, {}, set()
        self.holders = {}  # by ticket; "": whoever had it before the coordinator crashed; None: nobody
        self.heard = {}  # since that crash: by name, when each of its sessions spoke last
        self.sessions = dict.fromkeys(("c0", "c1", "c2"), 0)
        self.seen = []  # (ticket, attempt) that were ever handed out
        self.mark = 0
        self.version = 0
        self.config = rules()
        self.ledger = None

    @initialize()
    def found(self):
        self.open()
        self.candidates()

    def open(self):
        self.ledger = Ledger.open(Path(self.folder.name) / "ledger.sqlite")
        self.ledger._connection.execute("pragma synchronous=off")
        self.coordinator = Coordinator(open_league(self.ledger, self.config, 1, ENV, "h"), ["l"], self.now)

    def commit(self):
        self.ledger.commit(self.coordinator.take())

    def report(self, name, **fields):
        report = Report(request=0, name=name, session=f"{name}/{self.sessions[name]}", **fields)
        self.heard.setdefault(name, {})[self.holder(name)] = self.now
        return self.coordinator.handle(None, report, self.now)

    def holder(self, name):
        return f"{name} {name}/{self.sessions[name]}"

    def is_its(self, name, ticket, attempt):
        """Whether a collector may speak for this attempt of a ticket."""
        return self.current.get(ticket) == attempt and self.holders[ticket] in ("", self.holder(name))

    def give_up(self, ticket):
        self.holders[ticket] = None
        if self.current[ticket] + 1 == ATTEMPTS:
            del self.current[ticket]
            self.void.add(ticket)
        else:
            self.current[ticket] += 1

    @rule()
    def candidates(self):
        self.version += 1
        found = tuple(
            Candidate(
                player=p,
                incarnation=i,
                version=self.version,
                snapshot=f"{p}{i}{self.version}",
                decisions=self.version * 20,
            )
            for p, i in self.coordinator.state.incarnations.items()
        )
        self.coordinator.handle(
            None, Progress(request=0, name="l", session="s", address="x", candidates=found), self.now
        )
        self.commit()

    @rule(name=COLLECTORS, want=st.integers(1, 4))
    def take(self, name, want):
        orders = self.report(name, want=want)
        self.commit()
        for ticket in orders.tickets:
            key = (ticket.number, ticket.attempt)
            assert key not in self.seen, "one attempt is handed out once"
            self.seen.append(key)
            assert self.current.setdefault(ticket.number, 0) == ticket.attempt
            assert self.holders.get(ticket.number) is None, "what is handed out was held by nobody"
            self.holders[ticket.number] = self.holder(name)

    @precondition(lambda self: self.seen)
    @rule(name=COLLECTORS, data=st.data(), survives=st.booleans())
    def result(self, name, data, survives):
        ticket, attempt = data.draw(st.sampled_from(self.seen))
        self.mark += 1
        episode = Episode((0, 1), (0.0, 0.0), self.mark)
        right = self.is_its(name, ticket, attempt)
        orders = self.report(name, results=(Result(ticket=ticket, attempt=attempt, episodes=(episode,)),))
        if not survives:  # the process dies before the commit: nobody ever hears of it
            self.crash()
            return
        self.commit()
        (ack,) = orders.acks
        if ticket in self.current:
            assert ack.verdict == (Verdict.ACCEPTED if right else Verdict.SUPERSEDED)
            if right:
                del self.current[ticket]
                self.counted[ticket] = self.mark
        else:
            assert ack.verdict == Verdict.DUPLICATE

    @precondition(lambda self: self.seen)
    @rule(name=COLLECTORS, data=st.data())
    def fault(self, name, data):
        ticket, attempt = data.draw(st.sampled_from(self.seen))
        right = self.is_its(name, ticket, attempt)
        self.report(name, faults=(Fault(ticket=ticket, attempt=attempt, reason="x"),))
        self.commit()
        if right:
            self.give_up(ticket)

    @precondition(lambda self: self.seen)
    @rule(name=COLLECTORS, data=st.data(), steps=st.integers(0, 50))
    def hold(self, name, data, steps):
        ticket, attempt = data.draw(st.sampled_from(self.seen))
        orders = self.report(name, held=(Held(ticket, attempt, steps),))
        self.commit()
        if self.is_its(name, ticket, attempt):
            assert orders.revoked == ()
            self.holders[ticket] = self.holder(name)
        else:
            assert orders.revoked == ((ticket, attempt),)

    @rule(seconds=st.sampled_from([1.0, 29.0, 31.0]))
    def wait(self, seconds):
        self.now += seconds
        lost = dict.fromkeys(self.coordinator.leases.expired(self.now))
        for sessions in self.heard.values():
            for session in [one for one in list(sessions)[:-1] if self.now - sessions[one] > REPLACED]:
                del sessions[session]
                lost |= dict.fromkeys(ticket for ticket in self.current if self.holders[ticket] == session)
        self.coordinator.tick(self.now)
        self.commit()
        for ticket in lost:
            self.give_up(ticket)

    @rule(name=COLLECTORS)
    def restart_a_collector(self, name):
        if len(self.heard.get(name, ())) < SESSIONS:
            self.sessions[name] += 1
            self.report(name)
            self.commit()

    @rule()
    def crash(self):
        self.ledger.close()
        self.holders, self.heard = dict.fromkeys(self.current, ""), {}
        self.open()

    @invariant()
    def the_ledger_tells_what_the_model_knows(self):
        if self.ledger is None:
            return
        state = self.coordinator.state
        assert {number: ticket.attempt for number, ticket in state.open.items()} == self.current
        assert state.voids == len(self.void)
        found = [event for _, event in self.ledger.events() if isinstance(event, ResultCounted)]
        assert {event.ticket: event.episodes[0].length for event in found} == self.counted
        assert len(found) == len(self.counted)
        assert state.env_steps == sum(self.counted.values()), "each result as it was played, once"

    def teardown(self):
        if self.ledger is not None:
            assert encode_fold(self.coordinator.state, 0) == encode_fold(refold(self.ledger, self.config), 0)
            self.ledger.close()
        self.folder.cleanup()


League.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestLeague = League.TestCase
