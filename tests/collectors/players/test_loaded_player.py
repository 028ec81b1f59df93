"""A packed player acts outside of any league as it did inside."""

import subprocess
import sys

import msgspec
import numpy as np
import pytest
import torch
from packed import packed, rewritten

from collectors.envs.config import EnvConfig, make_environment
from collectors.players.loaded_player import ActingError, load_player, value_network
from league.policies.layout import PolicyConfig
from league.policies.numpy_actor import NumpyActor
from league.policies.torch_policy import Observed, TorchPolicy
from league.store.player_file import PlayerFileError, read_player

BOARD = np.zeros((3, 3, 2), np.int8)
MASK = np.array([1, 0, 0, 0, 1, 0, 0, 0, 0], np.int8)
NETWORKS = {
    "mlp": PolicyConfig(hidden=[8, 8]),
    "normalised": PolicyConfig(hidden=[8], normalise=True),
    "board_conv": PolicyConfig(name="board_conv", kernel=[2, 2], hidden=[8]),
    "resnet": PolicyConfig(name="resnet", channels=4, blocks=1, hidden=[8]),
    "gru": PolicyConfig(hidden=[8], memory="gru", memory_size=4),
    "lstm with agent id": PolicyConfig(hidden=[8], memory="lstm", memory_size=4, agent_id=True),
}


def board(seed):
    return np.random.default_rng(seed).integers(0, 2, (3, 3, 2)).astype(np.int8)


@pytest.mark.parametrize("network", NETWORKS)
def test_probabilities_and_values_are_those_of_the_network_in_torch(tmp_path, network):
    path, config = packed(tmp_path / "p", policy=NETWORKS[network]), NETWORKS[network]
    found = read_player(path)
    policy = TorchPolicy(config, found.card.spec)
    policy.write(found.snapshot.arrays["flat"])
    player = load_player(path)
    for seed in range(3):
        with torch.no_grad():
            observed = Observed(torch.from_numpy(board(seed)[None]))
            distribution, value = policy(observed, torch.from_numpy(MASK[None] > 0))
        chances = player.probabilities(board(seed), MASK)
        assert chances == pytest.approx(distribution.log_probs[0].exp().numpy(), abs=1e-5)
        assert player.value(board(seed)) == pytest.approx(float(value[0]), abs=1e-5)
        assert player.act(board(seed), MASK, greedy=True) == chances.argmax()
        player.reset()


def test_sampled_actions_are_legal_and_follow_the_probabilities(tmp_path):
    player = load_player(packed(tmp_path / "p"), seed=3)
    chances = player.probabilities(BOARD, MASK)
    chosen = player.act_all({(i, "player_1"): {"observation": BOARD, "action_mask": MASK} for i in range(4000)})
    shares = np.bincount(list(chosen.values()), minlength=9) / 4000
    assert chances[MASK == 0].sum() == 0
    assert shares == pytest.approx(chances, abs=0.04)
    assert all(type(action) is int for action in chosen.values())


def test_memory_is_kept_for_each_agent_from_reset_to_reset(tmp_path):
    path = packed(tmp_path / "p", policy=NETWORKS["gru"])
    found, player = read_player(path), load_player(path, greedy=True)
    actor = NumpyActor(NETWORKS["gru"], found.card.spec, found.snapshot.arrays["flat"])
    memory = np.zeros((2, 4), np.float32)
    legal = np.ones((1, 9), np.bool_)
    for tick in range(4):
        boards = np.stack([board(tick), board(tick + 50)])
        before = [player.probabilities(boards[i], agent=f"player_{i + 1}") for i in range(2)]
        player.act_all({"player_1": boards[0], "player_2": boards[1]})
        outputs = actor.outputs(boards, memory=memory)
        for i in range(2):
            assert before[i] == pytest.approx(actor.probabilities(outputs[i : i + 1], legal)[0], abs=1e-6)
    begun = load_player(path).probabilities(BOARD, agent="player_1")
    assert player.probabilities(BOARD, agent="player_1") != pytest.approx(begun, abs=1e-4)
    player.reset()
    assert player.probabilities(BOARD, agent="player_1") == pytest.approx(begun)


