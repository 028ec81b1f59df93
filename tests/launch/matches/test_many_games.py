"""Many games at once: the same counts as duels, reproducible, from the stores of several runs."""

import shutil

import pytest

from launch.config.config import stored
from launch.matches.dueling import contest
from launch.matches.many_games import Arena, JoinedStores, Pairing
from launch.matches.match import find_entry
from league.store.snapshots import SnapshotMissing, SnapshotStore
from league.ticket import Entry


@pytest.fixture
def arena(played):
    run, _ = played
    return Arena(stored(run), [run.snapshots])


@pytest.mark.parametrize("games", [1, 16, 40])
def test_every_pair_plays_all_its_games_from_both_seats(arena, state, games):
    pairings = [Pairing(state, find_entry(state, a), find_entry(state, "random")) for a in ("main", "main.0")]
    found = arena.play(pairings, games, seed=1)
    assert [contest.score.games for contest in found] == [games, games]
    assert [contest.first.player for contest in found] == ["main", "main.0"]
    assert found == arena.play(pairings, games, seed=1)
    assert games < 16 or found != arena.play(pairings, games, seed=2)


def test_it_agrees_with_duels(arena, played):
    run, state = played
    pair = Pairing(state, find_entry(state, "main"), find_entry(state, "random"))
    (many,) = arena.play([pair], 1000, seed=3)
    few = contest(run, "main", "random", 200, 3, ())
    low, high = few.score.interval
    assert low - 0.05 < many.score.score < high + 0.05
    assert many.returns[0] == pytest.approx((many.score.wins - many.score.losses) / 1000)


def test_snapshots_of_several_runs_meet(played, state, tmp_path):
    run, _ = played
    names = SnapshotStore(run.snapshots).hashes()
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder, name in zip(folders, names, strict=False):
        folder.mkdir()
        shutil.copy(SnapshotStore(run.snapshots).path(name), folder)
    arena = Arena(stored(run), folders)
    (found,) = arena.play([Pairing(state, Entry("x", names[0]), Entry("y", names[1]))], 20, seed=1)
    assert found.score.games == 20
    with pytest.raises(SnapshotMissing):
        JoinedStores(folders).get("f" * 64)


def test_weights_that_are_gone_are_an_error_in_one_line(arena, state):
    with pytest.raises(SnapshotMissing, match="there is no snapshot"):
        arena.play([Pairing(state, Entry("x", "f" * 64), find_entry(state, "random"))], 4, seed=1)
