"""Values of unknown scale: normalised by exponential averages, and back again."""

import pytest
import torch

from learners.normaliser import LEAST, Normaliser

TARGETS = torch.tensor([1.0, 3.0, 5.0, 7.0])  # mean 4, deviation sqrt(5)


def learned(*batches):
    normaliser = Normaliser()
    for batch in batches:
        normaliser.learn(batch.mean(), batch.square().mean())
    return normaliser


def test_a_new_one_changes_nothing():
    torch.testing.assert_close(Normaliser().shrink(TARGETS), TARGETS)
    torch.testing.assert_close(Normaliser().stretch(TARGETS), TARGETS)


def test_one_batch_gives_its_own_mean_and_deviation():
    normaliser = learned(TARGETS)
    torch.testing.assert_close(normaliser.shrink(TARGETS), (TARGETS - 4) / 5**0.5)
    torch.testing.assert_close(normaliser.stretch(normaliser.shrink(TARGETS)), TARGETS)


def test_a_new_batch_weighs_a_little_more_than_the_old_one():
    middle = learned(torch.zeros(2), torch.ones(2)).stretch(torch.zeros(1))
    assert float(middle) == pytest.approx(1 / 1.99)


def test_values_that_never_differ_are_not_divided_by_zero():
    assert learned(torch.full((3,), 2.0)).shrink(torch.tensor([2.0 + LEAST])).tolist() == pytest.approx([1.0], rel=1e-3)


def test_it_goes_on_from_its_state():
    normaliser, restored = learned(TARGETS), Normaliser()
    restored.restore(normaliser.state())
    assert restored == normaliser
