"""Replays that are kept: the next minibatch is the one that would have come, and no write loses the older file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from learner_world import BATCH, HERO, World
from small_dqn import ALGO, POLICY

from league.policies.layout import initial
from league.store import files as store_files
from league.store.run_directory import RunDirectory
from league.wire.messages import Weights
from learners.algorithms.dqn_config import DQNConfig
from learners.replay_files import KeptReplay, ReplayFiles

CONFIG = DQNConfig(**ALGO, priority=0.6, n_step=2)
SETTINGS = CONFIG.kept_under("game", 0)


def kept(version=3, incarnation=0, settings=SETTINGS):
    return KeptReplay(player="hero", incarnation=incarnation, version=version, settings=settings)


@pytest.fixture
def policy():
    return POLICY


@pytest.fixture
def hints(play, spec):
    """Return segments of a seed."""
    return lambda seed: play(initial(POLICY, spec, 0), lanes=8, seed=seed)


@pytest.fixture
def files(tmp_path):
    return ReplayFiles(RunDirectory(tmp_path).replays_of)


def filled(hints, batches=3, seed=0):
    replay, rng = CONFIG.new_replay(), np.random.default_rng(seed)
    for number in range(batches):
        replay.insert(CONFIG.steps_of(hints(number)), 32)
    for _ in range(3):
        sample = replay.sample(rng)
        replay.prioritise(sample.index, rng.random(len(sample.index)))
    return replay, rng


def minibatches(replay, rng, count=3):
    return [replay.sample(rng).arrays() for _ in range(count)]


@pytest.mark.parametrize("batches", [1, 3, 40], ids=["part", "more", "overwritten"])
def test_the_next_minibatch_is_the_one_that_would_have_come(files, hints, batches):
    replay, rng = filled(hints, batches)
    size = files.save(kept(), replay, rng)
    assert size == sum(path.stat().st_size for path in files.directory("hero").iterdir())
    other, fresh = CONFIG.new_replay(), np.random.default_rng(99)
    assert files.load(kept(), other, fresh) == 3
    assert (other.size, other.reuse, other.left, other.fresh()) == (
        replay.size,
        replay.reuse,
        replay.left,
        replay.fresh(),
    )
    for one, two in zip(minibatches(replay, rng), minibatches(other, fresh), strict=True):
        assert one.keys() == two.keys()
        for name in one:
            np.testing.assert_array_equal(one[name], two[name])
    for each in (replay, other):  # and it goes on in the same way
        each.insert(CONFIG.steps_of(hints(77)), 32)
    np.testing.assert_array_equal(replay.sample(rng).index, other.sample(fresh).index)


def test_a_file_is_plain_arrays_that_any_reader_of_safetensors_reads(files, hints):
    replay, rng = filled(hints)
    files.save(kept(), replay, rng)
    (path,) = files.directory("hero").iterdir()
    arrays = safetensors.numpy.load(path.read_bytes())
    assert arrays["cell.reward"].shape == (replay.replay.used,)
    assert arrays["cell.seen.observation"].dtype == np.float32


def test_the_newest_file_up_to_the_checkpoint_is_used_and_older_ones_go_after_it(files, hints):
    replay, rng = filled(hints)
    for version in (2, 5, 9):
        files.save(kept(version), replay, rng)
    files.save(kept(1, incarnation=1), replay, rng)
    assert files.load(kept(8), CONFIG.new_replay(), rng) == 5
    assert files.load(kept(1), CONFIG.new_replay(), rng) is None
    assert files.load(kept(8, incarnation=2), CONFIG.new_replay(), rng) is None
    files.forget_all_but(kept(7))  # which was never written
    assert len(list(files.directory("hero").iterdir())) == 4
    files.forget_all_but(kept(9))
    assert [path.name for path in files.directory("hero").iterdir()] == ["0-0-9.safetensors"]


def test_ranks_have_files_of_their_own(files, hints):
    replay, rng = filled(hints)
    other = ReplayFiles(files.directory, rank=1)
    files.save(kept(), replay, rng)
    assert other.load(kept(), CONFIG.new_replay(), rng) is None
    other.save(kept(4), replay, rng)
    other.forget_all_but(kept(4))
    assert files.load(kept(), CONFIG.new_replay(), rng) == 3


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "settings", "capacity"])
def test_a_damaged_file_or_one_of_other_settings_is_not_used(files, hints, caplog, harm):
    replay, rng = filled(hints)
    files.save(kept(), replay, rng)
    (path,) = files.directory("hero").iterdir()
    data = bytearray(path.read_bytes())
    if harm == "flip":
        data[-9] ^= 1
    data = {"cut": data[: len(data) // 2], "empty": b""}.get(harm, data)
    path.write_bytes(data)
    config = DQNConfig(**{**ALGO, "replay": 64}, priority=0.6, n_step=2) if harm == "capacity" else CONFIG
    settings = {**SETTINGS, "algo.n_step": 7} if harm == "settings" else SETTINGS
    other = config.new_replay()
    assert files.load(kept(settings=settings), other, rng) is None
    assert other.size == 0
    assert "is not used" in caplog.text
    if harm == "settings":
        assert "it was made under algo.n_step 2, and the config says 7" in caplog.text


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from league.policies.layout import initial
from league.store import files as store_files
from learners.algorithms.dqn_config import DQNConfig
from learners.replay_files import KeptReplay, ReplayFiles
config = DQNConfig(batch=32, minibatch=32, replay=512, warmup=32, samples_per_insert=4.0, priority=0.6, n_step=2)
replay, rng = config.new_replay(), np.random.default_rng(0)
files = ReplayFiles(lambda player: Path(sys.argv[1]) / player)
kept = KeptReplay(player="hero", incarnation=0, version=3, settings=config.kept_under("game", 0))
assert files.load(kept, replay, rng) == 3
def pieces():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)
store_files.publish_pieces(files.directory("hero") / "0-0-4.safetensors", pieces())
"""


