"""From entries to actors: bots, a bounded cache of frozen weights, live weights that are swapped."""

import msgspec
import numpy as np
import pytest

from collectors.actors import Actors
from league.per_player import PerPlayer
from league.plugins import PluginError
from league.policies.layout import PolicyConfig, initial
from league.spec import Array, EnvSpec, Seat
from league.store.snapshots import Manifest, SnapshotDamaged, SnapshotMissing, SnapshotStore
from league.ticket import Entry

SPEC = EnvSpec(
    name="game", agents=("a", "b"), seats=(Seat((0,)), Seat((1,))), observation=Array((3,), "float32"), actions=4
)
POLICY = PolicyConfig(hidden=[4])
SIZE = initial(POLICY, SPEC, 0).nbytes


@pytest.fixture
def store(tmp_path):
    return SnapshotStore(tmp_path / "snapshots")


def put(store, seed, spec=SPEC):
    manifest = Manifest(
        player="main",
        incarnation=0,
        version=seed,
        decisions=0,
        policy={"name": "mlp", "hidden": [4]},
        signature=spec.signature,
    )
    return store.put({"flat": initial(POLICY, spec, seed)}, manifest)


def frozen(store, seed):
    return Entry(f"main.{seed}", put(store, seed))


def actors_of(store, room):
    return Actors(SPEC, PerPlayer(POLICY), store, cache_bytes=int(room * SIZE))


def nobody():
    return ()


def logits(actors, number):
    return actors[number].outputs(np.ones((1, 3), np.float32))


def test_frozen_weights_are_loaded_once(store):
    actors = actors_of(store, 10)
    entry = frozen(store, 1)
    number = actors.number(entry, nobody)
    assert actors.number(entry, nobody) == number
    assert actors.number(frozen(store, 2), nobody) != number
    assert actors.loads == 2


def test_the_cache_keeps_within_its_bytes_and_drops_what_was_used_longest_ago(store):
    actors = actors_of(store, 2)
    one, two, three = (frozen(store, seed) for seed in (1, 2, 3))
    for entry in (one, two, one, three, one):  # `two` must go when `three` comes
        actors.number(entry, nobody)
    assert actors.loads == 3
    assert len(actors._frozen) == 2
    assert sum(size for _, size in actors._frozen.values()) <= 2 * SIZE
    actors.number(two, nobody)
    assert actors.loads == 4
    assert len(actors._actors) <= 3, "numbers are used again"


def test_weights_in_use_are_never_dropped(store):
    actors = actors_of(store, 1)
    number = actors.number(frozen(store, 1), nobody)
    before = logits(actors, number)
    for seed in range(2, 6):
        actors.number(frozen(store, seed), lambda: {number})
    assert (logits(actors, number) == before).all()
    actors.number(frozen(store, 9), nobody)
    assert len(actors._frozen) == 1


def test_a_snapshot_larger_than_the_cache_can_still_play(store):
    actors = actors_of(store, 0.5)
    for seed in (1, 2):
        actors[actors.number(frozen(store, seed), nobody)].outputs(np.ones((1, 3), np.float32))
    assert len(actors._frozen) == 1


def test_live_weights_are_swapped_under_the_same_number(store):
    actors = actors_of(store, 1)
    entry = Entry("main")
    assert actors.number(entry, nobody) is None
    actors.update_live("main", 3, initial(POLICY, SPEC, 1))
    number = actors.number(entry, nobody)
    before = logits(actors, number)
    assert actors.version(np.array([number], np.int32)).tolist() == [3]
    actors.update_live("main", 4, initial(POLICY, SPEC, 2))
    assert actors.number(entry, nobody) == number
    assert not (logits(actors, number) == before).all()
    assert actors.version(np.array([number, number], np.int32)).tolist() == [4, 4]


def test_live_weights_are_copied(store):
    actors = actors_of(store, 1)
    flat = initial(POLICY, SPEC, 1)
    actors.update_live("main", 0, flat)
    number = actors.number(Entry("main"), nobody)
    before = logits(actors, number)
    flat[:] = 0
    assert (logits(actors, number) == before).all()


def test_a_reset_player_waits_for_new_weights_while_episodes_play_on(store):
    actors = actors_of(store, 1)
    actors.update_live("main", 3, initial(POLICY, SPEC, 1))
    number = actors.number(Entry("main"), nobody)
    for version in range(50):
        actors.forget_live("main")
        assert actors.number(Entry("main"), nobody) is None
        assert logits(actors, number).shape == (1, 4)
        actors.update_live("main", version, initial(POLICY, SPEC, version))
        number = actors.number(Entry("main"), nobody)
    assert len(actors._actors) == 1, "resets pile up no actors"


def test_weights_of_another_policy_are_refused(store):
    actors = actors_of(store, 1)
    with pytest.raises(ValueError, match="belong to another policy config"):
        actors.update_live("main", 0, np.zeros(5, np.float32))
    assert actors.number(Entry("main"), nobody) is None


def test_many_live_players_keep_their_versions(store):
    actors = actors_of(store, 1)
    for i in range(40):
        actors.update_live(f"p{i}", i, initial(POLICY, SPEC, 1))
    numbers = [actors.number(Entry(f"p{i}"), nobody) for i in range(40)]
    assert actors.version(np.array(numbers, np.int32)).tolist() == list(range(40))


def test_a_damaged_a_missing_and_a_foreign_snapshot_say_so(store):
    actors = actors_of(store, 1)
    damaged = frozen(store, 1)
    path = store.path(damaged.snapshot)
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(SnapshotDamaged):
        actors.number(damaged, nobody)
    with pytest.raises(SnapshotMissing):
        actors.number(Entry("main.7", "0" * 64), nobody)
    other = msgspec.structs.replace(SPEC, actions=9)
    with pytest.raises(ValueError, match="signature"):
        actors.number(Entry("main.8", put(store, 1, other)), nobody)
    assert actors.loads == 0


def test_bots_are_made_once(store):
    actors = actors_of(store, 1)
    number = actors.number(Entry("random", bot="random"), nobody)
    assert actors.number(Entry("another", bot="random"), nobody) == number
    actions, _ = actors[number].act(np.zeros((2, 3)), np.eye(4, dtype=bool)[:2], np.random.default_rng(0))
    assert actions.tolist() == [0, 1]
    with pytest.raises(PluginError):
        actors.number(Entry("x", bot="no_such_bot"), nobody)
    with pytest.raises(ValueError, match="connect four only"):
        actors.number(Entry("y", bot="one_ply"), nobody)


def test_weights_that_were_pruned_leave_the_cache(store):
    actors = actors_of(store, 10)
    gone, playing, kept = frozen(store, 1), frozen(store, 2), frozen(store, 3)
    numbers = [actors.number(entry, nobody) for entry in (gone, playing, kept)]
    for entry in (gone, playing):
        store.remove(entry.snapshot)
    assert actors.number(frozen(store, 4), lambda: {numbers[1]}) == numbers[0], "its place is free again"
    assert (actors.number(playing, nobody), actors.number(kept, nobody)) == (numbers[1], numbers[2])
    with pytest.raises(SnapshotMissing):
        actors.number(gone, nobody)
    actors.number(frozen(store, 5), nobody)  # the episode that played with it is over
    with pytest.raises(SnapshotMissing):
        actors.number(playing, nobody)
