"""`ludus pack --onnx`: the network of a packed player as an ONNX file, checked against the player before it is written.

apart = export_onnx(read_player(path), Path("main.onnx"))       # the largest difference on 1,000 observations

docs/players.md lists the inputs and outputs of the file. The check feeds made-up observations, with memories as the
player has them after a few decisions.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from collectors.players.loaded_player import network_of, value_network
from launch.packing.onnx_graph import OnnxError, OnnxStep, graph_bytes, make_step, with_memory
from league.policies.binding import bind
from league.policies.flat_policy import Observed
from league.policies.layout import FloatArray, PolicyConfig, team_size
from league.policies.network_actor import Bystanders, Flags, HasValues, NetworkActor, Places, make_actor
from league.spec import EnvSpec
from league.store.files import publish
from league.store.player_file import PlayerFile

CHECKED = 1000  # observations
TOLERANCE = 1e-5  # of outputs, values and memories, relative to the largest of a decision if that is above 1
DEEPEST = 4  # decisions before the one that is checked
INSTALL = "pip install 'ludus-league[onnx]'"


class SampledRows(NamedTuple):
    """Made-up inputs of a network, for some decisions."""

    observation: FloatArray
    place: Places
    mask: Flags
    team: Flags
    memory: FloatArray  # [rows, memory]; the network may have none

    @property
    def beside(self) -> Bystanders:
        """What only networks that act in torch see."""
        return Bystanders(self.mask, self.team)


def export_onnx(found: PlayerFile, out: Path, allow: Collection[str] = ()) -> float:
    """Write the network of a player as ONNX; return by how much it differs from the player, at most TOLERANCE."""
    try:
        import onnxruntime
        import onnxscript  # noqa: F401  (torch needs it)
    except ImportError as error:
        raise OnnxError(f"ONNX files need packages that are not installed: {INSTALL}") from error
    spec, flat = found.card.spec, found.snapshot.arrays["flat"]
    config = bind(network_of(found), spec, allow)
    actor, rng = make_actor(config, spec, flat, frozen=True), np.random.default_rng(0)
    example = _observed(sampled_rows(config, spec, actor, 3, rng))
    step = make_step(config, spec, flat, example)
    data = graph_bytes(step, step.given(example))
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    samples = [sampled_rows(config, spec, actor, rows, rng) for rows in (CHECKED, 1)]
    apart = max(_difference(session, step, _played(actor, config, spec, flat, rows), rows) for rows in samples)
    if not apart <= TOLERANCE:
        raise OnnxError(f"the ONNX file differs by {apart:.2g} from the player, more than {TOLERANCE:g}: not written")
    publish(out, data)
    return apart


def sampled_rows(
    config: PolicyConfig, spec: EnvSpec, actor: NetworkActor, rows: int, rng: np.random.Generator
) -> SampledRows:
    """Return made-up decisions, with the memories that the player has after up to DEEPEST others."""
    place = rng.integers(0, team_size(spec), rows)
    mask = rng.random((rows, spec.actions)) < 0.6
    mask[:, np.cumsum([0, *spec.heads[:-1]], dtype=np.intp)[: len(spec.heads)]] = True
    team = np.eye(team_size(spec), dtype=np.bool_)[place]
    if config.head == "logits":
        team |= rng.random(team.shape) < 0.5
    memory = np.zeros((rows, actor.memory), np.float32)
    for step in range(DEEPEST if actor.memory else 0):
        after = memory.copy()
        actor.outputs(_observations(spec, rows, rng), place, after, Bystanders(mask, team))
        deeper = np.arange(rows) % (DEEPEST + 1) > step
        memory[deeper] = after[deeper]
    return SampledRows(_observations(spec, rows, rng), place, mask, team, memory)


def _observations(spec: EnvSpec, rows: int, rng: np.random.Generator) -> FloatArray:
    """Return bytes of images, whole numbers of boards, else numbers around 0; choices are one-hot."""
    shape, whole = (rows, *spec.observation.shape), {"uint8": 256, "int8": 2}.get(spec.observation.dtype)
    seen = rng.standard_normal(shape) if whole is None else rng.integers(0, whole, shape)
    for part in spec.observation.structure:
        begin = part.begin
        for options in part.choices:
            seen[:, begin : begin + options] = np.eye(options)[rng.integers(0, options, rows)]
            begin += options
    return seen.astype(np.float32)


def _observed(rows: SampledRows) -> Observed:
    tensor = torch.from_numpy
    seen = Observed(tensor(rows.observation), tensor(rows.place), mask=tensor(rows.mask), team=tensor(rows.team))
    return with_memory(seen, tensor(rows.memory)) if rows.memory.size else seen


def _played(
    actor: NetworkActor, config: PolicyConfig, spec: EnvSpec, flat: FloatArray, rows: SampledRows
) -> dict[str, FloatArray]:
    """Return what the player makes of some decisions: outputs, value, next memory."""
    after, before = rows.memory.copy(), rows.memory.copy()
    found = {"outputs": actor.outputs(rows.observation, rows.place, after, rows.beside), "next_memory": after}
    if isinstance(actor, HasValues):
        return found | {"value": actor.values(rows.observation, rows.place, before, rows.beside)[:, None]}
    if config.critic == "shared" and not config.valued:
        found["value"] = value_network(config, spec, flat).outputs(rows.observation, rows.place, before)
    return found


def _difference(session: Any, step: OnnxStep, wanted: dict[str, FloatArray], rows: SampledRows) -> float:
    """Return by how much the file and the player differ, relative to the largest number of a decision above 1.

    A logit of 0 among others of 30 is a sum of large numbers, and rounded as they are.
    """
    looked_at = {tensor.name for tensor in session.get_inputs()}
    tensors = zip(step.inputs, step.given(_observed(rows)), strict=True)
    given = {name: tensor.numpy() for name, tensor in tensors if name in looked_at}
    got = dict(zip(step.outputs, session.run(list(step.outputs), given), strict=True))
    pieces = [got.pop(name).reshape(len(rows.place), -1) for name in list(got) if name.startswith("next_memory")]
    if pieces:
        got["next_memory"] = np.concatenate(pieces, axis=1)
    scales = {name: np.abs(one).max(axis=1, keepdims=True, initial=1) for name, one in wanted.items()}
    return float(max((np.abs(one - wanted[name]) / scales[name]).max() for name, one in got.items()))
