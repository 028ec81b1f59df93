"""`ludus pack --onnx`: the network of a packed player as an ONNX file, checked against the player before it is written.

apart = export_onnx(read_player(path), Path("main.onnx"))       # the largest difference on 1,000 observations

Inputs: `observation` [batch, *observation] as float32 rows, `agent` [batch] (the index in its seat, if the network sees
it), `memory` [batch, M] (zeros at the first decision). Outputs: `outputs` [batch, options and means], before the mask;
`value` [batch, 1], if the critic sees one agent only; `next_memory`. What a network does not have is left out.
"""

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.players.loaded_player import network_of, value_network
from league.errors import InputError
from league.policies.layout import FloatArray, PolicyConfig, team_size
from league.policies.numpy_actor import NumpyActor
from league.spec import EnvSpec
from league.store.files import publish
from league.store.player_file import PlayerFile

CHECKED = 1000  # observations
TOLERANCE = 1e-5  # of outputs, values and memories, relative to numbers above 1
INSTALL = "pip install 'ludus-league[onnx]'"


class OnnxError(InputError):
    """A network that cannot become an ONNX file, or that would play differently."""


def export_onnx(found: PlayerFile, out: Path) -> float:
    """Write the network of a player as ONNX; return by how much it differs from the player, at most TOLERANCE."""
    try:
        import onnx  # noqa: F401  (torch needs it)
        import onnxruntime
    except ImportError as error:
        raise OnnxError(f"ONNX files need packages that are not installed: {INSTALL}") from error
    config, spec = network_of(found), found.card.spec
    if not config.ours:
        raise OnnxError(f"{config.name} acts in torch: only mlp, board_conv, cnn and resnet become ONNX files")
    data = _graph(config, spec, found.snapshot.arrays["flat"])
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    apart = max(_difference(session, config, found, rows) for rows in (CHECKED, 1))
    if not apart <= TOLERANCE:
        raise OnnxError(f"the ONNX file differs by {apart:.2g} from the player, more than {TOLERANCE:g}: not written")
    publish(out, data)
    return apart


def _inputs(config: PolicyConfig) -> list[str]:
    return ["observation", *(["agent"] if config.agent_id else []), *(["memory"] if config.recurrent else [])]


def _outputs(config: PolicyConfig) -> list[str]:
    value = ["value"] if config.critic == "shared" and config.head == "logits" else []
    return ["outputs", *value, *(["next_memory"] if config.recurrent else [])]


def _graph(config: PolicyConfig, spec: EnvSpec, flat: FloatArray) -> bytes:
    """Return the bytes of the ONNX file, with a dynamic number of rows."""
    import torch
    from torch import Tensor, nn

    from league.policies.torch_policy import TorchPolicy

    policy, names = TorchPolicy(config, spec), _inputs(config)
    policy.write(flat)

    class OnnxStep(nn.Module):
        """One decision of each row, with the memory passed through."""

        def __init__(self) -> None:
            super().__init__()
            self.policy = policy

        def forward(self, *given: Tensor) -> tuple[Tensor, ...]:
            by_name = dict(zip(names, given, strict=True))
            found = self.policy.decide(by_name["observation"], by_name.get("agent"), by_name.get("memory"))
            return tuple(one for name, one in zip(ALL, found, strict=True) if name in _outputs(config))

    rows = (torch.from_numpy(array) for array in _rows(config, spec, 2, np.random.default_rng(0)))
    outputs = _outputs(config)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's exporter warns about itself
        path, step = Path(folder) / "network.onnx", OnnxStep().eval()
        dynamic = {name: {0: "batch"} for name in (*names, *outputs)}
        axes: dict[str, Any] = {"input_names": names, "output_names": outputs, "dynamic_axes": dynamic}
        torch.onnx.export(step, tuple(rows), path, dynamo=False, **axes)
        return path.read_bytes()


ALL = ("outputs", "value", "next_memory")


def _rows(config: PolicyConfig, spec: EnvSpec, rows: int, rng: np.random.Generator) -> list[npt.NDArray[Any]]:
    """Return made-up inputs: bytes of images, whole numbers of boards, else numbers around 0."""
    shape, kind = (rows, *spec.observation.shape), spec.observation.dtype
    whole = {"uint8": 256, "int8": 2}.get(kind)
    seen = rng.standard_normal(shape) if whole is None else rng.integers(0, whole, shape)
    inputs: list[npt.NDArray[Any]] = [seen.astype(np.float32)]
    if config.agent_id:
        inputs.append(rng.integers(0, team_size(spec), rows))
    if config.recurrent:
        inputs.append(rng.uniform(-1, 1, (rows, config.state_size)).astype(np.float32))
    return inputs


def _difference(session: Any, config: PolicyConfig, found: PlayerFile, rows: int) -> float:
    """Return by how much the file and the player differ, relative to numbers above 1."""
    spec, flat = found.card.spec, found.snapshot.arrays["flat"]
    given = dict(zip(_inputs(config), _rows(config, spec, rows, np.random.default_rng(rows)), strict=True))
    got = dict(zip(_outputs(config), session.run(_outputs(config), given), strict=True))
    place, memory = given.get("agent"), given.get("memory")
    after = None if memory is None else memory.copy()
    wanted = {"outputs": NumpyActor(config, spec, flat).outputs(given["observation"], place, after)}
    if "value" in got:
        before = None if memory is None else memory.copy()
        wanted["value"] = value_network(config, spec, flat).outputs(given["observation"], place, before)
    if after is not None:
        wanted["next_memory"] = after
    apart = [np.abs(got[name] - want) / np.maximum(1, np.abs(want)) for name, want in wanted.items()]
    return float(max(one.max() for one in apart))