def test_a_kill_during_a_write_loses_nothing_of_the_older_file(files, hints):
    replay, rng = filled(hints)
    files.save(kept(), replay, rng)
    root = files.directory("hero").parent
    done = subprocess.run([sys.executable, "-c", KILLED, str(root)], env={**os.environ, "PYTHONPATH": str(Path.cwd())})
    assert done.returncode == -signal.SIGKILL
    assert files.load(kept(9), CONFIG.new_replay(), rng) == 3
    parts = list(files.directory("hero").glob(f"{store_files.PART}*"))
    assert len(parts) == 1, "it was killed in the middle"


def test_a_full_disk_leaves_the_older_file(files, hints, monkeypatch):
    replay, rng = filled(hints)
    files.save(kept(), replay, rng)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store_files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.save(kept(4), replay, rng)
    assert [path.name for path in files.directory("hero").iterdir()] == ["0-0-3.safetensors"]


# --- in a learner ------------------------------------------------------------------------------------------------


@pytest.fixture
def trained(tmp_path, spec, play):
    """Return a function that makes a learner which keeps replays, or not, feeds it, and restarts it."""

    def run(keep):
        algo = DQNConfig(batch=BATCH, minibatch=32, replay=4 * BATCH, warmup=32, samples_per_insert=1.0, lr=1e-2)
        changes = {"algo": algo}
        if keep:
            changes["replay_files"] = ReplayFiles(RunDirectory(tmp_path / "run").replays_of)
        world = World(tmp_path / "run", spec, POLICY)
        world.restart(**changes)
        world.run(HERO, steps=3)
        collector = world.collector()
        collector.pull()
        world.run(HERO)
        collector.hear()
        for number in range(4):
            version = collector.last(Weights).version
            collector.feed(play(collector.flat, lanes=16, seed=number, version=version))
            world.run(HERO)
            collector.hear()
        world.run(HERO, steps=2)
        before = world.learner._trainees["hero"]
        world.restart(**changes)
        world.run(HERO, steps=3)
        return before, world.learner._trainees["hero"]

    return run


def test_after_a_restart_a_player_goes_on_with_its_replay(trained):
    before, after = trained(keep=True)
    assert after.version == before.version == 4
    assert after.algorithm.replay.size == before.algorithm.replay.size >= 3 * BATCH
    ours, theirs = (one.algorithm.replay.sample(one.rng).arrays() for one in (before, after))
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name])


def test_without_the_setting_it_begins_with_an_empty_one(trained, tmp_path):
    before, after = trained(keep=False)
    assert after.version == before.version
    assert after.algorithm.replay.size == 0
    assert not (tmp_path / "run" / "replays").exists()


def test_only_the_replay_of_the_last_checkpoint_stays(trained, tmp_path):
    trained(keep=True)
    assert [path.name for path in (tmp_path / "run" / "replays" / "hero").iterdir()] == ["0-0-4.safetensors"]
