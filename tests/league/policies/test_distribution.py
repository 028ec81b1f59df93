"""Distributions in torch: known answers, and the same log-probabilities as the actor's."""

import math

import numpy as np
import pytest
import torch

from league.policies.actions import legal, sample
from league.policies.distribution import distribution, squashed_log_prob
from league.spec import Array, EnvSpec, Seat


def spec(actions, choices=(), continuous=0):
    return EnvSpec("parts", ("a",), (Seat((0,)),), Array((2,), "float32"), actions, choices, continuous)


def test_choices_have_their_own_softmax_each():
    outputs = torch.tensor([[0.0, 0.0, 0.0, math.log(3.0)]])
    found = distribution(spec(4, (2, 2)), outputs, torch.ones(1, 4, dtype=torch.bool), torch.zeros(0))
    assert found.log_prob(torch.tensor([[0.0, 1.0]])).exp().tolist() == pytest.approx([1 / 2 * 3 / 4])
    even, uneven = math.log(2), -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert found.entropy().tolist() == pytest.approx([even + uneven])


def test_a_number_in_the_middle_has_the_density_of_the_gaussian():
    zero = torch.zeros(1, 1)
    assert float(squashed_log_prob(zero, zero, torch.zeros(1))) == pytest.approx(-0.5 * math.log(2 * math.pi))
    assert bool(squashed_log_prob(torch.ones(1, 1), zero, torch.zeros(1)).isfinite())


def test_torch_finds_the_same_chances_where_logits_are_far_below_the_mask():
    game = spec(7)
    mask = np.random.default_rng(1).random((200, 7)) < 0.5
    mask[:, 3] = True
    outputs = np.full((200, 7), -1e12, np.float32)
    outputs[:, 3] = -5e11  # the best legal one, far below an illegal one
    actions, log_probs = sample(game, outputs, np.zeros(0, np.float32), mask, np.random.default_rng(0))
    assert legal(game, actions, mask).all()
    found = distribution(game, torch.from_numpy(outputs), torch.from_numpy(mask), torch.zeros(0))
    np.testing.assert_allclose(found.log_prob(torch.from_numpy(actions).long()).numpy(), log_probs, atol=1e-6)
    assert torch.isfinite(found.entropy()).all()
    assert (found.log_probs.exp().numpy()[~mask] == 0).all()


def test_the_divergence_is_exact_for_every_kind_of_part():
    """KL(p || q) = E_p[log p(a) - log q(a)], here over many samples."""
    game, rng = spec(5, (3, 2), 2), np.random.default_rng(0)
    mask = np.array([[True, True, False, True, True]])
    outputs = rng.standard_normal((2, 1, 7)).astype(np.float32)
    log_std = np.array([[-0.5, 0.1], [0.2, -0.3]], np.float32)
    one, other = (
        distribution(game, torch.from_numpy(outputs[i]), torch.from_numpy(mask), torch.from_numpy(log_std[i]))
        for i in (0, 1)
    )
    many = 100_000
    actions, _ = sample(game, outputs[0].repeat(many, 0), log_std[0], mask.repeat(many, 0), rng)
    every, chosen = torch.zeros(many, dtype=torch.long), torch.from_numpy(actions)
    estimate = (one[every].log_prob(chosen) - other[every].log_prob(chosen)).mean()
    assert float(one.divergence(other)) == pytest.approx(float(estimate), abs=0.03)
    assert float(one.divergence(one)) == 0


def test_a_sample_has_the_log_density_of_its_numbers():
    spec = EnvSpec("reach", ("a",), (Seat((0,)),), Array((1,), "float32"), actions=0, continuous=2)
    outputs = torch.tensor([[0.3, -1.0, -0.5, 0.2], [0.0, 2.0, -2.0, 0.5]], requires_grad=True)
    mask, noise = torch.ones(2, 0, dtype=torch.bool), torch.tensor([[0.5, -1.0], [0.1, 0.7]])
    found = distribution(spec, outputs, mask, torch.zeros(0))
    action, log_prob = found.sample(noise)
    torch.testing.assert_close(action, (outputs[:, :2] + outputs[:, 2:].exp() * noise).tanh())
    torch.testing.assert_close(log_prob, found.log_prob(action), atol=1e-4, rtol=1e-4)
    log_prob.sum().backward()
    assert (outputs.grad != 0).all()


def test_a_sample_far_out_has_a_finite_log_density():
    spec = EnvSpec("reach", ("a",), (Seat((0,)),), Array((1,), "float32"), actions=0, continuous=1)
    outputs = torch.tensor([[60.0]], requires_grad=True)
    found = distribution(spec, outputs, torch.ones(1, 0, dtype=torch.bool), torch.zeros(1))
    action, log_prob = found.sample(torch.zeros(1, 1))
    log_prob.backward()
    assert float(action.detach()) == 1
    assert float(log_prob.detach()) == pytest.approx(-0.5 * math.log(2 * math.pi) + 120 - 2 * math.log(2), rel=1e-5)
    assert float(outputs.grad) == pytest.approx(2)
