import shutil
import threading

import pytest

from launch.dashboard.follower import Follower
from league.store.run_directory import RunDirectory


@pytest.fixture
def follow():
    """Return a function that follows a run, and the list of what it saw: the number of the newest event each time."""
    open_followers = []

    def follow(run, **more):
        seen, changed = [], threading.Event()

        def note(view):
            seen.append(view.seq)
            changed.set()

        follower = Follower(run, note, **more)
        open_followers.append(follower)
        follower.look()
        return follower, seen, changed

    yield follow
    for follower in open_followers:
        follower.close()


def test_a_finished_run_is_read_once(played, follow, patiently):
    follower, seen, changed = follow(played[0])
    assert changed.wait(30)
    assert follower.view.state.phase == "over"
    assert (follower.problem, follower.reading) == ("", (seen[0], seen[0]))
    before = follower._read
    follower._read_ledger()
    assert (follower._read, len(seen)) == (before, 1)


@pytest.mark.slow
def test_a_run_without_a_ledger_says_so_and_is_read_when_it_has_one(played, tmp_path, follow, patiently):
    shutil.copytree(played[0].root, tmp_path / "first")
    run = RunDirectory(tmp_path / "first")
    kept = run.ledger.rename(tmp_path / "kept")
    follower, _, changed = follow(run)
    patiently(lambda: follower.problem, 10, "the problem")
    assert follower.problem == "the run first has not started yet: it has no ledger"
    kept.rename(run.ledger)
    assert changed.wait(20)
    patiently(lambda: not follower.problem, 10, "the end of the problem")


def test_a_run_of_another_version_says_so(run, follow, patiently):
    run.layout.write_text("99\n")
    follower, _, _ = follow(run)
    patiently(lambda: follower.problem, 10, "the problem")
    assert "layout version '99'" in follower.problem


def test_a_damaged_ledger_says_so(run, follow, patiently):
    run.fold.unlink(missing_ok=True)
    run.ledger.write_bytes(b"no database" * 100)
    follower, _, _ = follow(run)
    patiently(lambda: follower.problem, 10, "the problem")
    assert "ledger" in follower.problem
