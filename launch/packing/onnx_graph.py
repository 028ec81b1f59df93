"""One decision of a network as a torch module whose tensors have names, and the ONNX file that torch makes of it.

step = make_step(policy, spec, flat)            # step.inputs and step.outputs name its tensors
data = graph_bytes(step, step.given(seen))      # OnnxError names the network, and what ONNX cannot express

Legend of shapes: B decisions, M numbers of a memory.
"""

import logging
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from league.errors import InputError
from league.policies.flat_policy import FlatPolicy, Lanes, Observed
from league.policies.layout import BoundPolicy, FloatArray, PolicyConfig
from league.policies.module_policy import ModulePolicy
from league.policies.network import NetworkInput, NetworkOutput, Tree, leaves_of, like
from league.policies.torch_policy import TorchPolicy
from league.spec import EnvSpec

LEFT_OUT = frozenset({"mask", "agent", "present"})  # inputs that the file lacks if the network does not look at them
NO_OPERATOR = re.compile(r"No ONNX function found for <OpOverload\(op='([\w.]+)'")
PLACE = re.compile(r'File "([^"]+)", line (\d+), in \w+(?:, code: |\n\s*)(\S[^\n]*)')


class OnnxError(InputError):
    """A network that cannot become an ONNX file, or that would play differently."""


class OnnxStep(nn.Module, ABC):
    """One decision of each row; the memory goes in and comes out."""

    name: str  # of the network, for errors
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @abstractmethod
    def given(self, seen: Observed) -> tuple[Tensor, ...]:
        """Return the tensors that go in, in the order of `inputs`."""


class LayerStep(OnnxStep):
    """A network that also acts in numpy."""

    def __init__(self, config: PolicyConfig, policy: TorchPolicy) -> None:
        super().__init__()
        agent, memory = ["agent"] if config.agent_id else [], ["memory"] if config.recurrent else []
        value = ["value"] if config.critic == "shared" and config.head == "logits" else []
        self.name, self.policy = config.name, policy
        self.inputs = ("observation", *agent, *memory)
        self.outputs = ("outputs", *value, *(["next_memory"] if memory else []))

    def given(self, seen: Observed) -> tuple[Tensor, ...]:
        """Return the observation as rows, the agent and the memory."""
        known = {"observation": seen.observation, "agent": seen.place, "memory": memory_of(seen)}
        return tuple(cast(Tensor, known[name]) for name in self.inputs)

    def forward(self, *given: Tensor) -> tuple[Tensor, ...]:
        """Return outputs, value and next memory, as far as the network has them."""
        known = dict(zip(self.inputs, given, strict=True))
        found = self.policy.decide(known["observation"], known.get("agent"), known.get("memory"))
        named = dict(zip(("outputs", "value", "next_memory"), found, strict=True))
        return tuple(named[name] for name in self.outputs)


class NetworkStep(OnnxStep):
    """A network on the contract of league.policies.network, with the observation in its own structure."""

    def __init__(self, config: BoundPolicy, policy: ModulePolicy, example: NetworkInput) -> None:
        super().__init__()
        self.name, self.network = config.name, policy.loaded().eval()
        self._policy, self._observation, self._memory = [policy], example.observation, example.memory
        self._valued = config.head == "logits"
        memory = leaf_names("memory", example.memory)
        self.inputs = (*leaf_names("observation", example.observation), "mask", "agent", "present", *memory)
        value = ["value"] if self._valued else []
        self.outputs = ("outputs", *value, *(f"next_{name}" for name in memory))

    def given(self, seen: Observed) -> tuple[Tensor, ...]:
        """Return the parts of the observation, what is known beside it, and the parts of the memory."""
        whole = self._policy[0].network_input(seen)
        beside = whole.mask, whole.agent, whole.present
        return (*leaves_of(whole.observation), *beside, *leaves_of(whole.memory))

    def forward(self, *given: Tensor) -> tuple[Tensor, ...]:
        """Return outputs, value and the parts of the next memory."""
        left = list(given)
        observation = like(self._observation, left)
        mask, agent, present = left[:3]
        memory = like(self._memory, left[3:])
        output: NetworkOutput = self.network(NetworkInput(observation, mask, agent, present, memory))
        value = [output.value[:, None]] if self._valued else []
        return (output.outputs, *value, *leaves_of(output.memory))


def make_step(config: PolicyConfig, spec: EnvSpec, flat: FloatArray, example: Observed) -> OnnxStep:
    """Return a network with these weights as a step; `example` has the structure of its inputs."""
    policy: FlatPolicy
    if isinstance(config, BoundPolicy):
        policy = ModulePolicy(config, spec)
        policy.write(flat)
        return NetworkStep(config, policy, policy.network_input(example))
    policy = TorchPolicy(config, spec)
    policy.write(flat)
    policy.settle()
    return LayerStep(config, policy)


