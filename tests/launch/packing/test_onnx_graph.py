"""What torch can make an ONNX file of, and what it cannot."""

import pytest
import torch
from packed import packed

from collectors.envs.config import EnvConfig
from launch.packing.onnx_export import export_onnx
from launch.packing.onnx_graph import OnnxError, reason
from league.policies.layout import PolicyConfig
from league.store.player_file import read_player

UNITS = EnvConfig(name="pettingzoo", id="unit_game:UnitGame")
ALLOW = ["unit_game", "unexportable_networks"]


def test_a_reason_has_one_line_and_no_colours():
    error = ValueError('It\x1b[96m fails\x1b[0m\nmore\nFile "/a/net.py", line 3, in forward\n    x = y')
    assert reason(error) == "It fails, at net.py line 3: x = y"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("MissingOperator", r"ONNX has no counterpart of the operator \w+\.bessel_j0$"),
        (
            "Branching",
            r"Data-dependent branching, at unexportable_networks.py line \d+: return x \* 2 if x.sum\(\) > 0",
        ),
        (
            "RowByRow",
            r"its forward\(\) fixes the number of rows in the batch, at unexportable_networks.py line \d+: return",
        ),
    ],
)
def test_what_onnx_cannot_express_is_named_in_one_line(network, message, tmp_path, capfd):
    path = packed(tmp_path / "p", UNITS, PolicyConfig(name=f"unexportable_networks:{network}"), allow=ALLOW, scale=1)
    fast = torch.backends.mha.get_fastpath_enabled()
    with pytest.raises(
        OnnxError, match=f"^unexportable_networks:{network} cannot become an ONNX file: {message}"
    ) as error:
        export_onnx(read_player(path), tmp_path / "p.onnx", ALLOW)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "p.onnx").exists()
    assert capfd.readouterr() == ("", "")
    assert torch.backends.mha.get_fastpath_enabled() == fast
