"""At which snapshots runs are compared."""

import pytest

from launch.comparisons.milestones import (
    DECISIONS,
    ENV_STEPS,
    CompareError,
    Milestone,
    common,
    main_of,
    nearest,
    read_milestones,
)
from league.events import PlayerAdded
from league.player import Player
from league.rulebook import LeagueConfig
from league.state import LeagueState, apply
from league.store.snapshots import SnapshotStore


def mark(env_steps, decisions=0):
    return Milestone(label=str(env_steps), snapshot="a" * 64, env_steps=env_steps, decisions=decisions)


def test_milestones_are_the_named_snapshots_of_the_main(played):
    run, state = played
    found_state, found = read_milestones(run)
    assert found_state.env_steps == state.env_steps
    newest = state.candidates["main"].snapshot
    past = [p.id for p in state.population.frozen_of("main") if p.snapshot != newest]
    assert len(past) > 1
    assert [one.label for one in found] == [*past, "main"], "one that was just frozen is the newest, too"
    assert [one.decisions for one in found] == sorted(one.decisions for one in found)
    assert found[0].env_steps == found[0].decisions == 0
    assert found[-1].decisions == state.candidates["main"].decisions
    assert found[-1].env_steps <= state.env_steps


def test_snapshots_that_are_gone_are_left_out(run, state):
    gone = state.population.frozen_of("main")[1].snapshot
    SnapshotStore(run.snapshots).remove(gone)
    assert gone not in [one.snapshot for one in read_milestones(run)[1]]
    for name in SnapshotStore(run.snapshots).hashes():
        SnapshotStore(run.snapshots).remove(name)
    with pytest.raises(CompareError, match="the main of first has no weights yet"):
        read_milestones(run)


def test_the_common_budget_is_what_every_run_has_reached():
    runs = [[mark(0, 0), mark(90, 40)], [mark(0, 0), mark(70, 60)]]
    assert common(runs, ENV_STEPS) == 70
    assert common(runs, DECISIONS) == 40
    assert nearest(runs[1], DECISIONS, 40) == mark(70, 60)
    assert nearest(runs[1], DECISIONS, 20) == mark(0, 0)


@pytest.mark.parametrize(
    ("player", "message"),
    [
        (Player(id="bot", kind="scripted", bot="random"), "first has no main"),
        (Player(id="main_fox", kind="main", role="fox"), "the main main_fox of first is bound to the role fox"),
    ],
)
def test_a_run_needs_a_main_for_any_seat(run, player, message):
    state = LeagueState(LeagueConfig())
    apply(state, PlayerAdded(player=player))
    with pytest.raises(CompareError, match=message):
        main_of(run, state)
