"""The composition root."""

import pytest

from launch.config.config import stored
from launch.processes.build import Composition, inspector
from league.store.snapshots import SnapshotStore
from league.wire.messages import Candidate


@pytest.fixture
def build(run):
    return Composition(stored(run), run, lambda: 0.0)


def test_the_spec_is_that_of_the_run_directory(build, state):
    assert build.spec == state.env


def test_the_file_of_a_candidate_has_to_be_what_the_learner_reports(build, state):
    store, newest = SnapshotStore(build.run.snapshots), state.candidate("main")
    assert newest is not None
    manifest = store.get(newest.snapshot).manifest
    told = {"player": "main", "incarnation": manifest.incarnation, "version": manifest.version}
    told |= {"decisions": manifest.decisions, "snapshot": newest.snapshot, "name": "learner-0", "session": "s"}
    names = Candidate.__struct_fields__
    inspect = inspector(store, build.spec)

    def candidate(**changes):
        return Candidate(**{key: value for key, value in (told | changes).items() if key in names})

    assert inspect(candidate()) == ""
    assert "its file says" in inspect(candidate(decisions=manifest.decisions + 1))
    assert inspect(candidate(snapshot="0" * 64)) is None
