"""DQN: its loss against a slow loop written from the papers, its machinery, and that it learns."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from league.policies.layout import PolicyConfig, describe, initial
from league.segment import TERMINATED
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.dqn import DQN, dqn_loss, duel
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.algorithms.values import minibatch
from learners.algorithms.vdn_config import VDNConfig
from learners.batcher import Batch
from learners.replay import Sample

CPU = torch.device("cpu")
POLICY = PolicyConfig(hidden=[16], head="values")
ALGO = {"batch": 32, "minibatch": 32, "replay": 512, "warmup": 32, "samples_per_insert": 4.0, "lr": 1e-2}


def fixed_sample(seed=0, decisions=6, options=4):
    rng = np.random.default_rng(seed)
    mask = rng.random((decisions, options)) < 0.5
    mask[:, 1] = True
    return Sample(
        index=np.arange(decisions),
        seen={},
        action=rng.integers(0, options, decisions).astype(np.int32),
        reward=rng.standard_normal(decisions).astype(np.float32),
        discount=np.array([0.0, 0.9, 0.81, 0.729, 0.9, 0.0], np.float32),
        after={"mask": mask},
        odds=np.ones(decisions),
    )


@pytest.mark.parametrize("double", [True, False])
def test_the_loss_is_that_of_the_papers(double):
    sample, rng = fixed_sample(), np.random.default_rng(1)
    value, following, judged = (3 * rng.standard_normal((6, 4)).astype(np.float32) for _ in range(3))
    weight = rng.random(6).astype(np.float32)
    total, errors = 0.0, []
    for i in range(6):
        legal = [a for a in range(4) if sample.after["mask"][i, a]]
        # van Hasselt et al. 2016: Y = R + gamma Q(S', argmax_a Q(S', a; online); target)
        chooser = following if double else judged
        best = max(legal, key=lambda a: chooser[i, a])
        target = sample.reward[i] + sample.discount[i] * judged[i, best]
        error = value[i, sample.action[i]] - target
        errors.append(error)
        total += weight[i] * (0.5 * error**2 if abs(error) <= 1 else abs(error) - 0.5)
    data = minibatch(sample, weight, CPU)
    found = dqn_loss(*map(torch.from_numpy, (value, following, judged)), data, double)
    assert float(found.loss) == pytest.approx(total / 6, rel=1e-5)
    np.testing.assert_allclose(found.error.numpy(), errors, rtol=1e-5, atol=1e-6)
    assert max(map(abs, errors)) > 1 > min(map(abs, errors)), "both parts of the loss are met"


def test_targets_get_no_gradient():
    values = [torch.randn(6, 4, requires_grad=True) for _ in range(3)]
    dqn_loss(*values, minibatch(fixed_sample(), np.ones(6, np.float32), CPU)).loss.backward()
    assert values[0].grad is not None
    assert values[1].grad is None
    assert values[2].grad is None


def test_a_duel_adds_what_an_action_is_better_than_the_mean_of_the_legal_ones():
    mask = torch.tensor([[True, True, False], [True, True, True]])
    advantage = torch.tensor([[1.0, 3.0, 100.0], [0.0, 3.0, 6.0]])
    found = duel(advantage, torch.tensor([10.0, -1.0]), mask)
    torch.testing.assert_close(found[0, :2], torch.tensor([9.0, 11.0]))
    torch.testing.assert_close(found[1], torch.tensor([-4.0, -1.0, 2.0]))


def make(spec, **changes):
    return DQN(DQNConfig(**{**ALGO, **changes}), POLICY, spec, initial(POLICY, spec, 0))


def batch_of(segments):
    return Batch(segments, np.zeros(segments.decisions, np.int64), {})


@pytest.fixture
def hints(play, spec):
    """Return one-decision episodes, played at random: in the hint's game a value is 1 or 0."""

    def run(seed=0, lanes=8):
        segments = play(initial(PolicyConfig(hidden=[16]), spec, 0), lanes, seed=seed)
        none = {name: array[:0] for name, array in segments.arrays().items() if name.startswith("tail_")}
        return replace(segments, end=np.full_like(segments.end, TERMINATED), **none)

    return run


