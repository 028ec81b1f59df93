"""A league at a table: the real coordinator and ledger, with the test as its collectors and learners."""

import itertools

import pytest
from shipped_kinds import shipped_kinds

from coordinator.coordinator import Coordinator
from coordinator.opening import open_league, refold
from league.rulebook import LeagueConfig, PlayerConfig
from league.spec import Array, EnvSpec, Seat
from league.store.ledger import Ledger
from league.ticket import Episode, Result
from league.wire.messages import Candidate, Held, Progress, Report


def make_env(*roles):
    """Return a game with one agent in each seat."""
    return EnvSpec(
        name="game",
        agents=tuple(f"agent_{i}" for i in range(len(roles))),
        seats=tuple(Seat((i,), role) for i, role in enumerate(roles)),
        observation=Array((1,), "float32"),
        actions=2,
    )


def make_config(**players):
    config = LeagueConfig(
        players=players
        or {
            "main": PlayerConfig(kind="main"),
            "exploiter": PlayerConfig(kind="main_exploiter"),
            "random": PlayerConfig(kind="scripted", bot="random", anchor=0.0),
        },
        kinds=shipped_kinds(),
    )
    config.episodes = 2
    config.evaluation.episodes = 2
    config.promotion.min_decisions, config.promotion.max_decisions = 1000, 2000
    return config


class Bench:
    """Opens a league; speaks for collectors and learners."""

    def __init__(self, path, config=None, env=None, learners=("learner-0",), seed=7):
        self.path, self.learners, self.seed = path, learners, seed
        self.config, self.env = config or make_config(), env or make_env("player", "player")
        self.now = 0.0
        self.requests = itertools.count(1)
        self.versions = {}
        self.ledger = self.coordinator = None
        self.open()

    def open(self):
        self.ledger = Ledger.open(self.path)
        self.ledger._connection.execute("pragma synchronous=off")  # no test pulls the plug: save the waiting
        state = open_league(self.ledger, self.config, self.seed, self.env, "hash")
        self.coordinator = Coordinator(state, self.learners, self.now)

    def crash(self):
        """Lose all that is not in the ledger, and open it again."""
        self.ledger.close()
        self.open()

    @property
    def state(self):
        return self.coordinator.state

    def commit(self):
        batch = self.coordinator.take()
        self.ledger.commit(batch)
        return batch

    def handle(self, message, role=None):
        reply = self.coordinator.handle(role, message, self.now)
        self.commit()
        return reply

    def tick(self, elapsed=0.0):
        self.coordinator.tick(self.now, elapsed)
        return self.commit()

    def report(self, session="c0/1", want=0, held=(), results=(), faults=(), starved=(), directory=0, metrics=None):
        return self.handle(
            Report(
                request=next(self.requests),
                name=session.split("/")[0],
                session=session,
                want=want,
                held=tuple(Held(*h) for h in held),
                results=tuple(results),
                faults=tuple(faults),
                starved=tuple(starved),
                directory=directory,
                metrics=metrics or {},
            )
        )

    def progress(
        self, *candidates, name="learner-0", address="memory://learner-0", session="s", finished=(), metrics=None
    ):
        return self.handle(
            Progress(
                request=next(self.requests),
                name=name,
                session=session,
                address=address,
                candidates=tuple(candidates),
                finished=tuple(finished),
                metrics=metrics or {},
            )
        )

    def end_training(self, elapsed):
        """Spend the budget, and let every learner say that its players have finished."""
        self.tick(elapsed)
        everybody = [player.id for player in self.state.population.learning()]
        for name in self.learners:
            self.progress(name=name, finished=everybody)
        self.tick(elapsed)

    def candidate(self, player="main", version=0, decisions=0, incarnation=None):
        return Candidate(
            player=player,
            incarnation=self.state.incarnations[player] if incarnation is None else incarnation,
            version=version,
            snapshot=f"{player}-{incarnation or self.state.incarnations[player]}-{version}",
            decisions=decisions,
        )

    def write(self, *players, version=0, decisions=0):
        """Let learners write a candidate of each player."""
        for player in players or [p.id for p in self.state.population.learning()]:
            self.progress(self.candidate(player, version, decisions))

    def result(self, ticket, attempt=None, ranks=None, length=5):
        places = ranks or tuple(range(len(ticket.entries)))
        episode = Episode(places, tuple(-float(place) for place in places), length)
        return Result(
            ticket=ticket.number,
            attempt=ticket.attempt if attempt is None else attempt,
            episodes=(episode,) * ticket.episodes,
        )

    def play(self, count=1, **options):
        """Take and finish tickets one after the other; return them."""
        played = []
        for _ in range(count):
            tickets = self.report(want=1, **options).tickets
            if not tickets:
                break
            played += tickets
            self.report(results=[self.result(tickets[0])])
        return played

    def refolded(self):
        return refold(self.ledger, self.config)


@pytest.fixture
def bench(tmp_path):
    made = []

    def make(**options):
        made.append(Bench(tmp_path / f"ledger-{len(made)}.sqlite", **options))
        return made[-1]

    yield make
    for one in made:
        one.ledger.close()


@pytest.fixture
def config():
    return make_config


@pytest.fixture
def env():
    return make_env


@pytest.fixture
def league(bench):
    """A league whose players have their first candidates."""
    league = bench()
    league.write()
    return league
