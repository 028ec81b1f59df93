"""Every recorded episode replays to its outcome: recorded by a real collector, in many slots, on several games."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from collectors.actors import Actors
from collectors.collector import Collector
from collectors.config import CollectorConfig
from collectors.envs.config import EnvConfig, make_environment
from collectors.episode import Frame, ReplayError, difference, outcome_of, play, play_all, replay
from collectors.learner_client import LearnerClient
from collectors.seating import same_cast
from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig, initial
from league.store.snapshots import Manifest, SnapshotStore
from league.ticket import Entry, Purpose, Ticket
from league.wire.in_memory import Exchange
from league.wire.messages import Orders, Report

SEED = 5
GAMES = {
    "tic_tac_toe": EnvConfig(name="tic_tac_toe"),
    "connect_four": EnvConfig(name="connect_four"),
    "rock_paper_scissors": EnvConfig(name="rock_paper_scissors"),
    "pettingzoo_turns": EnvConfig(name="pettingzoo", id="classic/connect_four_v3"),
    "pettingzoo_teams": EnvConfig(
        name="pettingzoo",
        id="mpe2/simple_tag_v3",
        kwargs={"max_cycles": 10},
        seats=[["adversary_0", "adversary_1", "adversary_2"], ["agent_0"]],
    ),
}


def snapshot(store, spec):
    policy = PolicyConfig(hidden=[8])
    manifest = Manifest(
        player="main",
        incarnation=0,
        version=0,
        decisions=0,
        policy=msgspec.to_builtins(policy),
        signature=spec.signature,
    )
    return store.put({"flat": initial(policy, spec, seed=3)}, manifest)


def record(config, root: Path, tickets=6, episodes=6, slots=5):
    """Let a real collector play evaluation tickets that this test hands out; return (ticket, result) pairs."""
    env, store = make_environment(config, slots), SnapshotStore(root)
    weights = snapshot(store, env.spec)
    entries = [
        Entry("main", weights) if i == 0 else Entry("random", None, "random") for i in range(len(env.spec.seats))
    ]
    exchange, now = Exchange(), [0.0]
    coordinator = exchange.server("coordinator")
    collector = Collector(
        name="collector-0",
        session="s",
        env=env,
        coordinator=exchange.client(coordinator.address),
        learner_client=LearnerClient("collector-0", "s", exchange.client),
        actors=Actors(env.spec, PerPlayer(PolicyConfig(hidden=[8])), store, 1 << 20),
        run_seed=SEED,
        config=CollectorConfig(slots=slots),
        clock=lambda: now[0],
    )
    waiting = [
        Ticket(number=n, purpose=Purpose.EVALUATE, entries=tuple(entries), episodes=episodes, attempt=n % 3)
        for n in range(1, tickets + 1)
    ]
    issued = {ticket.number: ticket for ticket in waiting}
    found = {}
    for _ in range(20_000):
        collector.step(0.0)
        now[0] += 0.1
        for incoming in coordinator.receive(0):
            report = incoming.message
            assert isinstance(report, Report)
            assert not report.faults
            found |= {result.ticket: (issued[result.ticket], result) for result in report.results}
            handed, waiting = waiting[: report.want], waiting[report.want :]
            coordinator.send(incoming.peer, Orders(term=1, request=report.request, tickets=tuple(handed)))
        if len(found) == tickets:
            env.close()
            return list(found.values())
    raise AssertionError("the collector did not finish")


@pytest.fixture(params=GAMES, scope="module")
def recorded(request, tmp_path_factory):
    config = GAMES[request.param]
    env = make_environment(config, 1)
    yield env, record(config, tmp_path_factory.mktemp("store"))
    env.close()


def test_every_recorded_episode_comes_out_equal(recorded):
    env, played = recorded
    count = 0
    for ticket, result in played:
        for index, episode in enumerate(result.episodes):
            outcome = outcome_of(replay(env, ticket, result.attempt, index, episode.actions, SEED))
            assert difference(episode, outcome) == ""
            count += 1
    assert count == 36


def test_frames_tell_every_move(recorded):
    env, ((ticket, result), *_) = recorded
    frames = list(replay(env, ticket, result.attempt, 0, result.episodes[0].actions, SEED))
    assert frames[0].moves == ()
    assert len(frames) == result.episodes[0].length + 1
    assert all(isinstance(frame, Frame) and frame.moves for frame in frames[1:])
    assert {move.entry for frame in frames for move in frame.moves} == set(range(len(ticket.entries)))


def test_both_entries_sit_in_both_seats():
    env = make_environment(GAMES["tic_tac_toe"], 1)
    ticket = Ticket(number=1, purpose=Purpose.EVALUATE, entries=(Entry("a"), Entry("b")), episodes=2)

    def lowest(rows, entry):
        return rows.mask.argmax(axis=1).astype(np.int32)

    first = [list(play(env, ticket, episode, 0, lowest))[1].moves[0].entry for episode in (0, 1)]
    assert first == [0, 1]


def test_another_seed_is_another_episode(tmp_path):
    """Without it the replay of a game of chance would prove nothing about seeds."""
    config = GAMES["pettingzoo_teams"]
    ((ticket, result),) = record(config, tmp_path, tickets=1)
    env = make_environment(config, 1)
    others = [
        difference(episode, outcome_of(replay(env, ticket, result.attempt + 1, i, episode.actions, SEED)))
        for i, episode in enumerate(result.episodes)
    ]
    assert any("returns" in other for other in others)
    env.close()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda packed: b"", "were not recorded"),
        (lambda packed: packed[:-1], "the record is at its end"),
        (lambda packed: packed + b"\0", "recorded actions are left"),
        (lambda packed: packed[:1] + packed, "illegal here"),
        (lambda packed: b"\xff" + packed[1:], "illegal here"),
    ],
)
def test_a_record_of_another_game_is_refused(tmp_path, change, complaint):
    config = GAMES["tic_tac_toe"]
    ((ticket, result),) = record(config, tmp_path, tickets=1)
    packed = result.episodes[0].actions
    with pytest.raises(ReplayError, match=complaint):
        outcome_of(replay(make_environment(config, 1), ticket, result.attempt, 0, change(packed), SEED))


def test_a_difference_is_named(tmp_path):
    ((_, result),) = record(GAMES["tic_tac_toe"], tmp_path, tickets=1)
    episode = result.episodes[0]
    other = msgspec.structs.replace(episode, length=episode.length + 1)
    assert difference(episode, other) == f"length {episode.length} became {other.length}"
    assert difference(episode, episode) == ""


def first_legal(rows, entry):
    return rows.mask.argmax(axis=1).astype(np.int32)


@pytest.mark.parametrize("slots", [1, 3, 20])
def test_episodes_in_many_slots_are_those_of_one_slot_in_order(slots):
    ticket = Ticket(number=0, purpose=Purpose.EVALUATE, entries=(Entry("a"), Entry("b")), episodes=1)
    env = make_environment(GAMES["connect_four"], slots)
    found = play_all(env, ticket, range(7), same_cast([0, 1]), first_legal)
    assert [outcome.ranks.index(0) for outcome in found] == [0, 1, 0, 1, 0, 1, 0]  # the first to move wins: seats swap
    whole = msgspec.structs.replace(ticket, episodes=7)
    single = make_environment(GAMES["connect_four"], 1)
    one_by_one = [outcome_of(play(single, whole, i, i, first_legal)) for i in range(7)]
    assert [(o.ranks, o.returns, o.length) for o in found] == [(o.ranks, o.returns, o.length) for o in one_by_one]


def test_an_environment_that_breaks_ends_many_episodes_with_its_reason():
    env = make_environment(EnvConfig(name="pettingzoo", id="faulty_env:env", kwargs={"raises": 1.0}), 2, ["faulty_env"])
    ticket = Ticket(number=0, purpose=Purpose.EVALUATE, entries=(Entry("a"), Entry("b")), episodes=1)
    with pytest.raises(ReplayError, match="the environment broke"):
        play_all(env, ticket, range(1000), same_cast([0, 1]), first_legal)
