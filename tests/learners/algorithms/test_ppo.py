import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from league.policies.distribution import Distribution
from league.policies.flat_policy import Observed
from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.segment import TERMINATED, Segments
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.ppo import PPO, ppo_loss
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import Batcher
from learners.decisions import Decisions

HINTS = 4


@pytest.fixture
def ppo(spec, policy, fresh):
    def make(**settings):
        return PPO(PPOConfig(**{"batch": 32, "minibatch": 16} | settings), policy, spec, fresh)

    return make


def batch_of(segments):
    batcher = Batcher(incarnation=segments.incarnation, batch=segments.decisions, max_lag=0)
    batcher.add(segments, "session", version=int(segments.version.max()))
    return batcher.take(version=int(segments.version.max()))


def test_without_lag_the_first_ratio_is_one(ppo, play, spec, policy):
    flat = np.random.default_rng(0).standard_normal(ppo().flat().size).astype(np.float32)
    algorithm = ppo()
    algorithm.policy.write(flat)
    data = algorithm.prepare(play(flat, lanes=64))
    with torch.no_grad():
        actions, _ = algorithm.policy(data.seen, data.mask)
    ratio = (actions.log_prob(data.action) - data.old_log_prob).exp()
    assert float((ratio - 1).abs().max()) < 1e-5


def only_choices(log_probs):
    return Distribution(log_probs, torch.zeros(1, dtype=torch.long), torch.zeros(len(log_probs), 0), torch.zeros(0))


def slow_loss(log_probs, values, data, config, entropy_coef):
    """Equations 7 and 9 of the paper, one decision at a time."""
    surrogate, squared, entropy = [], [], []
    for b in range(len(values)):
        ratio = math.exp(log_probs[b][int(data.action[b])] - float(data.old_log_prob[b]))
        advantage, target, old = float(data.advantage[b]), float(data.target[b]), float(data.old_value[b])
        kept = min(max(ratio, 1 - config.clip), 1 + config.clip)
        surrogate.append(min(ratio * advantage, kept * advantage))
        errors = [(values[b] - target) ** 2]
        if config.value_clip is not None:
            near = min(max(values[b], old - config.value_clip), old + config.value_clip)
            errors.append((near - target) ** 2)
        squared.append(max(errors))
        entropy.append(-sum(math.exp(p) * p for p in log_probs[b]))
    means = [sum(x) / len(x) for x in (surrogate, squared, entropy)]
    return -means[0] + config.value_coef * 0.5 * means[1] - entropy_coef * means[2], means


@pytest.mark.parametrize("value_clip", [None, 0.3])
def test_the_loss_is_that_of_the_paper(value_clip):
    generator = torch.Generator().manual_seed(0)
    normal = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)  # noqa: E731
    log_probs, values = torch.log_softmax(normal(50, HINTS), dim=1), normal(50)
    data = Decisions(
        observation=normal(50, HINTS),
        mask=torch.ones(50, HINTS, dtype=torch.bool),
        action=torch.randint(0, HINTS, (50,), generator=generator),
        old_log_prob=-normal(50).abs(),
        old_value=normal(50),
        advantage=normal(50),
        target=normal(50),
    )
    config = PPOConfig(value_clip=value_clip, value_coef=0.7, clip=0.25)
    loss, metrics = ppo_loss(only_choices(log_probs), values, data, config, entropy_coef=0.03)
    expected, (surrogate, squared, entropy) = slow_loss(log_probs.tolist(), values.tolist(), data, config, 0.03)
    assert float(loss) == pytest.approx(expected, abs=1e-9)
    assert float(metrics["losses/policy_loss"]) == pytest.approx(-surrogate, abs=1e-9)
    assert float(metrics["losses/value_loss"]) == pytest.approx(squared / 2, abs=1e-9)
    assert float(metrics["losses/entropy"]) == pytest.approx(entropy, abs=1e-9)


