"""Curves of learning players in each variant: known answers, bounded, and the same after a restart."""

from itertools import count

import pytest
from hunting import player

from launch.config.track import TrackConfig
from launch.viewers.curves import Curves
from league.events import CandidateWritten, LeagueFounded, PlayerAdded, ResultCounted, TicketIssued
from league.player import Player
from league.rulebook import LeagueConfig
from league.spec import Array, EnvSpec, Seat
from league.state import LeagueState, apply
from league.ticket import Entry, Episode, Purpose, Ticket
from league.variants import spin

WEIGHTS = {"plain": 2.0, "maze": 1.0, "rare": 0.5}


def events():
    """Yield a league in which main wins three of four games in the plain, one of four in the maze, none elsewhere."""
    variants = {one.name: one for one in spin(WEIGHTS)}
    seats, array = (Seat((0,)), Seat((1,))), Array((1,), "float32")
    yield LeagueFounded(seed=1, config="c", env=EnvSpec("duel", ("a", "b"), seats, array, 2, variants=spin(WEIGHTS)))
    yield PlayerAdded(player=Player(id="main", kind="main"))
    yield PlayerAdded(player=player("random"))
    yield CandidateWritten(player="main", incarnation=0, version=0, snapshot="s0", decisions=1)
    entries, numbers = (Entry("main", "s0"), Entry("random", bot="random")), count(1)
    for name, wins in (("plain", 3), ("maze", 1), ("rare", 0)) * 10:
        number = next(numbers)
        ranks = [(0, 1)] * 2 * wins + [(1, 0)] * 2 * (4 - wins)  # as many in each seat
        ticket = Ticket(number=number, purpose=Purpose.EVALUATE, entries=entries, episodes=8, variant=variants[name])
        yield TicketIssued(ticket=ticket)
        yield ResultCounted(
            ticket=number,
            attempt=0,
            episodes=tuple(Episode(one, (float(one[1]), float(one[0])), 1) for one in ranks),
        )


def last_values(**track):
    rows, state = [], LeagueState(LeagueConfig())
    curves = Curves(TrackConfig(every=1, **track), rows.append)
    for seq, event in enumerate(events(), start=1):
        curves.before(seq, event, state)
        apply(state, event)
        curves.event(seq, event, state)
    return [row.values for row in rows if "elo/main" in row.values][-1]


def test_each_variant_has_the_score_and_the_rating_of_its_own_games():
    values = last_values()
    assert values["variant/plain/score/main_v_random"] == pytest.approx(0.75)
    assert values["variant/maze/score/main_v_random"] == pytest.approx(0.25)
    assert values["variant/rare/score/main_v_random"] == 0.0
    assert values["variant/plain/elo/main"] == pytest.approx(191, abs=15), "odds of three to one; the anchor is at 0"
    assert values["variant/maze/elo/main"] == pytest.approx(-191, abs=15)
    assert values["variant/plain/elo/main_low"] < 191 < values["variant/plain/elo/main_high"]
    assert values["score/main_v_random"] == pytest.approx(1 / 3)
    assert not any(name.startswith("variant/") and "random" in name.partition("_v_")[0] for name in values)


@pytest.mark.parametrize(("most", "kept"), [(0, set()), (2, {"plain", "maze"})])
def test_only_the_most_frequent_variants_have_curves(most, kept):
    named = {name.split("/")[1] for name in last_values(variants=most) if name.startswith("variant/")}
    assert named == kept
