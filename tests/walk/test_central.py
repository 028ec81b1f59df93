"""Central inference in one process: the same league as if each collector had the networks itself."""

import pytest

SMALL = [
    "experiment=tic_tac_toe",
    "league=alphastar",
    "launch=inline",
    "launch.collectors=2",
    "collector.slots=32",
    "collector.flush_decisions=100",
    "policy.hidden=[16]",
    "algo.batch=256",
    "algo.minibatch=128",
    "learner.candidate_decisions=512",
    "league.promotion.min_decisions=600",
    "league.promotion.max_decisions=1200",
    "league.kinds.main_exploiter.promotion.reset=never",  # a reset may reach running episodes a tick later
    "league.kinds.league_exploiter.promotion.reset=never",
    "league.evaluation.final_games=10",
    "league.budget.minutes=null",
    "league.budget.env_steps=3000",
]


@pytest.mark.parametrize(
    "overrides",
    [
        pytest.param(["algo.epochs=1"], id="mlp"),
        pytest.param(
            ["policy.memory=gru", "policy.memory_size=8", "policy.agent_id=true", "algo.epochs=1"],
            id="gru",
            marks=pytest.mark.slow,
        ),
        pytest.param(["algo=apex", "algo.warmup=256", "launch.learners=2"], id="apex, two learners"),
    ],
)
def test_the_same_seed_gives_the_same_league_wherever_networks_are(league, overrides):
    local, central = (
        league(inference, *SMALL, *overrides, f"collector.inference={inference}") for inference in ("local", "central")
    )
    assert len(local[1]) > 3
    assert local == central