def test_it_learns_what_actions_are_worth(hints, spec):
    algorithm, rng = make(spec), np.random.default_rng(0)
    for seed in range(40):
        metrics = algorithm.update(batch_of(hints(seed)), rng)
    assert metrics["losses/td_loss"] < 0.02
    seen = {"observation": torch.eye(4), "mask": torch.ones(4, 4, dtype=torch.bool), "place": torch.zeros(4)}
    with torch.no_grad():
        values = algorithm._values(algorithm.network, seen).numpy()
    np.testing.assert_allclose(values, np.eye(4), atol=0.25)


def test_reuse_is_as_set_and_learning_waits_for_the_warmup(hints, spec):
    algorithm, rng = make(spec, warmup=100, samples_per_insert=2.5), np.random.default_rng(0)
    before = algorithm.flat()
    for seed in range(3):
        metrics = algorithm.update(batch_of(hints(seed)), rng)
        assert metrics["losses/gradient_steps"] == 0
    np.testing.assert_array_equal(algorithm.flat()[:-2], before[:-2])
    for seed in range(40):
        metrics = algorithm.update(batch_of(hints(seed)), rng)
    assert metrics["reuse"] == pytest.approx(2.5, rel=0.1)
    assert metrics["replay"] == 512


def test_epsilon_falls_and_travels_with_the_weights(hints, spec):
    settings = {"epsilon_decisions": 64, "epsilon_final": 0.1, "epsilon_spread": 7.0}
    algorithm, rng = make(spec, **settings), np.random.default_rng(0)
    told = []
    for seed in range(3):
        algorithm.update(batch_of(hints(seed)), rng)
        told.append(describe(POLICY, spec).views(algorithm.flat())["exploration"].tolist())
    np.testing.assert_allclose(told, [[0.55, 7], [0.1, 7], [0.1, 7]], rtol=1e-6)


def test_the_target_network_follows_in_steps(hints, spec):
    algorithm, rng = make(spec, target_steps=6), np.random.default_rng(0)
    same = []
    for seed in range(6):  # four gradient steps each
        algorithm.update(batch_of(hints(seed)), rng)
        weights = algorithm.network.policy.flat.detach()[:-2]
        same.append(bool(torch.equal(algorithm.target.policy.flat[:-2], weights)))
    assert same == [False, False, True, False, False, True]


def test_a_decision_that_explodes_is_drawn_no_more(hints, spec):
    algorithm, rng = make(spec), np.random.default_rng(0)
    algorithm.update(batch_of(hints(0)), rng)
    bad = hints(1)
    bad.observation[0, 0, 0] = 3e38
    before, tries = algorithm.state(), 0
    algorithm.network.policy.flat.data[0] = 1e6
    before = algorithm.state()
    while algorithm.update(batch_of(bad if not tries else hints(2 + tries)), rng)["losses/rollbacks"]:
        tries += 1
        for name, array in algorithm.state().items():
            np.testing.assert_array_equal(array, before[name])
        assert tries < 10
    assert np.isfinite(algorithm.flat()).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"replay": 100, "batch": 1024}, "a replay of 100 decisions is smaller than algo.batch, which is 1024"),
        ({"replay": 5000, "warmup": 6000}, "smaller than algo.warmup, which is 6000"),
        ({"n_step": 0}, "n_step"),
        ({"epsilon": 1.5}, "between 0 and 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        DQNConfig(**settings)


@pytest.mark.parametrize(
    ("algo", "policy", "message"),
    [
        (DQNConfig(), PolicyConfig(), "algo=dqn needs policy.head=values"),
        (PPOConfig(), POLICY, "algo=ppo needs policy.head=logits"),
        (VDNConfig(), PolicyConfig(head="values", memory="gru"), "policy.memory=none"),
    ],
)
def test_networks_that_do_not_fit_are_refused(spec, algo, policy, message):
    with pytest.raises(ValueError, match=message):
        make_algorithm(algo, policy, spec, initial(policy, spec, 0))
