"""Every network passes this suite for every kind of action, as a league.policies.actor in numpy and in torch."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from bound_networks import bound
from scipy import stats

from league.policies.actions import legal
from league.policies.binding import bind
from league.policies.flat_policy import Lanes, Observed
from league.policies.layout import EDGE, NETWORKS, PolicyConfig, describe
from league.policies.module_policy import make_policy
from league.policies.network_actor import make_actor
from league.spec import Array, EnvSpec, ObservationPart, Seat


def spec_of(actions, choices=(), continuous=0, shape=(6, 7, 2), structure=()):
    return EnvSpec(
        name="board",
        agents=("a",),
        seats=(Seat(agents=(0,)),),
        observation=Array(shape=shape, dtype="int8", structure=structure),
        actions=actions,
        choices=choices,
        continuous=continuous,
    )


PARTS = (
    ObservationPart(("clock",), 0, (2,), (4, 2)),
    ObservationPart(("picture",), 6, (4, 3, 2)),
    ObservationPart(("unit", 0), 30, (5, 3)),
    ObservationPart(("unit", 1), 45, (5,)),
)
SPECS = {
    "single": spec_of(7),
    "choices": spec_of(9, (4, 3, 2)),
    "equal": spec_of(9, (3, 3, 3)),
    "numbers": spec_of(0, (), 3),
    "mixed": spec_of(7, (5, 2), 2),
    "grey": spec_of(7, shape=(6, 7)),  # an image of one plane, without an axis for it
    "parts": spec_of(7, (5, 2), 2, shape=(50,), structure=PARTS),
}
CONFIGS = [PolicyConfig(name="mlp", activation="relu"), PolicyConfig(name="cnn", filters=[[8, 3, 1], [4, 2, 2]])]
CONFIGS += [PolicyConfig(name=name, channels=8) for name in NETWORKS if name != "cnn"]
CONFIGS += [PolicyConfig(memory=memory, memory_size=16) for memory in ("gru", "lstm")]
CONFIGS += [PolicyConfig(agent_id=True), PolicyConfig(critic="central"), PolicyConfig(memory="gru", agent_id=True)]
CONFIGS += [PolicyConfig(name=name, channels=8, normalise=True) for name in ("mlp", "board_conv")]
CONFIGS += [PolicyConfig(name="cnn", filters=[[8, 3, 1], [4, 2, 2]], normalise=True)]
CASES = [(config, "single") for config in CONFIGS] + [(PolicyConfig(), name) for name in SPECS if name != "single"]
CASES += [(PolicyConfig(memory="lstm", memory_size=16), "mixed")]
CASES += [(PolicyConfig(deviation="state"), "numbers"), (PolicyConfig(deviation="state", critic="none"), "mixed")]
CASES += [(PolicyConfig(critic="none"), "single")]
CASES += [(config, "grey") for config in CONFIGS if config.name != "mlp"]
CASES += [("Window", "single"), ("Window", "mixed"), ("BatchNormed", "numbers")]  # of another package
CASES += [(PolicyConfig(name="structured", kwargs={"width": 16}), spec) for spec in ("single", "parts")]
CASES += [(PolicyConfig(name="entities", kwargs={"width": 16}), "grey")]
POINTING = {"width": 16, "presence": "unit.1", "pointing": True}
CASES += [(PolicyConfig(name="entities", kwargs=POINTING), "parts")]
IN_TORCH = [(PolicyConfig(), "single"), (PolicyConfig(memory="lstm", memory_size=16), "mixed")]
IN_TORCH += [(PolicyConfig(memory="gru", memory_size=16, deviation="state"), "mixed")]
IN_TORCH += [(PolicyConfig(name="board_conv", channels=8, agent_id=True), "single")]


@dataclass(frozen=True)
class Case:
    config: PolicyConfig
    spec: EnvSpec
    act_in: str = "numpy"

    @classmethod
    def of(cls, config, spec, act_in="numpy"):
        made = bound(config, SPECS[spec]) if isinstance(config, str) else bind(config, SPECS[spec], ())
        return cls(made, SPECS[spec], act_in)

    def weights(self, seed=0):
        layout = describe(self.config, self.spec)
        flat = (np.random.default_rng(seed).standard_normal(layout.size) * 0.1).astype(np.float32)
        for name, view in layout.views(flat).items():
            if name.endswith("running_var"):
                view[:] = 1 + np.abs(view)
        return flat

    def positions(self, rows, seed=1):
        rng = np.random.default_rng(seed)
        mask = rng.random((rows, self.spec.actions)) < 0.5
        begin = 0
        for options in self.spec.heads:
            mask[np.arange(rows), begin + rng.integers(0, options, rows)] = True
            begin += options
        return rng.integers(0, 2, (rows, *self.spec.observation.shape)).astype(np.int8), mask

    def actor(self, greedy=False):
        return make_actor(self.config, self.spec, self.weights(), greedy, act_in=self.act_in)

    def log_std(self, outputs):
        """The logarithm of the deviations in each row."""
        if self.config.deviation == "state":
            return outputs[:, self.spec.actions + self.spec.continuous :]
        return describe(self.config, self.spec).views(self.weights())["log_std"][None].repeat(len(outputs), axis=0)

    def torch(self):
        policy = make_policy(self.config, self.spec)
        policy.write(self.weights())
        return policy


def name_of(case):
    config, spec, *act_in = case
    if isinstance(config, str):
        return f"{config}-{spec}"
    if act_in:
        return f"{config.name}-{config.memory}-{config.deviation}-{spec}-in-torch"
    deviation = "-deviation" if config.deviation == "state" else ""
    return f"{config.name}-{config.activation}-{config.memory}-{config.critic}-{config.normalise}{deviation}-{spec}"


@pytest.fixture(params=[*CASES, *((*case, "torch") for case in IN_TORCH)], ids=name_of)
def case(request):
    return Case.of(*request.param)


@pytest.fixture(params=[case for case in CASES if SPECS[case[1]].continuous], ids=name_of)
def case_with_numbers(request):
    return Case.of(*request.param)


def told(observation, mask):
    return Observed(torch.from_numpy(observation)), torch.from_numpy(mask)


def long_if_single(case, actions):
    return torch.from_numpy(actions).long() if case.spec.single else torch.from_numpy(actions)


def test_numpy_equals_torch(case):
    observation, mask = case.positions(64)
    actions, log_probs = case.actor().act(observation, mask, np.random.default_rng(5))
    with torch.no_grad():
        distribution, _ = case.torch()(*told(observation, mask))
        expected = distribution.log_prob(long_if_single(case, actions))
    np.testing.assert_allclose(log_probs, expected.numpy(), atol=2e-5)


def test_far_out_numbers_have_the_same_log_probability(case_with_numbers):
    case = case_with_numbers
    flat = case.weights()
    last = -1 if case.config.deviation == "constant" else -1 - case.spec.continuous
    describe(case.config, case.spec).views(flat)["policy.bias"][last] = 20.0
    actor = make_actor(case.config, case.spec, flat, act_in=case.act_in)
    observation, mask = case.positions(64)
    actions, log_probs = actor.act(observation, mask, np.random.default_rng(5))
    assert (actions[:, -1] == np.float32(EDGE)).all()
    policy = case.torch()
    policy.write(flat)
    with torch.no_grad():
        expected = policy(*told(observation, mask))[0].log_prob(torch.from_numpy(actions))
    np.testing.assert_allclose(log_probs, expected.numpy(), rtol=1e-5, atol=1e-4)


def test_value_needs_no_mask(case):
    observation, mask = case.positions(9)
    policy = case.torch()
    _, value = policy(*told(observation, mask))
    torch.testing.assert_close(policy.values(Observed(torch.from_numpy(observation)))[0], value)
    assert value.shape == (9,)


def test_actions_are_legal_and_typed(case):
    actor, (observation, mask) = case.actor(), case.positions(256)
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions, log_probs = actor.act(observation, mask, rng)
        assert legal(case.spec, actions, mask).all()
    assert actions.dtype == np.dtype(case.spec.action.dtype)
    assert actions.shape == (256, *case.spec.action.shape)
    assert log_probs.dtype == np.float32
    assert case.spec.continuous or (log_probs <= 1e-6).all()


class ZeroDraws(np.random.Generator):
    """The worst luck: every draw is exactly zero."""

    def standard_exponential(self, size=None, dtype=np.float64, *_):
        return np.zeros(size, dtype=dtype)


def test_a_zero_draw_chooses_no_illegal_action(case):
    observation, mask = case.positions(64)
    actions, _ = case.actor().act(observation, mask, ZeroDraws(np.random.PCG64(0)))
    assert legal(case.spec, actions, mask).all()


def test_choices_are_sampled_from_the_masked_softmax(case):
    observation, mask = case.positions(1)
    draws = 6_000
    actor = case.actor()
    many = np.repeat(observation, draws, axis=0), np.repeat(mask, draws, axis=0)
    actions, _ = actor.act(*many, np.random.default_rng(3))
    outputs, begin = actor.outputs(observation)[0].astype(np.float64), 0
    for choice, options in enumerate(case.spec.heads):
        allowed = mask[0, begin : begin + options]
        logits = np.where(allowed, outputs[begin : begin + options], -np.inf)
        expected = np.exp(logits - logits.max())
        expected /= expected.sum()
        chosen = actions.reshape(draws, -1)[:, choice].astype(int)
        counts = np.bincount(chosen, minlength=options)[allowed]
        assert allowed.sum() == 1 or stats.chisquare(counts, expected[allowed] * draws).pvalue > 1e-4
        begin += options


def test_numbers_are_squashed_gaussians_and_their_density_integrates_to_one(case_with_numbers):
    case = case_with_numbers
    observation, mask = case.positions(1)
    draws, choices = 20_000, len(case.spec.heads)
    actor = case.actor()
    many = np.repeat(observation, draws, axis=0), np.repeat(mask, draws, axis=0)
    actions, _ = actor.act(*many, np.random.default_rng(3))
    outputs = actor.outputs(observation)
    means = outputs[0, case.spec.actions : case.spec.actions + case.spec.continuous]
    log_std = case.log_std(outputs)[0]
    for number in range(case.spec.continuous):
        gaussian = stats.norm(means[number], np.exp(log_std[number]))
        assert stats.kstest(np.arctanh(actions[:, choices + number].astype(float)), gaussian.cdf).pvalue > 1e-4
    grid = np.linspace(-0.9999, 0.9999, 20_001, dtype=np.float32)
    probe = np.tile(actions[:1], (len(grid), 1))
    probe[:, -1] = grid
    with torch.no_grad():
        rows = told(np.repeat(observation, len(grid), axis=0), np.repeat(mask, len(grid), axis=0))
        log_prob = case.torch()(*rows)[0].log_prob(torch.from_numpy(probe)).double()
        only = case.torch()(*rows)[0].log_prob(torch.from_numpy(np.tile(actions[:1], (len(grid), 1)))).double()
    u = np.arctanh(actions[0, -1].astype(float))
    own = stats.norm(means[-1], np.exp(log_std[-1])).logpdf(u) - np.log1p(-(actions[0, -1].astype(float) ** 2))
    density = (log_prob - only).numpy() + own
    assert np.trapezoid(np.exp(density), grid) == pytest.approx(1, abs=1e-2)


def test_greedy_takes_the_best_legal_action(case):
    observation, mask = case.positions(64)
    actor = case.actor(greedy=True)
    actions, log_probs = actor.act(observation, mask, np.random.default_rng(0))
    outputs, begin = actor.outputs(observation), 0
    for choice, options in enumerate(case.spec.heads):
        part = slice(begin, begin + options)
        best = np.where(mask[:, part], outputs[:, part], -np.inf).argmax(axis=1)
        np.testing.assert_array_equal(actions.reshape(64, -1)[:, choice], best)
        begin += options
    numbers = actions.reshape(64, -1)[:, len(case.spec.heads) :]
    np.testing.assert_allclose(numbers, np.tanh(outputs[:, begin : begin + numbers.shape[1]]), atol=1e-6)
    assert not log_probs.any()


def test_entropy_is_that_of_the_choices_and_the_gaussians(case):
    observation, mask = case.positions(16)
    with torch.no_grad():
        distribution, _ = case.torch()(*told(observation, mask))
    outputs, begin = case.actor().outputs(observation).astype(np.float64), 0
    expected = np.zeros(16)
    for options in case.spec.heads:
        part = slice(begin, begin + options)
        logits = np.where(mask[:, part], outputs[:, part], -np.inf)
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        expected += stats.entropy(p, axis=1)
        begin += options
    if case.spec.continuous:
        log_std = case.log_std(outputs)
        expected += [sum(stats.norm(0, np.exp(one)).entropy() for one in row) for row in log_std]
    np.testing.assert_allclose(distribution.entropy().numpy(), expected, atol=1e-4)


def test_the_actor_keeps_its_own_weights(case):
    flat, (observation, _) = case.weights(), case.positions(8)
    actor = make_actor(case.config, case.spec, flat, act_in=case.act_in)
    before = actor.outputs(observation).copy()
    flat[:] = 0
    np.testing.assert_array_equal(actor.outputs(observation), before)


def test_torch_weights_are_copied_both_ways(case):
    flat, policy = case.weights(), case.torch()
    read = policy.read()
    np.testing.assert_array_equal(read, flat)
    read[:] = 0
    np.testing.assert_array_equal(policy.read(), flat)
    with pytest.raises(ValueError, match="another policy config"):
        policy.write(flat[:-1])


def test_every_parameter_gets_a_gradient(case):
    policy, (observation, mask) = case.torch(), case.positions(64)
    actions, _ = case.actor().act(observation, mask, np.random.default_rng(0))
    seen, legal_mask = told(observation, mask)
    if case.config.recurrent:
        there = torch.ones(64, 1, 1, dtype=torch.bool)
        seen = replace(seen, lanes=Lanes(there, ~there, torch.ones(64, 1, case.config.state_size)))
    distribution, value = policy(seen, legal_mask)
    (distribution.log_prob(long_if_single(case, actions)).pow(2).mean() + value.pow(2).mean()).backward()
    layout = describe(case.config, case.spec)
    for name, gradient in layout.views(policy.flat.grad.numpy()).items():
        assert gradient.any() == (name not in layout.untrained), name


# --- weights out of all bounds -------------------------------------------------------------------------------

ABSURD = (1e4, 1e9, 1e12, 1e30, 3e38, np.inf, np.nan)


def absurd(case, size, seed=0):
    """Return weights of both signs; with an infinite size some are infinite, and with NaN some are that."""
    flat = np.sign(case.weights(seed)) * np.float32(size if np.isfinite(size) else 1)
    if not np.isfinite(size):
        flat[::3] = size
    return flat.astype(np.float32)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("size", ABSURD)
def test_every_move_is_legal_whatever_the_weights(case, size):
    observation, mask = case.positions(200)
    for greedy in (False, True):
        actor = make_actor(case.config, case.spec, absurd(case, size), greedy, act_in=case.act_in)
        actions, log_probs = actor.act(observation, mask, np.random.default_rng(0))
        assert legal(case.spec, actions, mask).all()
        assert np.isfinite(log_probs).all()


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("size", ABSURD)
@pytest.mark.parametrize("epsilon", [0.0, 0.3, np.nan])
def test_values_out_of_bounds_choose_legal_actions_too(size, epsilon):
    case = Case(PolicyConfig(head="values"), SPECS["single"])
    observation, mask = case.positions(200)
    flat = absurd(case, size)
    describe(case.config, case.spec).views(flat)["exploration"][:] = epsilon, 0
    actions, log_probs = make_actor(case.config, case.spec, flat, act_in=case.act_in).act(
        observation, mask, np.random.default_rng(0)
    )
    assert legal(case.spec, actions, mask).all()
    assert np.isfinite(log_probs).all()


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("size", ABSURD)
@pytest.mark.parametrize("noise", [0.0, 0.3, np.nan, np.inf])
def test_actions_with_noise_are_legal_whatever_the_weights(size, noise):
    case = Case(PolicyConfig(head="actions", critic="none"), SPECS["numbers"])
    observation, mask = case.positions(200)
    flat = absurd(case, size)
    describe(case.config, case.spec).views(flat)["exploration"][:] = noise, 0
    actions, log_probs = make_actor(case.config, case.spec, flat).act(observation, mask, np.random.default_rng(0))
    assert legal(case.spec, actions, mask).all()
    assert not log_probs.any()
