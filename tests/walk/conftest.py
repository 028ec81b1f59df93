"""For walks that must not depend on where something is done."""

import hashlib

import pytest

from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from launch.start import rehearse
from launch.verify.verify import verify
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore


@pytest.fixture
def league(tmp_path):
    """Return a function that plays a league; it returns a hash of the events, without the config, and the snapshots."""

    def whole(name, *overrides):
        config = compose(overrides)
        rehearse(config)
        run = RunDirectory(tmp_path / name).create()
        run.write_config(to_plain(config))
        state = play(config, run)
        assert state.voids == 0
        assert verify(run) == 0
        with Ledger.open(run.ledger) as ledger:
            bodies = [body.replace(run.config_hash().encode(), b"") for _, body in ledger.read()]
        return hashlib.sha256(b"\n".join(bodies)).hexdigest(), sorted(SnapshotStore(run.snapshots).hashes())

    return whole
