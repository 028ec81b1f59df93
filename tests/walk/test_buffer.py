"""A buffer process in one process with the rest: the same league as if the learner had the replay itself."""

import pytest

from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.start import rehearse

SMALL = [
    "env=tic_tac_toe",
    "league=alphastar",
    "algo=dqn",
    "launch=inline",
    "launch.collectors=2",
    "collector.slots=32",
    "collector.flush_decisions=100",
    "policy.hidden=[16]",
    "algo.batch=256",
    "algo.minibatch=128",
    "algo.replay=1500",
    "algo.warmup=600",
    "algo.samples_per_insert=2",
    "learner.candidate_decisions=512",
    "league.promotion.min_decisions=600",
    "league.promotion.max_decisions=1200",
    "league.evaluation.final_games=10",
    "league.budget.minutes=null",
    "league.budget.env_steps=6000",
]


OTHER = "{kind: main, algo: {name: ppo, batch: 512, minibatch: 256, epochs: 1}, policy: {head: logits}}"


@pytest.mark.parametrize(
    "overrides",
    [
        pytest.param(  # with this seed batches of both kinds of player become full in the same round
            [f"+league.players.other={OTHER}", "seed=2"], id="beside a player without a replay"
        ),
        pytest.param(  # minibatches of whole lanes differ in size, so any credit that comes in another round shows
            ["launch.learners=2", "collector.inference=central", "policy.memory=gru", "policy.memory_size=8"],
            id="all apart, with a memory",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_same_seed_gives_the_same_league_wherever_replays_are(league, overrides):
    inside, buffer = (
        league(replay_in, *SMALL, *overrides, f"learner.replay_in={replay_in}") for replay_in in ("learner", "buffer")
    )
    assert len(inside[1]) > 3
    assert inside == buffer


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["algo=ppo"], "learner.replay_in=buffer: no player learns from a replay (algo is ppo)"),
        (
            ["algo=ppo", "learner.replay_in=learner", "learner.keep_replay=true"],
            "learner.keep_replay=true: no player learns from a replay (algo is ppo)",
        ),
        (["learner.replay_in=shelf"], "learner.replay_in: unknown 'shelf'; choose one of learner, buffer"),
    ],
)
def test_what_a_buffer_cannot_do_is_refused_in_one_line(overrides, message):
    with pytest.raises(ConfigError) as refusal:
        rehearse(compose(["env=tic_tac_toe", "algo=dqn", "learner.replay_in=buffer", *overrides]))
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)
