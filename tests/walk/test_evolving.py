"""A player that evolves in a whole league, inline: beside a player of another algorithm, with masks and two seats."""

import pytest

from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.start import rehearse

SMALL = [
    "env=tic_tac_toe",
    "league=pfsp",
    "algo=es",
    "launch=inline",
    "launch.collectors=2",
    "collector.slots=16",
    "policy.hidden=[8]",
    "algo.batch=16",
    "learner.candidate_decisions=256",
    "league.promotion.min_decisions=256",
    "league.promotion.max_decisions=512",
    "league.evaluation.final_games=8",
    "league.budget.minutes=null",
    "league.budget.env_steps=2500",
]
OTHER = "{kind: main, algo: {name: ppo, batch: 256, minibatch: 128, epochs: 1}}"


@pytest.mark.slow
def test_an_evolving_player_trains_freezes_and_repeats_itself_beside_another(league):
    first, again = (league(name, *SMALL, f"+league.players.other={OTHER}") for name in ("first", "again"))
    assert first == again
    assert len(first[1]) > 4, "candidates of both"


def test_networks_elsewhere_cannot_be_perturbed():
    with pytest.raises(ConfigError, match=r"collector\.inference=local"):
        rehearse(compose([*SMALL, "collector.inference=central"]))
