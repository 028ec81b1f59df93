"""Evolution strategies: the gradient against a slow loop, and what every algorithm promises."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch
from paper_losses import es_ascent

from league.fitness import Fitness
from league.policies.layout import PolicyConfig, describe, initial
from league.policies.numpy_actor import NumpyActor
from league.policies.perturbation import NoiseTable, perturbed_part
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.config import GroupConfig
from learners.algorithms.es import centred_ranks, es_gradient
from learners.algorithms.es_config import ESConfig
from learners.batcher import Batcher

SPEC = EnvSpec("hints", ("a",), (Seat((0,)),), Array((3,), "float32"), 3)
POLICY = PolicyConfig(hidden=[8])
CONFIG = ESConfig(batch=64, lr=0.05, sigma=0.2)
HINTS = np.eye(3, dtype=np.float32)
MASK = np.ones((3, 3), np.bool_)


def table():
    return NoiseTable(perturbed_part(POLICY, SPEC))


def played(flat, seed=0, count=64, sigma=CONFIG.sigma, version=0):
    """Return the fitness of antithetic pairs in a game that pays the probability of the action that the hint names."""
    rng, noise = np.random.default_rng(seed), table()
    offset = np.repeat(rng.integers(0, noise.offsets, count // 2), 2)
    sign = np.tile(np.array([1, -1], np.int8), count // 2)
    returned = []
    for where, which in zip(offset.tolist(), sign.tolist(), strict=True):
        actor = NumpyActor(POLICY, SPEC, noise.perturbed(flat, where, which, sigma))
        returned.append(float(actor.probabilities(actor.outputs(HINTS), MASK).diagonal().sum()))
    return Fitness(
        "hero", 0, offset, sign, np.array(returned), np.full(count, 5, np.int32), np.full(count, version, np.int32)
    )


def batch(fitness, max_lag=0):
    batcher = Batcher(incarnation=0, batch=fitness.units, max_lag=max_lag)
    assert batcher.add(fitness, "session", version=0)
    return batcher.take(version=0)


def make(flat=None, config=CONFIG):
    torch.set_num_threads(1)
    return make_algorithm(config, POLICY, SPEC, initial(POLICY, SPEC, 0) if flat is None else flat)


def test_the_gradient_is_that_of_the_paper():
    rng, noise = np.random.default_rng(3), table()
    offset, sign = rng.integers(0, noise.offsets, 20), rng.choice(np.array([1, -1], np.int8), 20)
    returned = rng.integers(0, 6, 20).astype(np.float64)  # many are equal
    slow = es_ascent([noise.noise(o).tolist() for o in offset], sign.tolist(), returned.tolist(), 0.3)
    np.testing.assert_allclose(es_gradient(noise, offset, sign, centred_ranks(returned), 0.3), slow, atol=1e-5)


def test_equal_returns_teach_nothing():
    fitness = played(initial(POLICY, SPEC, 0))
    algorithm = make()
    before = algorithm.flat()
    metrics = algorithm.update(batch(replace(fitness, returned=np.full(64, 500.0))), np.random.default_rng(0))
    np.testing.assert_array_equal(algorithm.flat(), before)
    assert metrics["losses/rollbacks"] == 0


def test_weights_decay_by_their_share_of_the_learning_rate():
    fitness = replace(played(initial(POLICY, SPEC, 0)), returned=np.zeros(64))
    algorithm = make(config=replace(CONFIG, weight_decay=0.5))
    before = algorithm.flat()
    algorithm.update(batch(fitness), np.random.default_rng(0))
    shrunk = np.where(table().part, before * np.float32(1 - 0.05 * 0.5), before)
    np.testing.assert_allclose(algorithm.flat(), shrunk, atol=1e-7)


def test_it_learns_and_leaves_alone_what_does_not_act():
    algorithm, rng = make(), np.random.default_rng(0)
    start = algorithm.flat()
    first = played(start, sigma=1e-6, count=2).returned.mean()
    calls = []
    for seed in range(15):
        metrics = algorithm.update(batch(played(algorithm.flat(), seed)), rng, lambda: calls.append(1))
    assert played(algorithm.flat(), sigma=1e-6, count=2).returned.mean() > first + 1, "of 3"
    assert calls
    assert metrics["paired"] == 1
    views, before = (describe(POLICY, SPEC).views(flat) for flat in (algorithm.flat(), start))
    np.testing.assert_array_equal(views["value.weight"], before["value.weight"])
    assert not np.array_equal(views["hidden_0.weight"], before["hidden_0.weight"])


def test_it_goes_on_from_its_state_as_if_nothing_had_happened():
    algorithm, rng = make(), np.random.default_rng(0)
    algorithm.update(batch(played(algorithm.flat())), rng)
    other = make()
    other.restore(algorithm.state())
    following = batch(played(algorithm.flat(), seed=1))
    for one in (algorithm, other):
        one.update(following, rng)
    np.testing.assert_array_equal(algorithm.flat(), other.flat())
    assert algorithm.decisions == other.decisions == 2 * 64 * 5


@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_nothing_that_is_not_finite_gets_into_the_weights(poison):
    algorithm, rng = make(), np.random.default_rng(0)
    algorithm.update(batch(played(algorithm.flat())), rng)
    before, bad = algorithm.state(), played(algorithm.flat(), seed=1)
    bad.returned[3] = poison
    assert algorithm.update(batch(bad), rng)["losses/rollbacks"] == 1
    assert algorithm.trouble == "returns"
    for name, array in algorithm.state().items():
        np.testing.assert_array_equal(array, before[name])
    assert algorithm.update(batch(played(algorithm.flat(), seed=2)), rng)["losses/rollbacks"] == 0


def test_a_batch_counts_episodes_and_its_lag_decisions():
    fitness = played(initial(POLICY, SPEC, 0), count=10)
    batcher = Batcher(incarnation=0, batch=6, max_lag=1)
    assert batcher.add(fitness, "one", version=1)
    assert batcher.waiting("one") == 10
    taken = batcher.take(version=1)
    assert (taken.fitness.units, taken.decisions, taken.sessions) == (6, 30, {"one": 6})
    assert taken.lag.tolist() == [1] * 30
    assert not batcher.full
    assert not batcher.add(fitness, "one", version=2), "too old"
    assert batcher.dropped_stale == 10


def test_groups_freeze_layers():
    algorithm = make(config=replace(CONFIG, groups={"still": GroupConfig(match="hidden_*", lr=0.0)}))
    before = describe(POLICY, SPEC).views(algorithm.flat())
    algorithm.update(batch(played(algorithm.flat())), np.random.default_rng(0))
    after = describe(POLICY, SPEC).views(algorithm.flat())
    np.testing.assert_array_equal(after["hidden_0.weight"], before["hidden_0.weight"])
    assert not np.array_equal(after["policy.weight"], before["policy.weight"])


class ThreadGroup:
    """The group of one of two ranks that are threads; `told` holds what both say in a round."""

    size, device, board = 2, torch.device("cpu"), None

    def __init__(self, rank, barrier, told):
        self.rank, self.barrier, self.told = rank, barrier, told

    def gather(self, text):
        self.told[self.rank] = text
        self.barrier.wait(60)
        both = tuple(self.told)
        self.barrier.wait(60)
        return both

    def mean(self, tensor, weight):
        both = self.gather((tensor.clone(), weight))
        return tensor.copy_(sum(one * share for one, share in both) / sum(share for _, share in both))

    def total(self, number):
        return sum(self.gather(number))


@pytest.mark.parametrize("first", [32, 50])
def test_two_ranks_take_the_step_of_one_that_has_all_episodes(first):
    torch.set_num_threads(1)
    flat = initial(POLICY, SPEC, 0)
    whole, fitness = make(), played(flat)
    whole.update(batch(fitness), np.random.default_rng(0))
    barrier, told = threading.Barrier(2), [None, None]
    ranks = [make_algorithm(CONFIG, POLICY, SPEC, flat, ThreadGroup(rank, barrier, told)) for rank in range(2)]
    shares = [fitness.lanes(0, first), fitness.lanes(first, 64)]
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda rank: ranks[rank].update(batch(shares[rank]), np.random.default_rng(0)), range(2)))
    np.testing.assert_array_equal(ranks[0].flat(), ranks[1].flat())
    np.testing.assert_allclose(ranks[0].flat(), whole.flat(), atol=1e-6)
    assert ranks[0].decisions == ranks[1].decisions == whole.decisions