def test_illegal_actions_add_nothing_to_the_entropy(ppo):
    algorithm = ppo()
    observation = torch.eye(HINTS)
    mask = torch.zeros(HINTS, HINTS, dtype=torch.bool)
    mask[:, :2] = True
    actions, value = algorithm.policy(Observed(observation), mask)
    zeros = torch.zeros(HINTS)
    data = Decisions(observation, mask, zeros.long(), actions.log_probs[:, 0].detach(), zeros, zeros, zeros)
    loss, metrics = ppo_loss(actions, value, data, algorithm.config, 1.0)
    assert float(metrics["losses/entropy"]) == pytest.approx(math.log(2), abs=1e-3)
    loss.backward()
    assert bool(algorithm.policy.flat.grad.isfinite().all())


def test_it_learns_to_follow_hints(ppo, play):
    algorithm, rng = ppo(batch=512, minibatch=128, lr=3e-3, gamma=0.0), np.random.default_rng(0)
    first = play(algorithm.flat(), lanes=128).reward.mean()
    for seed in range(25):
        algorithm.update(batch_of(play(algorithm.flat(), lanes=128, seed=seed)), rng)
    assert first < 0.6
    assert play(algorithm.flat(), lanes=128, seed=999).reward.mean() > 0.95


def test_values_approach_the_returns(ppo, play):
    algorithm, rng = ppo(batch=512, minibatch=128, lr=3e-3, gamma=0.0), np.random.default_rng(0)
    segments = play(algorithm.flat(), lanes=128)
    segments.reward[:] = segments.observation.argmax(axis=-1)
    losses = [algorithm.update(batch_of(segments), rng)["losses/value_loss"] for _ in range(20)]
    assert losses[-1] < losses[0] / 10


def test_metrics_have_cleanrl_names_and_are_finite(ppo, play, fresh):
    metrics = ppo().update(batch_of(play(fresh)), np.random.default_rng(0))
    assert {f"losses/{name}" for name in (
        "policy_loss", "value_loss", "entropy", "approx_kl", "old_approx_kl", "clipfrac",
        "explained_variance", "rollbacks",
    )} | {"charts/learning_rate"} <= metrics.keys()  # fmt: skip
    assert all(math.isfinite(value) for value in metrics.values())


def test_an_update_gives_way_between_minibatches(ppo, play, fresh):
    calls = []
    ppo(epochs=3).update(batch_of(play(fresh)), np.random.default_rng(0), between=lambda: calls.append(1))
    assert len(calls) == 6


def test_the_kl_stop_ends_an_update(ppo, play, fresh):
    steps = {}
    for target in (None, 1e-4):
        algorithm = ppo(epochs=50, lr=1e-2, target_kl=target)
        metrics = algorithm.update(batch_of(play(fresh)), np.random.default_rng(0))
        steps[target] = metrics["losses/gradient_steps"]
    assert steps[None] == 100
    assert 1 <= steps[1e-4] < 20


def test_updates_follow_the_anneal_of_the_learning_rate(ppo, play, fresh):
    algorithm = ppo(lr=1e-3, lr_schedule="linear", anneal_decisions=64)
    batch, rng = batch_of(play(fresh)), np.random.default_rng(0)
    rates = [algorithm.update(batch, rng)["charts/learning_rate"] for _ in range(3)]
    assert rates == pytest.approx([1e-3, 5e-4, 0.0])
    before = algorithm.flat()
    algorithm.update(batch, rng)
    np.testing.assert_array_equal(algorithm.flat(), before)


def test_updates_follow_the_share_of_the_budget_that_is_spent(ppo, play, fresh):
    algorithm = ppo(lr=1e-3, lr_schedule="linear")
    batch, rng, rates = batch_of(play(fresh)), np.random.default_rng(0), []
    for algorithm.spent in (0.0, 0.0, 0.75):
        rates.append(algorithm.update(batch, rng)["charts/learning_rate"])
    assert rates == pytest.approx([1e-3, 1e-3, 2.5e-4])