def leaf_names(name: str, tree: Tree) -> list[str]:
    """Return a name for each leaf of a tree, in the order of `leaves_of`.

    >>> leaf_names("memory", {"window": 1, "counts": (2, 3)}), leaf_names("observation", 4)
    (['memory.window', 'memory.counts.0', 'memory.counts.1'], ['observation'])
    """
    if isinstance(tree, dict):
        return [leaf for key, branch in tree.items() for leaf in leaf_names(f"{name}.{key}", branch)]
    if isinstance(tree, tuple | list):
        return [leaf for place, branch in enumerate(tree) for leaf in leaf_names(f"{name}.{place}", branch)]
    return [name]


def memory_of(seen: Observed) -> Tensor | None:
    """Return the memory before each decision [B, M]; None without one."""
    return None if seen.lanes is None else seen.lanes.memory[:, 0]


def with_memory(seen: Observed, memory: Tensor) -> Observed:
    """Return decisions each of which has the memory [B, M]."""
    one = torch.ones((len(memory), 1, 1), dtype=torch.bool)
    return replace(seen, lanes=Lanes(present=one, restart=~one, memory=memory[:, None]))


def graph_bytes(step: OnnxStep, given: tuple[Tensor, ...]) -> bytes:
    """Return the bytes of the ONNX file, with a dynamic number of rows; raise OnnxError if torch cannot make it."""
    with _hushed(), torch.no_grad():
        try:
            program = torch.onnx.export(
                _captured(step, given),
                verbose=False,
                input_names=list(step.inputs),
                output_names=list(step.outputs),
                dynamic_shapes={"given": tuple({0: "batch"} for _ in given)},  # the name of the axis in the file
            )
        except Exception as error:
            raise OnnxError(f"{step.name} cannot become an ONNX file: {reason(error)}") from error
    assert program is not None
    _leave_out(program.model.graph)
    data: bytes = program.model_proto.SerializeToString()
    return data


def _leave_out(graph: Any) -> None:
    """Remove inputs that the network does not look at; where only their length is, that of the first input serves."""
    for tensor in [tensor for tensor in graph.inputs if tensor.name in LEFT_OUT]:
        for node, place in tuple(tensor.uses()):
            ends = [node.attributes[key].as_int() for key in ("start", "end") if key in node.attributes]
            if node.op_type == "Shape" and ends == [0, 1]:
                node.replace_input_with(place, graph.inputs[0])
        if not tensor.uses():
            graph.inputs.remove(tensor)


def _captured(step: OnnxStep, given: tuple[Tensor, ...]) -> Any:
    """Return the network as a graph of torch: from its code, so that len(x) stays dynamic, else from a run of it."""
    shapes = {"given": tuple({0: torch.export.Dim("batch")} for _ in given)}
    try:
        return torch.export.export(step, given, dynamic_shapes=shapes, strict=True)
    except Exception as error:
        try:
            return torch.export.export(step, given, dynamic_shapes=shapes, strict=False)
        except Exception:
            raise error from None


def reason(error: BaseException) -> str:
    """Return in one line why torch cannot export a network: the operator, or the line of its code."""
    texts, cause = list[str](), cast("BaseException | None", error)
    while cause is not None:
        texts.append(re.sub(r"\x1b\[\d*m", "", str(cause)))
        cause = cause.__cause__
    whole = "\n".join(texts)
    if missing := NO_OPERATOR.search(whole):
        return f"ONNX has no counterpart of the operator {missing[1]}"
    fixed = "specialized it to be a constant" in whole
    what = "its forward() fixes the number of rows in the batch" if fixed else texts[-1].strip().partition("\n")[0]
    places = [(Path(file).name, line, code) for file, line, code in PLACE.findall(whole) if _foreign(file)]
    return what + (f", at {places[-1][0]} line {places[-1][1]}: {places[-1][2].strip()}" if places else "")


def _foreign(file: str) -> bool:
    """Whether a file belongs neither to torch nor to this exporter."""
    return "/torch/" not in file and Path(file).name != Path(__file__).name


@contextmanager
def _hushed() -> Iterator[None]:
    """Silence torch's exporter, which warns, logs and prints graphs, and use attention that ONNX can express."""
    level, fast = logging.root.manager.disable, torch.backends.mha.get_fastpath_enabled()
    logging.disable(logging.CRITICAL)
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        logging.disable(level)