def test_to_act_after_the_end_of_an_episode_is_an_error(tmp_path):
    player = load_player(packed(tmp_path / "p"))
    player.act(BOARD)
    player.end()
    with pytest.raises(ActingError, match="is over: call reset"):
        player.act(BOARD)
    player.reset()
    player.act(BOARD)
    assert player.act_all({}) == {}


def test_actions_are_those_of_the_environment(tmp_path):
    env = EnvConfig(name="gymnasium", id="Pendulum-v1")
    player = load_player(packed(tmp_path / "p", env), seed=1)
    action = player.act(np.array([1, 0, 0], np.float32))
    assert action.shape == (1,)
    assert abs(action[0]) <= 2
    with pytest.raises(ActingError, match="several parts"):
        player.probabilities(np.array([1, 0, 0], np.float32))
    assert np.isfinite(player.value(np.array([1, 0, 0], np.float32)))


def test_a_role_limits_whom_it_acts_for(tmp_path):
    player = load_player(packed(tmp_path / "p", "simple_tag", role="agent"))
    assert player.agents == ("agent_0",)
    player.act(np.zeros(16, np.float32))
    with pytest.raises(ActingError, match="as agent: it cannot act for 'adversary_0'; agents are"):
        player.act(np.zeros(16, np.float32), agent="adversary_0")
    hunters = load_player(packed(tmp_path / "q", "simple_tag", PolicyConfig(agent_id=True), role="adversary"))
    with pytest.raises(ActingError, match="it needs agent="):
        hunters.act(np.zeros(16, np.float32))


def test_values_of_a_value_head_and_of_a_central_critic(tmp_path):
    greedy = load_player(packed(tmp_path / "p", policy=PolicyConfig(hidden=[8], head="values")))
    assert np.isfinite(greedy.value(BOARD, MASK))
    found = read_player(packed(tmp_path / "q", policy=PolicyConfig(critic="central")))
    with pytest.raises(ActingError, match=r"policy.critic=central"):
        value_network(PolicyConfig(critic="central"), found.card.spec, found.snapshot.arrays["flat"])


def test_the_same_rows_as_in_a_league(tmp_path):
    """A structured observation of PettingZoo gives the row that the adapter makes of it."""
    config = EnvConfig(name="pettingzoo", id="classic/rps_v2")
    player = load_player(packed(tmp_path / "p", config))
    env = make_environment(config, 1)
    env.start(np.array([0]), np.array([1]))
    row = env.rows().observation[0]
    actor = player._actor
    expected = actor.probabilities(actor.outputs(row[None]), np.ones((1, 3), np.bool_))[0]
    assert player.probabilities(3) == pytest.approx(expected)  # 3: nobody has played yet
    env.close()


def test_a_missing_package_is_named_with_what_to_install(tmp_path):
    path = packed(tmp_path / "p")
    found = read_player(path)
    policy = {**found.snapshot.manifest.policy, "name": "far_away.nets:Attention"}
    manifest = msgspec.structs.replace(found.snapshot.manifest, policy=policy)
    rewritten(path, manifest, requires={"far_away": "far-away-nets"})
    with pytest.raises(PlayerFileError, match=r"needs the package 'far_away'.*pip install 'far-away-nets'"):
        load_player(path)
    rewritten(path, manifest, requires={})
    with pytest.raises(PlayerFileError, match="not allowed"):
        load_player(path)


def test_a_network_of_impossible_size_is_refused(tmp_path):
    path = packed(tmp_path / "p")
    found = read_player(path)
    for changes in ({"hidden": [10**9]}, {"name": "resnet", "blocks": 10**12}, {"hidden": "many"}):
        policy = {**found.snapshot.manifest.policy, **changes}
        rewritten(path, msgspec.structs.replace(found.snapshot.manifest, policy=policy))
        with pytest.raises(PlayerFileError, match="cannot play"):
            load_player(path)


def test_acting_needs_neither_torch_nor_sockets(tmp_path):
    packed(tmp_path / "p", policy=NETWORKS["gru"])
    code = (
        "import sys, numpy, ludus\n"
        "player = ludus.load('p')\n"
        "board = numpy.zeros((3, 3, 2), numpy.int8)\n"
        "player.act(board), player.value(board), player.probabilities(board)\n"
        "print(sorted({'torch', 'zmq', 'hydra', 'pettingzoo'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
