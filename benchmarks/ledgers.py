"""A made-up league of any size: the ledger, the checkpoint and the files of a run that played for a long time.

    python -m benchmarks.ledgers runs/big --results 1000000 --players 300

Its tickets and results look like those of Connect Four: nine of ten train (8 episodes), one evaluates (16 episodes with
all their actions). Players are frozen at even distances until there are as many as wanted.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from launch.config.config import Config, to_plain
from league.events import (
    CandidateWritten,
    Event,
    LeagueFounded,
    PlayerAdded,
    PlayerFrozen,
    ResultCounted,
    TermBegan,
    TicketIssued,
)
from league.ids import Hash, PlayerId, TicketNumber
from league.player import Player
from league.rulebook import EvaluationConfig, LeagueConfig, PlayerConfig, founders
from league.spec import Array, EnvSpec, Seat
from league.state import LeagueState, apply
from league.store.files import publish
from league.store.fold import write_fold
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Episode, Purpose, Ticket

BATCH = 50_000  # events in one commit
EVALUATED = 10  # every so many tickets is an evaluation
LEARNING = (PlayerId("main"), PlayerId("exploiter"))
SPEC = EnvSpec(
    name="connect_four",
    agents=("player_0", "player_1"),
    seats=(Seat((0,)), Seat((1,))),
    observation=Array((6, 7, 2), "int8"),
    actions=7,
)


def rules() -> LeagueConfig:
    """Return a league of two learning players and two anchors."""
    return LeagueConfig(
        players={
            "main": PlayerConfig(kind="main"),
            "exploiter": PlayerConfig(kind="main"),
            "random": PlayerConfig(kind="scripted", bot="random", anchor=0.0),
            "one_ply": PlayerConfig(kind="scripted", bot="one_ply", anchor=511.0),
        },
        evaluation=EvaluationConfig(final_games=0),
    )


class Story:
    """Tells the events of a league of made-up players: who is stronger mostly wins."""

    def __init__(self, state: LeagueState, results: int, players: int, rng: np.random.Generator) -> None:
        self._state, self._results, self._rng = state, results, rng
        self._every = max(1, results // max(1, players - len(state.config.players)))
        self._players = players
        self._members: list[PlayerId] = []
        self._skill: dict[PlayerId, float] = {}

    def events(self) -> Iterator[Event]:
        """Yield all events. The state must be kept up to date meanwhile."""
        yield LeagueFounded(seed=1, config=Hash(""), env=SPEC)
        for player in founders(self._state.config, SPEC.roles):
            yield PlayerAdded(player=player)
            self._join(player, player.anchor or 0.0)
        yield TermBegan(term=1)
        yield from self._candidates(0)
        for number in range(1, self._results + 1):
            ticket = self._ticket(TicketNumber(number))
            yield TicketIssued(ticket=ticket)
            yield self._result(ticket)
            if number % self._every == 0 and len(self._members) < self._players:
                yield from self._freeze(LEARNING[number // self._every % 2], number)

    def _join(self, player: Player, skill: float) -> None:
        self._members.append(player.id)
        self._skill[player.id] = skill

    def _candidates(self, number: int) -> Iterator[Event]:
        for i, player in enumerate(LEARNING):
            snapshot = Hash(f"{number:032x}{i:032x}")
            yield CandidateWritten(player=player, incarnation=0, version=number, snapshot=snapshot, decisions=number)

    def _freeze(self, parent: PlayerId, number: int) -> Iterator[Event]:
        count = len(self._state.population.frozen_of(parent)) + 1
        snapshot = self._state.candidates[parent].snapshot
        frozen = Player(id=PlayerId(f"{parent}.{count}"), kind="main", parent=parent, snapshot=snapshot)
        yield PlayerFrozen(player=frozen, decisions=number, why="trained long enough")
        self._join(frozen, self._skill[parent])
        self._skill[parent] += float(self._rng.normal(4.0, 10.0))
        yield from self._candidates(number)

    def _ticket(self, number: TicketNumber) -> Ticket:
        if number % EVALUATED == 0:
            a, b = self._rng.choice(len(self._members), 2, replace=False).tolist()
            entries = [self._state.contestant(self._members[i]) for i in (a, b)]
            assert all(entries)
            seated = tuple(entry for entry in entries if entry is not None)
            return Ticket(number=number, purpose=Purpose.EVALUATE, entries=seated, episodes=16, turn=2)
        trains = LEARNING[number % 2]
        opponent = self._members[int(self._rng.integers(len(self._members)))]
        found = self._state.population[opponent]
        against = Entry(opponent, found.snapshot, found.bot)
        return Ticket(
            number=number, purpose=Purpose.TRAIN, entries=(Entry(trains), against), episodes=8, trains=(trains,)
        )

    def _result(self, ticket: Ticket) -> ResultCounted:
        a, b = (self._skill[entry.player] for entry in ticket.entries)
        chance = 1 / (1 + 10 ** ((b - a) / 400))
        drawn, lengths = self._rng.random(ticket.episodes), self._rng.integers(7, 43, ticket.episodes)
        actions = self._rng.integers(0, 7, (ticket.episodes, 42), np.uint8)
        keep = ticket.purpose == Purpose.EVALUATE
        return ResultCounted(
            ticket=ticket.number,
            attempt=0,
            episodes=tuple(
                _episode(chance, draw, length, moves[:length].tobytes() if keep else b"")
                for draw, length, moves in zip(drawn.tolist(), lengths.tolist(), actions, strict=True)
            ),
        )


def _episode(chance: float, draw: float, length: int, actions: bytes) -> Episode:
    if abs(draw - chance) < 0.02:
        return Episode((0, 0), (0.0, 0.0), length, actions)
    won = draw < chance
    return Episode((0, 1) if won else (1, 0), (1.0, -1.0) if won else (-1.0, 1.0), length, actions)


def make_run(root: Path, results: int, players: int, seed: int = 0) -> RunDirectory:
    """Write the run directory of such a league, with a checkpoint of its fold."""
    run = RunDirectory(root).create()
    run.write_config(to_plain(Config(league=rules(), name=root.name)))
    publish(run.env, msgspec.json.encode(SPEC))
    state = LeagueState(rules())
    story = Story(state, results, players, np.random.default_rng(seed))
    with Ledger.open(run.ledger) as ledger:
        batch: list[Event] = []
        for event in story.events():
            apply(state, event)
            batch.append(event)
            if len(batch) == BATCH:
                ledger.commit(batch)
                batch = []
        ledger.commit(batch)
        ledger.set_meta("elapsed", "3600.0")
        write_fold(run.fold, state, ledger.head, ledger.mark(ledger.head))
    return run


def main() -> None:
    """Make a run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledgers", description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--results", type=int, default=1_000_000)
    parser.add_argument("--players", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    make_run(arguments.root, arguments.results, arguments.players, arguments.seed)


if __name__ == "__main__":
    main()
