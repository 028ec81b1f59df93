"""Observations are seen at a running mean of 0 and a deviation of 1."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from league.policies.flat_policy import Observed
from league.policies.layout import PolicyConfig, describe, initial
from league.policies.module_policy import make_policy
from league.policies.normalising import COUNT, FAR, MEAN, MEMORY, VARIANCE, factors, shapes, take_in
from league.policies.numpy_actor import NumpyActor
from league.spec import Array, EnvSpec, Seat


def fresh(size):
    views = {name: np.zeros(shape, np.float32) for name, shape in shapes(size).items()}
    views[VARIANCE][:] = 1
    return views


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_batches_add_up_to_the_whole(seed, sizes):
    rng = np.random.default_rng(seed)
    batches = [rng.normal(rng.normal(0, 3, 4), 2, (size, 4)).astype(np.float32) for size in sizes]
    views = fresh(4)
    for batch in batches:
        take_in(views, batch.mean(axis=0), batch.var(axis=0), len(batch))
    whole = np.concatenate(batches)
    np.testing.assert_allclose(views[MEAN], whole.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(views[VARIANCE], whole.var(axis=0), atol=1e-3)
    assert views[COUNT] == len(whole)


def test_old_observations_are_forgotten():
    views = fresh(1)
    take_in(views, np.zeros(1, np.float32), np.ones(1, np.float32), 100 * MEMORY)
    assert views[COUNT] == MEMORY
    take_in(views, np.ones(1, np.float32), np.ones(1, np.float32), MEMORY)
    assert views[MEAN] == pytest.approx(0.5)


def test_before_anything_was_seen_bytes_are_numbers_up_to_1():
    spec = EnvSpec("image", ("a",), (Seat((0,)),), Array((8, 8, 1), "uint8"), 2)
    config = PolicyConfig(name="cnn", normalise=True)
    mean, factor = factors(describe(config, spec).views(initial(config, spec, 0)), config.scale(spec))
    assert not mean.any()
    np.testing.assert_allclose(255 * factor, 1, atol=1e-5)


def test_what_is_far_out_is_cut():
    spec = EnvSpec("numbers", ("a",), (Seat((0,)),), Array((1,), "float32"), 2)
    config = PolicyConfig(hidden=[4], normalise=True)
    actor = NumpyActor(config, spec, initial(config, spec, 0))
    far, farther, not_so_far = actor.outputs(np.array([[2 * FAR], [9 * FAR], [FAR / 2]], np.float32))
    np.testing.assert_array_equal(far, farther)
    assert (far != not_so_far).any()


@pytest.mark.parametrize("settings", [{"head": "values"}, {"head": "atoms", "duelling": True}])
def test_values_of_actions_are_those_of_normalised_observations(settings):
    spec = EnvSpec("numbers", ("a",), (Seat((0,)),), Array((3,), "float32"), 2)
    config = PolicyConfig(hidden=[4], normalise=True, **settings)
    flat = initial(config, spec, 0)
    mean, deviation = np.array([1, 20, -300], np.float32), np.array([0.1, 5, 100], np.float32)
    take_in(describe(config, spec).views(flat), mean, deviation**2, 10)
    plain, known = initial(replace(config, normalise=False), spec, 0), describe(config, spec).views(flat)
    for name, view in describe(replace(config, normalise=False), spec).views(plain).items():
        view[:] = known[name]
    row = np.array([[0.5, -1, 2]], np.float32)
    seen = mean + row * deviation
    expected = NumpyActor(replace(config, normalise=False), spec, plain).outputs(row)
    np.testing.assert_allclose(NumpyActor(config, spec, flat).outputs(seen), expected, atol=1e-4)
    policy = make_policy(config, spec)
    policy.write(flat)
    outputs = policy.logits(Observed(torch.from_numpy(seen)))[0].detach().numpy()
    np.testing.assert_allclose(outputs, expected, atol=1e-4)


def test_a_policy_that_outputs_numbers_is_refused():
    with pytest.raises(ValueError, match=r"does not work with policy\.head=actions"):
        PolicyConfig(normalise=True, head="actions")
