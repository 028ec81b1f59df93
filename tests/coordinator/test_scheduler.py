"""The scheduler: the same ticket for the same seed, and anchors for evaluation only."""

import pytest

from coordinator.scheduler import Scheduler
from league.ticket import Purpose


@pytest.mark.parametrize("seed", [7, 0, -1, 2**63])
def test_the_same_seed_and_state_draw_the_same_ticket(bench, seed):
    one, two = bench(seed=seed), bench(seed=seed)
    for league in (one, two):
        league.write()
    assert one.play(40) == two.play(40)
    assert Scheduler(one.state).next(0.0) == one.coordinator.scheduler.next(0.0)
    one.crash()
    assert one.report(want=9).tickets == two.report(want=9).tickets, "there is no state of a generator to lose"


def test_drawing_changes_nothing(bench):
    league = bench()
    league.write()
    scheduler = league.coordinator.scheduler
    assert scheduler.next(0.0) == scheduler.next(0.0)
    assert league.coordinator.take() == []


def test_another_seed_draws_otherwise(bench):
    one, two = bench(seed=1), bench(seed=2)
    for league in (one, two):
        league.write()
        league.write("main", version=1, decisions=3000)
        league.write("main", version=2, decisions=6000)
    opponents = [[entry.player for t in league.play(40) for entry in t.entries] for league in (one, two)]
    assert opponents[0] != opponents[1]


def test_anchors_are_for_evaluation_only(bench):
    league = bench()
    league.write()
    for ticket in league.play(60):
        if ticket.purpose == Purpose.TRAIN:
            assert "random" not in {entry.player for entry in ticket.entries}
            assert ticket.entries[0].snapshot is None, "the trained player plays with its live weights"
        else:
            assert all(entry.snapshot or entry.bot for entry in ticket.entries), "evaluation plays snapshots only"
            assert len({entry.player for entry in ticket.entries}) == 2
