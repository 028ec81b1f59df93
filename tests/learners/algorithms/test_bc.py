"""Behaviour cloning: its loss, one decision at a time, what it learns from, and what it refuses."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from game_data import games_of, write_data

from league.policies.layout import PolicyConfig, initial
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.bc import BC, cloning_loss
from learners.algorithms.bc_config import BCConfig
from learners.batcher import Batch


@pytest.fixture
def right(play, fresh, spec, tmp_path):
    """Return a data set in which the hint is always followed."""
    segments = play(fresh, lanes=40, ticks=4, seed=5)
    return write_data(tmp_path / "right", games_of(segments, spec, action=followed(segments)))


def followed(segments):
    return segments.observation[segments.present].argmax(axis=1).astype(np.int32)


def batch_of(segments):
    return Batch(segments, np.zeros(segments.decisions, np.int64), {})


@pytest.mark.parametrize("value_coef", [0.0, 0.7])
def test_the_loss_is_that_of_supervised_learning(play, spec, policy, fresh, right, value_coef):
    config = BCConfig(data=right, value_coef=value_coef)
    algorithm = BC(config, policy, spec, fresh)
    data = algorithm.prepare(play(fresh))
    with torch.no_grad():
        actions, value = algorithm.policy(data.seen, data.mask)
        loss, _ = cloning_loss(actions, value, data, config, entropy_coef=0.2)
    total = 0.0
    for b in range(len(data)):
        row = actions.log_probs[b].tolist()
        total -= row[int(data.action[b])]
        total += value_coef * 0.5 * float(value[b] - data.target[b]) ** 2
        total += 0.2 * sum(math.exp(p) * p for p in row if p > -1e8)
    assert float(loss) == pytest.approx(total / len(data), abs=1e-5)


@pytest.mark.parametrize("network", [{}, {"memory": "gru", "memory_size": 8}, {"critic": "central"}], ids=str)
def test_it_learns_what_the_data_does_and_not_what_it_does_itself(play, spec, fresh, right, network):
    network = PolicyConfig(hidden=[16], **network)
    start = initial(network, spec, 0)
    algorithm = BC(BCConfig(data=right, lr=1e-2, lessons=64, minibatch=32), network, spec, start)
    rng, metrics = np.random.default_rng(0), []
    for _ in range(15):
        metrics.append(algorithm.update(batch_of(play(fresh)), rng))
    assert metrics[0]["losses/held_out"] > 0.5
    assert metrics[-1]["losses/held_out"] < 0.35
    assert metrics[-1]["losses/held_out_accuracy"] == 1
    assert metrics[-1]["lessons"] == 144
    assert metrics[-1]["reuse"] == 1


def test_values_learn_the_returns_of_the_data_if_they_may(play, spec, policy, fresh, right):
    errors = []
    for coef in (0.0, 1.0):
        config = BCConfig(data=right, value_coef=coef, lr=1e-2, lessons=128, minibatch=64)
        algorithm = BC(config, policy, spec, fresh)
        for _ in range(30):
            metrics = algorithm.update(batch_of(play(fresh)), np.random.default_rng(0))
        errors.append(metrics["losses/value_loss"])
    assert errors[1] < 0.5 * errors[0]


def test_an_update_that_explodes_is_rolled_back(play, spec, policy, fresh, right):
    algorithm = BC(BCConfig(data=right, lr=1e38), policy, spec, fresh)
    rng = np.random.default_rng(0)
    rollbacks = [algorithm.update(batch_of(play(fresh)), rng)["losses/rollbacks"] for _ in range(3)]
    assert 1 in rollbacks
    assert np.isfinite(algorithm.flat()).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data": ""}, "algo=bc needs algo.data=FOLDER, games written by ludus export RUN --to games"),
        ({"data": "gone"}, "algo.data: there is no gone. Write games with: ludus export"),
    ],
)
def test_without_games_it_is_refused_before_the_run(changes, said, right):
    with pytest.raises(ValueError, match=said):
        replace(BCConfig(data=right), **changes).refuse(PolicyConfig())


def test_a_critic_that_sees_the_state_is_refused(right):
    with pytest.raises(ValueError, match="data sets have no states"):
        BCConfig(data=right).refuse(PolicyConfig(critic="state"))


def test_it_is_made_by_its_name(spec, policy, fresh, right):
    assert isinstance(make_algorithm(BCConfig(data=right), policy, spec, fresh), BC)


@pytest.mark.parametrize(("field", "value"), [("lessons", 0), ("held_out", 1.0)])
def test_settings_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=field):
        BCConfig(**{field: value})
