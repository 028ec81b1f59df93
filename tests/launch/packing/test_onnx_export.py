"""An ONNX file plays as the player does, in any number of rows."""

import sys

import numpy as np
import onnxruntime
import pytest
from packed import packed
from unit_game import UnitGame

from collectors.envs.config import EnvConfig
from collectors.players.loaded_player import load_player
from launch.packing.onnx_export import TOLERANCE, OnnxError, export_onnx
from league.policies.layout import PolicyConfig
from league.store.player_file import read_player

NETWORKS = {
    "mlp": PolicyConfig(hidden=[8]),
    "normalised cnn": PolicyConfig(name="cnn", filters=[[4, 2, 1]], hidden=[8], normalise=True),
    "board_conv": PolicyConfig(name="board_conv", kernel=[2, 2], channels=4, hidden=[8]),
    "resnet": PolicyConfig(name="resnet", channels=4, blocks=1, hidden=[8]),
    "gru with agent id": PolicyConfig(hidden=[8], memory="gru", memory_size=4, agent_id=True),
    "lstm": PolicyConfig(hidden=[8], memory="lstm", memory_size=4),
    "values": PolicyConfig(hidden=[8], head="values"),
    "central critic": PolicyConfig(hidden=[8], critic="central"),
}
UNITS = EnvConfig(name="pettingzoo", id="unit_game:UnitGame")
ALLOW = ["unit_game", "foreign_networks"]
PARTS = {"observation.clock.0": [], "observation.clock.1": [2], "observation.units": [4, 2]}
WINDOW = {"memory.window": [3, 11], "memory.filled": []}
IN_TORCH = {  # by network: the inputs beside the observation, the outputs beside logits and value
    "structured": ({}, {}),
    "entities": ({}, {}),
    "foreign_networks:UnitAttention": ({}, {}),
    "foreign_networks:Window": (WINDOW, {f"next_{name}": shape for name, shape in WINDOW.items()}),
    "foreign_networks:BatchNormed": ({"agent": [], "present": [1]}, {}),
}


def units_player(path, network, **settings):
    return packed(path, env=UNITS, policy=PolicyConfig(name=network, **settings), allow=ALLOW, scale=1)


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_every_network_equals_its_player(network, tmp_path):
    path = packed(tmp_path / "p", policy=NETWORKS[network])
    assert export_onnx(read_player(path), tmp_path / "p.onnx") <= TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("network", IN_TORCH)
def test_networks_on_the_contract_have_the_parts_of_the_observation_as_inputs(network, tmp_path):
    path = units_player(tmp_path / "p", network, kwargs={"width": 16} if ":" not in network else {})
    assert export_onnx(read_player(path), tmp_path / "p.onnx", ALLOW) <= TOLERANCE
    session, (beside, after) = onnxruntime.InferenceSession(tmp_path / "p.onnx"), IN_TORCH[network]
    assert {one.name: one.shape for one in session.get_inputs()} == {
        name: ["batch", *shape] for name, shape in (PARTS | beside).items()
    }
    assert {one.name: one.shape for one in session.get_outputs()} == {
        name: ["batch", *shape] for name, shape in ({"outputs": [4], "value": [1]} | after).items()
    }


@pytest.mark.slow
def test_action_values_leave_out_the_value(tmp_path):
    path = units_player(tmp_path / "p", "structured", head="values", kwargs={"width": 16})
    assert export_onnx(read_player(path), tmp_path / "p.onnx", ALLOW) <= TOLERANCE
    assert [one.name for one in onnxruntime.InferenceSession(tmp_path / "p.onnx").get_outputs()] == ["outputs"]


@pytest.mark.slow
def test_memory_goes_in_and_out(tmp_path):
    path = packed(tmp_path / "p", policy=NETWORKS["lstm"])
    export_onnx(read_player(path), tmp_path / "p.onnx")
    session, player = onnxruntime.InferenceSession(tmp_path / "p.onnx"), load_player(path)
    memory, rng = np.zeros((1, 8), np.float32), np.random.default_rng(0)
    for _ in range(5):
        board, mask = rng.integers(0, 2, (3, 3, 2)).astype(np.int8), np.ones(9, np.int8)
        chances = player.probabilities(board, mask, agent="player_1")
        player.act(board, mask, agent="player_1")
        names = ["outputs", "value", "next_memory"]
        outputs, _, memory = session.run(names, {"observation": board[None].astype(np.float32), "memory": memory})
        assert softmax(outputs[0]) == pytest.approx(chances, abs=1e-5)


@pytest.mark.slow
def test_a_window_of_the_past_plays_a_whole_episode_as_its_player_does(tmp_path):
    path = units_player(tmp_path / "p", "foreign_networks:Window")
    export_onnx(read_player(path), tmp_path / "p.onnx", ALLOW)
    session, player, game = (
        onnxruntime.InferenceSession(tmp_path / "p.onnx"),
        load_player(path, allow=ALLOW),
        UnitGame(),
    )
    memory = {"memory.window": np.zeros((1, 3, 11), np.float32), "memory.filled": np.zeros(1, np.int64)}
    seen, _ = game.reset(seed=1)
    while game.agents:
        clock, units = seen["red"]["clock"], seen["red"]["units"]
        parts = {"observation.clock.0": np.array([clock[0]]), "observation.clock.1": clock[1][None]}
        outputs, value, *after = session.run(None, {**parts, "observation.units": units[None], **memory})
        assert softmax(outputs[0]) == pytest.approx(player.probabilities(seen["red"], agent="red"), abs=1e-5)
        assert value[0, 0] == pytest.approx(player.value(seen["red"], agent="red"), abs=1e-5)
        memory = dict(zip(memory, after, strict=True))
        seen, *_ = game.step(player.act_all(seen))


def softmax(logits):
    odds = np.exp(logits - logits.max())
    return odds / odds.sum()


def test_code_that_is_not_allowed_is_not_imported(tmp_path):
    path = units_player(tmp_path / "p", "foreign_networks:Window")
    with pytest.raises(ValueError, match="not allowed"):
        export_onnx(read_player(path), tmp_path / "p.onnx")


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(OnnxError, match=r"pip install 'ludus-league\[onnx\]'"):
        export_onnx(read_player(packed(tmp_path / "p")), tmp_path / "p.onnx")
