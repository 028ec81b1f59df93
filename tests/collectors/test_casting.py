import numpy as np
import pytest

from collectors.actors import Actors
from collectors.casting import as_entries, cast_of
from collectors.envs.native.tic_tac_toe import TicTacToe
from league.ids import Hash, PlayerId, TicketNumber
from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig, describe
from league.store.snapshots import Manifest, SnapshotMissing, SnapshotStore
from league.ticket import Entry, Member, Purpose, Ticket, sampled_member

SPEC, POLICY = TicTacToe(1).spec, PolicyConfig(hidden=[4])
RANDOM = Entry(PlayerId("random"), None, "random")


@pytest.fixture
def store(tmp_path):
    return SnapshotStore(tmp_path)


@pytest.fixture
def actors(store):
    return Actors(SPEC, PerPlayer(POLICY), store, 1 << 20)


def put(store, seed):
    weights = np.random.default_rng(seed).normal(size=describe(POLICY, SPEC).size).astype(np.float32)
    stamp = {"incarnation": 0, "version": seed, "decisions": 0}
    manifest = Manifest(player="main", **stamp, policy={"name": "mlp", "hidden": [4]}, signature=SPEC.signature)
    return store.put({"flat": weights}, manifest)


def ticket(*entries):
    return Ticket(number=TicketNumber(1), purpose=Purpose.EVALUATE, entries=entries, episodes=64)


def test_an_entry_has_the_same_actor_in_all_episodes(actors, store):
    cast = cast_of(ticket(RANDOM, Entry(PlayerId("main.0"), put(store, 0))), range(64), actors, set)
    found = cast(range(3, 6))
    assert found.shape == (3, 2)
    assert len(np.unique(found, axis=0)) == 1
    assert found[0, 0] != found[0, 1]


def test_a_member_of_a_mixture_plays_each_episode_by_its_seed(actors, store):
    members = (Member(PlayerId("main.0"), 0.5, put(store, 0)), Member(PlayerId("random"), 0.5, None, "random"))
    seeds = [7 * episode for episode in range(64)]
    cast = cast_of(ticket(RANDOM, Entry(PlayerId("blend"), members=members)), seeds, actors, set)
    found = cast(range(64))
    own = [actors.number(one, set) for one in as_entries(Entry(PlayerId("blend"), members=members))]
    assert found[:, 1].tolist() == [own[sampled_member(members, seed, 1)] for seed in seeds]
    assert set(found[:, 1].tolist()) == set(own)
    assert cast(range(10, 20)).tolist() == found[10:20].tolist()  # whatever slots take which episodes


def test_all_members_keep_their_weights_while_a_mixture_is_cast(store):
    members = tuple(Member(PlayerId(f"main.{i}"), 0.25, put(store, i)) for i in range(4))
    small = Actors(SPEC, PerPlayer(POLICY), store, cache_bytes=1)
    cast = cast_of(ticket(RANDOM, Entry(PlayerId("blend"), members=members)), range(64), small, set)
    assert len(np.unique(cast(range(64))[:, 1])) == 4
    for number in np.unique(cast(range(64))[:, 1]):
        assert small[int(number)] is not None


def test_a_ticket_waits_for_live_weights(actors):
    assert cast_of(ticket(RANDOM, Entry(PlayerId("main"))), range(64), actors, set) is None


def test_a_member_that_is_gone_fails_the_ticket(actors):
    gone = Entry(PlayerId("blend"), members=(Member(PlayerId("main.0"), 1.0, Hash("0" * 64)),))
    with pytest.raises(SnapshotMissing):
        cast_of(ticket(RANDOM, gone), range(64), actors, set)
