"""The magnet: its gradient in closed form, when a copy is refreshed, and which files it takes."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from matrix_game import POLICY, RPS, SPEC, MatrixGame
from packed import packed

from league.policies.distribution import distribution
from league.policies.flat_policy import Observed
from league.policies.layout import PolicyConfig
from league.store.player_file import read_player
from league.store.snapshots import Manifest, SnapshotStore
from learners.algorithms.a2c import A2C
from learners.algorithms.a2c_config import A2CConfig
from learners.algorithms.magnet import Magnet
from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig

GAME = MatrixGame(RPS)
SEEN, MASK = Observed(torch.zeros(1, 1)), torch.ones(1, 3, dtype=torch.bool)


def chances(magnet):
    return magnet.judge(SEEN, MASK).log_probs.exp().squeeze(0).numpy()


def test_the_gradient_of_the_pull_has_its_closed_form():
    """By logit i it is p_i (log p_i / m_i - KL(p || m))."""
    logits = torch.tensor([[0.3, -1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    other = distribution(SPEC, torch.tensor([[1.0, 0.0, -0.5]], dtype=torch.float64), MASK, torch.zeros(0))
    actions = distribution(SPEC, logits, MASK, torch.zeros(0))
    actions.divergence(other).sum().backward()
    p, log_ratio = actions.log_probs.exp(), actions.log_probs - other.log_probs
    expected = p * (log_ratio - (p * log_ratio).sum())
    torch.testing.assert_close(logits.grad, expected.detach())


def test_the_uniform_magnet_is_uniform_over_legal_actions():
    magnet = Magnet(A2CConfig(magnet="uniform"), POLICY, SPEC, GAME.start())
    mask = torch.tensor([[True, False, True]])
    np.testing.assert_allclose(magnet.judge(SEEN, mask).log_probs.exp().numpy(), [[0.5, 0, 0.5]])
    assert magnet.state() == {}


def test_an_update_without_rewards_moves_towards_the_magnet():
    flat = GAME.start()
    for magnet, target in (("uniform", np.full(3, 1 / 3)), ("copy", GAME.chances(flat))):
        config = A2CConfig(magnet=magnet, magnet_coef=1.0, entropy=0.0, lr=3e-2)
        algorithm, rng = A2C(config, POLICY, SPEC, flat), np.random.default_rng(0)
        still = MatrixGame(0 * RPS)
        for _ in range(80):
            metrics = algorithm.update(still.play(algorithm.flat(), rng, 8), rng)
        np.testing.assert_allclose(still.chances(algorithm.flat()), target, atol=0.02)
        assert metrics["losses/magnet_kl"] < 1e-2


def test_a_copy_is_refreshed_after_so_many_updates():
    flat = GAME.start()
    config = PPOConfig(magnet="copy", magnet_coef=0.1, magnet_every=3, lr=1e-2)
    algorithm, rng, magnets = PPO(config, POLICY, SPEC, flat), np.random.default_rng(0), []
    for _ in range(7):
        algorithm.update(GAME.play(algorithm.flat(), rng), rng)
        magnets.append(algorithm.state()["magnet_flat"])
    np.testing.assert_array_equal(magnets[1], flat)
    assert not np.array_equal(magnets[2], flat)
    np.testing.assert_array_equal(magnets[4], magnets[2])
    assert not np.array_equal(magnets[5], magnets[2])
    np.testing.assert_array_equal(magnets[6], magnets[5])


def test_the_forward_divergence_is_large_where_the_policy_gives_up_what_the_magnet_does():
    one = torch.tensor([[2.0, 0.0, -30.0]])
    policy, magnet = (distribution(SPEC, row, MASK, torch.zeros(0)) for row in (one, torch.zeros(1, 3)))
    pulls = []
    for direction in ("reverse", "forward"):
        config = A2CConfig(magnet="uniform", magnet_divergence=direction)
        pulls.append(float(Magnet(config, POLICY, SPEC, GAME.start()).pull(policy, magnet)))
    p = policy.log_probs.exp()[0].numpy()
    assert pulls[0] == pytest.approx((p * np.log(3 * p)).sum(), rel=1e-5)
    assert pulls[1] == pytest.approx((np.log(1 / (3 * p)) / 3).sum(), rel=1e-5)
    assert pulls[1] > 5 * pulls[0]


def test_an_update_moves_towards_a_teacher_in_either_direction(tmp_path):
    flat, teacher = GAME.start(), np.random.default_rng(1).normal(0, 1, GAME.start().shape).astype(np.float32)
    for direction in ("reverse", "forward"):
        config = A2CConfig(
            magnet=put(tmp_path, teacher), magnet_divergence=direction, magnet_coef=1.0, entropy=0.0, lr=3e-2
        )
        algorithm, rng = A2C(config, POLICY, SPEC, flat), np.random.default_rng(0)
        still = MatrixGame(0 * RPS)
        for _ in range(80):
            algorithm.update(still.play(algorithm.flat(), rng, 8), rng)
        np.testing.assert_allclose(still.chances(algorithm.flat()), GAME.chances(teacher), atol=0.02)


def test_an_unknown_direction_is_refused():
    with pytest.raises(ValueError, match=r"algo\.magnet_divergence: unknown 'sideways'\. Known: reverse, forward"):
        A2CConfig(magnet_divergence="sideways")


def test_an_update_that_is_rolled_back_does_not_count():
    algorithm, rng = PPO(PPOConfig(magnet="copy", magnet_every=2), POLICY, SPEC, GAME.start()), np.random.default_rng(0)
    bad = GAME.play(algorithm.flat(), rng)
    bad.segments.reward[0] = np.nan
    assert algorithm.update(bad, rng)["losses/rollbacks"]
    assert int(algorithm.state()["magnet_updates"]) == 0


def put(root, flat, policy=POLICY, signature=SPEC.signature):
    about = Manifest(player="p", incarnation=0, version=1, decisions=1, policy=asdict(policy), signature=signature)
    store = SnapshotStore(root)
    return str(store.path(store.put({"flat": flat}, about)))


def test_a_snapshot_file_stays_as_it_is(tmp_path):
    flat = GAME.start()
    config = A2CConfig(magnet=put(tmp_path, flat), magnet_coef=0.1)
    config.refuse(POLICY)
    magnet = Magnet(config, POLICY, SPEC, np.zeros_like(flat))
    for _ in range(3 * config.magnet_every):
        magnet.follow(np.zeros_like(flat))
    np.testing.assert_allclose(chances(magnet), GAME.chances(flat), rtol=1e-5)
    assert magnet.state() == {}


def test_a_packed_player_is_a_teacher_too(tmp_path):
    policy = PolicyConfig(hidden=[8])
    path = packed(tmp_path / "teacher.safetensors", policy=policy)
    config = A2CConfig(magnet=str(path), magnet_coef=0.1)
    config.refuse(policy)
    found = read_player(path)
    magnet = Magnet(config, policy, found.card.spec, np.zeros_like(found.snapshot.arrays["flat"]))
    np.testing.assert_array_equal(magnet._network.read(), found.snapshot.arrays["flat"])


def test_a_snapshot_of_another_network_is_refused(tmp_path):
    file = put(tmp_path, GAME.start(), replace(POLICY, activation="relu"))
    with pytest.raises(ValueError, match="Name a snapshot of the same network and environment"):
        Magnet(A2CConfig(magnet=file), POLICY, SPEC, GAME.start())


def test_a_file_that_is_not_there_is_refused_before_the_run(tmp_path):
    with pytest.raises(ValueError, match="is neither none, uniform, copy nor the file of a player"):
        A2CConfig(magnet=str(tmp_path / "gone.safetensors")).refuse(PolicyConfig())


def test_without_a_magnet_the_state_holds_nothing_of_it():
    assert not [name for name in PPO(PPOConfig(), POLICY, SPEC, GAME.start()).state() if "magnet" in name]