def test_absent_decisions_teach_nothing(ppo, play, fresh):
    segments = play(fresh)
    segments.present[2:, 1] = False
    spoilt = replace(segments, reward=segments.reward.copy(), observation=segments.observation.copy())
    spoilt.reward[2:, 1] = 1e6
    spoilt.observation[2:, 1] = 1e6
    results = []
    for variant in (segments, spoilt):
        algorithm = ppo()
        algorithm.update(batch_of(variant), np.random.default_rng(0))
        results.append(algorithm.flat())
    np.testing.assert_array_equal(*results)


def test_large_gradients_are_shortened(ppo, play, fresh):
    algorithm = ppo(epochs=1, minibatch=32, max_grad_norm=0.5, normalise_advantages=False)
    segments = play(fresh)
    segments.reward[:] *= 1e6
    algorithm.update(batch_of(segments), np.random.default_rng(0))
    assert float(algorithm.policy.flat.grad.norm()) == pytest.approx(0.5, rel=1e-4)


def hinted(actions, choices, continuous):
    """Return a game of one decision: three targets are shown, and each part of the action should hit its own."""
    spec = EnvSpec(
        name="targets",
        agents=("a",),
        seats=(Seat((0,)),),
        observation=Array((3,), "float32"),
        actions=actions,
        choices=choices,
        continuous=continuous,
    )

    def play(flat, policy, seed, lanes=512):
        rng = np.random.default_rng(seed)
        target = rng.uniform(-0.8, 0.8, (lanes, 3)).astype(np.float32)
        mask = np.ones((lanes, actions), bool)
        action, log_prob = NumpyActor(policy, spec, flat).act(target, mask, rng)
        wanted = [np.floor((target[:, i] + 0.8) / 1.6 * options) for i, options in enumerate(spec.heads)]
        wrong = [action[:, i] != want for i, want in enumerate(wanted)]
        far = [np.abs(action[:, i] - target[:, i]) for i in range(len(wrong), spec.parts)]
        steps, none = (lanes, 1, 1), np.zeros(0, np.int32)
        return Segments(
            player="hero",
            incarnation=0,
            observation=target.reshape(*steps, 3),
            mask=mask.reshape(*steps, actions),
            action=action.reshape(*steps, spec.parts),
            log_prob=log_prob.reshape(steps),
            reward=-np.mean([*wrong, *far], axis=0, dtype=np.float32).reshape(steps),
            end=np.full(steps, TERMINATED, np.uint8),
            present=np.ones(steps, bool),
            length=np.ones(lanes, np.int32),
            version=np.zeros(lanes, np.int32),
            tail_lane=none,
            tail_tick=none,
            tail_agent=none,
            tail_observation=np.zeros((0, 3), np.float32),
            tail_mask=np.zeros((0, actions), bool),
        )

    return spec, play


@pytest.mark.parametrize(
    ("parts", "before", "after"),
    [((0, (), 3), -0.45, -0.15), ((9, (3, 4, 2), 0), -0.5, -0.1), ((5, (3, 2), 1), -0.45, -0.15)],
    ids=["numbers", "choices", "mixed"],
)
def test_it_learns_actions_of_several_parts(parts, before, after):
    spec, play = hinted(*parts)
    policy = PolicyConfig(hidden=[32])
    config = PPOConfig(batch=512, minibatch=128, lr=1e-2, entropy=0.0, epochs=4)
    algorithm, rng = PPO(config, policy, spec, initial(policy, spec, 0)), np.random.default_rng(0)
    first = play(algorithm.flat(), policy, 1000)
    data = algorithm.prepare(first)
    with torch.no_grad():
        ratio = (algorithm.policy(data.seen, data.mask)[0].log_prob(data.action) - data.old_log_prob).exp()
    assert float((ratio - 1).abs().max()) < 1e-4
    for seed in range(20):
        algorithm.update(batch_of(play(algorithm.flat(), policy, seed)), rng)
    assert first.reward.mean() < before
    assert play(algorithm.flat(), policy, 1000).reward.mean() > after
