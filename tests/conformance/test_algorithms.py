"""Every learning algorithm passes this suite."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from league.plugins import BUILTIN, resolve
from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.segment import TERMINATED, Segments
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import Batcher

SPEC = EnvSpec(
    name="hints",
    agents=("a", "b"),
    seats=(Seat(agents=(0, 1)),),
    observation=Array(shape=(3,), dtype="float32"),
    actions=3,
)
POLICY = PolicyConfig(hidden=[16])
CONFIGS = {"ppo": PPOConfig(batch=256, minibatch=64)}


@dataclass(frozen=True)
class Case:
    name: str

    def make(self, flat):
        return resolve("ludus.algorithms", self.name)(CONFIGS[self.name], POLICY, SPEC, flat)


@pytest.fixture(params=sorted(BUILTIN["ludus.algorithms"]))
def case(request):
    torch.set_num_threads(1)
    return Case(request.param)


def segments(flat, seed=0, lanes=32, ticks=4) -> Segments:
    rng = np.random.default_rng(seed)
    shape = (lanes, ticks, 2)
    hint = rng.integers(0, 3, shape)
    observation = np.eye(3, dtype=np.float32)[hint]
    mask = np.ones((*shape, 3), dtype=bool)
    actor = NumpyActor(POLICY, SPEC, flat)
    action, log_prob = actor.act(observation.reshape(-1, 3), mask.reshape(-1, 3), rng)
    none = np.zeros(0, dtype=np.int32)
    return Segments(
        player="hero",
        incarnation=0,
        observation=observation,
        mask=mask,
        action=action.reshape(shape),
        log_prob=log_prob.reshape(shape),
        reward=(action.reshape(shape) == hint).astype(np.float32),
        end=np.full(shape, TERMINATED, dtype=np.uint8),
        present=np.ones(shape, dtype=bool),
        length=np.full(lanes, ticks, dtype=np.int32),
        version=np.zeros(lanes, dtype=np.int32),
        tail_lane=none,
        tail_tick=none,
        tail_agent=none,
        tail_observation=np.zeros((0, 3), dtype=np.float32),
    )


def batch(parts):
    batcher = Batcher(incarnation=0, batch=parts.decisions, max_lag=0)
    batcher.add(parts, "session", version=0)
    return batcher.take(version=0)


def test_an_update_changes_the_weights_and_gives_way(case):
    flat = initial(POLICY, SPEC, 0)
    algorithm, calls = case.make(flat), []
    metrics = algorithm.update(batch(segments(flat)), np.random.default_rng(0), lambda: calls.append(1))
    assert not np.array_equal(algorithm.flat(), flat)
    assert calls
    assert metrics["losses/rollbacks"] == 0
    assert np.isfinite(list(metrics.values())).all()


def test_the_same_rng_gives_the_same_weights(case):
    flat = initial(POLICY, SPEC, 0)
    results = []
    for seed in (0, 0, 1):
        algorithm = case.make(flat)
        algorithm.update(batch(segments(flat)), np.random.default_rng(seed))
        results.append(algorithm.flat())
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_it_goes_on_from_its_state_as_if_nothing_had_happened(case):
    flat = initial(POLICY, SPEC, 0)
    algorithm = case.make(flat)
    algorithm.update(batch(segments(flat)), np.random.default_rng(0))
    other = case.make(flat)
    other.restore(algorithm.state())
    following = batch(segments(algorithm.flat(), seed=1))
    for one in (algorithm, other):
        one.update(following, np.random.default_rng(1))
    np.testing.assert_array_equal(algorithm.flat(), other.flat())


def test_state_and_weights_are_copies(case):
    flat = initial(POLICY, SPEC, 0)
    algorithm = case.make(flat)
    state, weights = algorithm.state(), algorithm.flat()
    kept = {name: array.copy() for name, array in state.items()}
    algorithm.update(batch(segments(flat)), np.random.default_rng(0))
    for name, array in state.items():
        np.testing.assert_array_equal(array, kept[name])
    np.testing.assert_array_equal(weights, flat)
    np.testing.assert_array_equal(initial(POLICY, SPEC, 0), flat)


@pytest.mark.parametrize("field", ["reward", "observation", "log_prob"])
@pytest.mark.parametrize("poison", [np.nan, np.inf, 3e38])
def test_nothing_that_is_not_finite_gets_into_the_weights(case, field, poison):
    flat = initial(POLICY, SPEC, 0)
    algorithm, rng = case.make(flat), np.random.default_rng(0)
    algorithm.update(batch(segments(flat)), rng)
    before = algorithm.state()
    bad = segments(algorithm.flat(), seed=1)
    spoilt = getattr(bad, field).copy()
    spoilt[0, 0, 0] = -poison if field == "log_prob" else poison
    metrics = algorithm.update(batch(replace(bad, **{field: spoilt})), rng)
    assert np.isfinite(list(metrics.values())).all()
    assert np.isfinite(algorithm.flat()).all()
    if metrics["losses/rollbacks"]:
        for name, array in algorithm.state().items():
            np.testing.assert_array_equal(array, before[name])
    else:
        assert np.isfinite(poison)
    assert algorithm.update(batch(segments(algorithm.flat(), seed=2)), rng)["losses/rollbacks"] == 0


def test_it_learns(case):
    algorithm, rng = case.make(initial(POLICY, SPEC, 0)), np.random.default_rng(0)
    first = segments(algorithm.flat(), seed=1000).reward.mean()
    for seed in range(60):
        algorithm.update(batch(segments(algorithm.flat(), seed)), rng)
    assert segments(algorithm.flat(), seed=1000).reward.mean() > first + 0.25
