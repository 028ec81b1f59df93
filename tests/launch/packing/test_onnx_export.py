"""An ONNX file plays as the player does, in any number of rows."""

import sys

import numpy as np
import onnxruntime
import pytest
from packed import packed

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


@pytest.mark.parametrize("network", NETWORKS)
def test_every_network_equals_its_player(network, tmp_path):
    path = packed(tmp_path / "p", policy=NETWORKS[network])
    assert export_onnx(read_player(path), tmp_path / "p.onnx") <= TOLERANCE


def test_memory_goes_in_and_out(tmp_path):
    path = packed(tmp_path / "p", policy=NETWORKS["lstm"])
    export_onnx(read_player(path), tmp_path / "p.onnx")
    session, player = onnxruntime.InferenceSession(tmp_path / "p.onnx"), load_player(path)
    memory, rng = np.zeros((1, 8), np.float32), np.random.default_rng(0)
    for _ in range(5):
        board = rng.integers(0, 2, (3, 3, 2)).astype(np.int8)
        chances = player.probabilities(board, agent="player_1")
        player.act(board, agent="player_1")
        names = ["outputs", "value", "next_memory"]
        outputs, _, memory = session.run(names, {"observation": board[None].astype(np.float32), "memory": memory})
        odds = np.exp(outputs[0] - outputs[0].max())
        assert odds / odds.sum() == pytest.approx(chances, abs=1e-5)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(OnnxError, match=r"pip install 'ludus-league\[onnx\]'"):
        export_onnx(read_player(packed(tmp_path / "p")), tmp_path / "p.onnx")
