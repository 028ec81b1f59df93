"""DAgger: the expert labels what the player visits; what it remembers, forgets and refuses."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from game_data import games_of, write_data

from league.policies.layout import PolicyConfig, describe, initial
from league.store.snapshots import Manifest, SnapshotStore
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.dagger import DAgger
from learners.algorithms.dagger_config import DAggerConfig
from learners.batcher import Batch
from learners.expert import Expert, ExpertError, make_expert


class FollowsHints:
    """A bot that always does what the hint says."""

    def act(self, observation, mask, rng):
        return observation.argmax(axis=1).astype(np.int32), np.zeros(len(mask), np.float32)


@pytest.fixture
def expert(spec):
    return Expert("follows", FollowsHints(), spec)


def config(**changes):
    return DAggerConfig(expert="follows", lr=2e-2, lessons=128, minibatch=64, **changes)


def batch_of(segments):
    return Batch(segments, np.zeros(segments.decisions, np.int64), {})


def test_it_learns_what_the_expert_would_do_where_the_player_is(play, spec, policy, fresh, expert):
    algorithm, rng = DAgger(config(), policy, spec, fresh, expert=expert), np.random.default_rng(0)
    for seed in range(25):
        metrics = algorithm.update(batch_of(play(algorithm.flat(), seed=seed)), rng)
    assert metrics["lessons"] == 25 * 32
    assert play(algorithm.flat(), lanes=50, seed=99).reward.mean() > 0.9
    assert play(fresh, lanes=50, seed=99).reward.mean() < 0.7


def test_a_data_set_comes_first_and_outlives_a_rollback(play, spec, policy, fresh, expert, tmp_path):
    data = write_data(tmp_path / "games", games_of(play(fresh, lanes=20), spec))
    algorithm, rng = DAgger(config(data=data), policy, spec, fresh, expert=expert), np.random.default_rng(0)
    assert algorithm.update(batch_of(play(fresh)), rng)["lessons"] == 80 + 32
    algorithm.config.lr = 1e38
    while not algorithm.update(batch_of(play(fresh)), rng)["losses/rollbacks"]:
        pass
    algorithm.config.lr = 1e-3
    assert algorithm.update(batch_of(play(fresh)), rng)["lessons"] == 80 + 32


def test_decisions_that_are_not_finite_are_not_remembered(play, spec, policy, fresh, expert):
    algorithm, rng = DAgger(config(), policy, spec, fresh, expert=expert), np.random.default_rng(0)
    bad = play(fresh)
    bad.observation[0, 0, 0, 0] = np.nan
    assert algorithm.update(batch_of(bad), rng) == {"losses/rollbacks": 1.0}
    assert algorithm.trouble == "observation"
    assert algorithm.update(batch_of(play(fresh)), rng)["lessons"] == 32


def test_a_bot_is_asked_by_its_name(play, spec, policy, fresh):
    algorithm = make_algorithm(replace(config(), expert="random"), policy, spec, fresh)
    assert algorithm.update(batch_of(play(fresh)), np.random.default_rng(0))["losses/rollbacks"] == 0


def snapshot(folder, spec, policy, flat, signature=None):
    manifest = Manifest(
        player="p", incarnation=0, version=1, decisions=1, policy=asdict(policy), signature=signature or spec.signature
    )
    store = SnapshotStore(folder)
    return store.path(store.put({"flat": flat}, manifest))


def follower(policy, spec):
    """Return weights that follow the hint: the first layer is copied to the logits."""
    flat = np.zeros(describe(policy, spec).size, np.float32)
    views = describe(policy, spec).views(flat)
    views["hidden_0.weight"][:4, :4] = 2 * np.eye(4)
    views["policy.weight"][:, :4] = 20 * np.eye(4)
    return flat


@pytest.mark.parametrize("network", [{}, {"agent_id": True}], ids=str)
def test_the_snapshot_of_another_network_is_asked(play, spec, fresh, tmp_path, network):
    other = PolicyConfig(hidden=[8], **network)
    segments = play(fresh)
    path = snapshot(tmp_path, spec, other, follower(other, spec))
    found = make_expert(str(path), spec).label(segments, np.random.default_rng(0))
    np.testing.assert_array_equal(found, segments.observation[segments.present].argmax(axis=1))


def test_experts_that_cannot_be_asked_are_refused(spec, policy, fresh, tmp_path):
    recurrent = PolicyConfig(hidden=[8], memory="gru")
    path = snapshot(tmp_path, spec, recurrent, initial(recurrent, spec, 0))
    with pytest.raises(ExpertError, match="it has a memory"):
        make_expert(str(path), spec)
    elsewhere = snapshot(tmp_path, spec, policy, fresh, "another")
    with pytest.raises(ExpertError, match="observations or actions differ"):
        make_expert(str(elsewhere), spec)
    with pytest.raises(ValueError, match="unknown bot 'nobody'"):
        make_expert("nobody", spec)
    with pytest.raises(ValueError, match=r"algo=dagger needs algo\.expert"):
        DAggerConfig().refuse(policy)


def test_an_expert_that_breaks_the_rules_is_named(play, spec, fresh):
    segments = play(fresh)
    segments.mask[0, 0, 0] = False
    with pytest.raises(ExpertError, match=r"algo\.expert=follows: it chose an illegal action"):
        Expert("follows", FollowsHints(), spec).label(segments, np.random.default_rng(0))
