import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pytest
from board_spec import board

from league.policies.layout import PolicyConfig, describe, initial
from league.policies.network_actor import actor_from_snapshot
from league.policies.numpy_actor import NumpyActor


@dataclass(frozen=True)
class Paper:
    policy: dict[str, Any]
    signature: str


def test_acting_needs_no_torch():
    program = "import sys, league.policies.numpy_actor; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_weights_of_another_size_are_refused():
    with pytest.raises(ValueError, match="another policy config or environment"):
        NumpyActor(PolicyConfig(), board(), np.zeros(5, dtype=np.float32))


def test_convolution_equals_the_slow_definition():
    spec, config = (
        board((5, 4, 2), "float32"),
        PolicyConfig(name="board_conv", hidden=[], kernel=[3, 2], channels=3),
    )
    rng = np.random.default_rng(0)
    flat = rng.standard_normal(describe(config, spec).size).astype(np.float32)
    views = describe(config, spec).views(flat)
    seen = rng.standard_normal((4, 5, 4, 2)).astype(np.float32)
    expected = []
    for picture in seen:
        kernel = views["conv.weight"].reshape(3, 3, 2, 2)
        places = [(picture[r : r + 3, c : c + 2], kernel) for r in range(3) for c in range(3)]
        features = [max(0, (p * k[ch]).sum() + views["conv.bias"][ch]) for p, k in places for ch in range(3)]
        features = np.concatenate([features, picture.ravel()])
        expected.append(views["policy.weight"] @ features + views["policy.bias"])
    np.testing.assert_allclose(NumpyActor(config, spec, flat).outputs(seen), expected, atol=1e-4)


def test_a_snapshot_refuses_another_environment_and_names_both_signatures():
    config, spec, other = PolicyConfig(), board(), board((3, 3, 2), actions=9)
    flat = initial(config, spec, 0)
    paper = Paper(asdict(config), spec.signature)
    actor = actor_from_snapshot({"flat": flat}, paper, spec)
    seen = np.ones((2, 6, 7, 2), dtype=np.int8)
    np.testing.assert_array_equal(actor.outputs(seen), NumpyActor(config, spec, flat).outputs(seen))
    with pytest.raises(ValueError, match=f"{spec.signature}.*{other.signature}"):
        actor_from_snapshot({"flat": flat}, paper, other)
    with pytest.raises(ValueError, match="no policy"):
        actor_from_snapshot({}, paper, spec)
