"""Every pair of a tournament plays the same number of rounds, however results arrive."""

from collections import Counter

import numpy as np
from board_spec import board
from msgspec.structs import replace

from coordinator.scheduler import Scheduler
from league.events import LeagueFounded, PhaseBegan, PlayerAdded, ResultCounted, TicketIssued
from league.player import Player
from league.rulebook import LeagueConfig
from league.spec import Seat
from league.state import FINAL, LeagueState, apply
from league.ticket import Episode
from league.tournament_rules import TournamentConfig

STRENGTH = {"weak": 0.0, "middle": 1.0, "strong": 2.0, "other": 1.0}


def founded(env=None, **rules):
    state = LeagueState(LeagueConfig(kinds={}, tournament=TournamentConfig(**rules)))
    apply(state, LeagueFounded(seed=1, config="c", env=env or board()))
    for name in STRENGTH:
        anchor = 0.0 if name == "weak" else None
        apply(state, PlayerAdded(player=Player(id=name, kind="scripted", bot="random", anchor=anchor)))
    apply(state, PhaseBegan(phase=FINAL, why="tournament"))
    return state


def played(state, rng, delay=3, restart=1):
    """Play to the end; results come late and out of order, and the scheduler is made again now and then."""
    games, open_tickets, scheduler = Counter(), [], Scheduler(state)
    for step in range(100_000):
        if step % restart == 0:
            scheduler = Scheduler(state)
        ticket = scheduler.next(now=0.0)
        if ticket is not None:
            apply(state, TicketIssued(ticket=ticket))
            open_tickets.append(ticket)
        if open_tickets and (ticket is None or len(open_tickets) > delay):
            _settle(state, open_tickets.pop(int(rng.integers(len(open_tickets)))), games, rng)
        if not open_tickets and scheduler.final.done():
            return games
    raise AssertionError("it never ends")


def _settle(state, ticket, games, rng):
    a, b = (entry.player for entry in ticket.entries)
    chance = 1 / (1 + np.exp(STRENGTH[b] - STRENGTH[a]))
    won = rng.random(ticket.episodes) < chance
    episodes = tuple(
        Episode(ranks=(0, 1) if first else (1, 0), returns=(1.0, -1.0) if first else (-1.0, 1.0), length=7)
        for first in won
    )
    apply(state, ResultCounted(ticket=ticket.number, attempt=0, episodes=episodes))
    games[frozenset((a, b))] += ticket.episodes
    games[a] += ticket.episodes


def of_pairs(games):
    return {pair: number for pair, number in games.items() if isinstance(pair, frozenset)}


def test_in_a_game_of_roles_everybody_has_every_role_equally_often():
    hunt = replace(board(), seats=(Seat(agents=(0,), role="tiger"), Seat(agents=(1,), role="deer")))
    for rules in ({"rounds": 7}, {"until": 0.001, "rounds": 30}):
        games = played(founded(hunt, **rules), np.random.default_rng(0))
        assert set(of_pairs(games).values()) == {2 * rules["rounds"]}
        assert {games[name] for name in STRENGTH} == {3 * rules["rounds"]}, "half of its games in the first role"


def test_every_pair_plays_exactly_its_rounds():
    games = of_pairs(played(founded(rounds=21), np.random.default_rng(0)))
    assert len(games) == 6
    assert set(games.values()) == {42}


def test_in_a_gauntlet_only_the_named_are_met():
    games = played(founded(rounds=5, against=["weak"]), np.random.default_rng(0))
    assert of_pairs(games) == {frozenset(("weak", name)): 10 for name in STRENGTH if name != "weak"}


def test_it_plays_on_until_the_ratings_are_precise():
    state = founded(until=60.0)
    games = of_pairs(played(state, np.random.default_rng(0), restart=50))
    final = Scheduler(state).final
    assert final._measured() <= 60
    assert len(set(games.values())) == 1
    assert 16 < games[frozenset(("weak", "strong"))] < 4000
    few = founded(until=0.001, rounds=9)
    assert set(of_pairs(played(few, np.random.default_rng(0))).values()) == {18}, "rounds are the most"


def test_progress_counts_games():
    state = founded(rounds=4)
    assert Scheduler(state).final_games() == (0, 48)
    played(state, np.random.default_rng(0))
    assert Scheduler(state).final_games() == (48, 48)
