"""Networks of other packages, trained: a torch module whose parameters and buffers are pieces of the flat vector.

Legend of shapes: see league.policies.flat_policy; X numbers of an observation.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.func import functional_call

from league.policies.blueprint import NetworkBlueprint, acting_mode
from league.policies.flat_policy import Answers, FlatPolicy, Lanes, Observed
from league.policies.layout import BoundPolicy, PolicyConfig
from league.policies.network import NetworkInput, NetworkOutput, leaves_of, like, unflattened
from league.policies.torch_policy import TorchPolicy
from league.spec import EnvSpec


def make_policy(config: PolicyConfig, spec: EnvSpec) -> FlatPolicy:
    """Return the network of a config, to be trained."""
    return ModulePolicy(config, spec) if isinstance(config, BoundPolicy) else TorchPolicy(config, spec)


class ModulePolicy(FlatPolicy):
    """A network of another package."""

    def __init__(self, config: BoundPolicy, spec: EnvSpec) -> None:
        super().__init__(config, spec)
        assert isinstance(config.blueprint, NetworkBlueprint)
        self._blueprint = config.blueprint
        # In a list, so that its own parameters are not those of this module: the flat vector takes their place.
        self._inside = [config.blueprint.module()]
        module = self._inside[0]
        self._kinds = {name: tensor.dtype for name, tensor in [*module.named_parameters(), *module.named_buffers()]}

    @property
    def _module(self) -> nn.Module:
        return self._inside[0]

    def answers(self, seen: Observed) -> Answers:
        """Return the raw outputs of each decision."""
        views = self._parameters_by_name()
        tensors = {} if self._settled is not None else self._tensors(views)
        log_std = views.get("log_std")
        return replace(self._found(tensors, self._input(seen), seen.lanes), log_std=log_std)

    def _found(self, tensors: dict[str, Tensor], everyone: NetworkInput, lanes: Lanes | None) -> Answers:
        if not self._blueprint.memory_size:
            return self._answers(self._run(tensors, everyone))
        if lanes is not None:
            return self._unroll(tensors, everyone, lanes)
        return self._answers(self._run(tensors, self._remembering(everyone, self._empty(len(everyone.agent)))))

    def _empty(self, rows: int) -> Tensor:
        return self.flat.new_zeros(rows, self._blueprint.memory_size)

    def try_once(self, seen: Observed) -> NetworkOutput:
        """Return what the module itself returns for the first decision of episodes."""
        return self._run(self._tensors(self._parameters_by_name()), self.network_input(replace(seen, lanes=None)))

    def network_input(self, seen: Observed) -> NetworkInput:
        """Return what the module gets for single decisions, each with its own memory: empty without `lanes`."""
        everyone = self._input(seen)
        if not self._blueprint.memory_size:
            return everyone
        memory = self._empty(len(everyone.agent)) if seen.lanes is None else seen.lanes.memory[:, 0]
        return self._remembering(everyone, memory)

    def loaded(self) -> nn.Module:
        """Return the module itself, with the present weights inside."""
        self._load()
        return self._module

    def settle(self) -> None:
        """Keep the present weights for acting, inside the module."""
        super().settle()
        self._load()

    @property
    def has_buffers(self) -> bool:
        """Whether it has running statistics that a learner must update."""
        return any(True for _ in self._module.buffers())

    @torch.no_grad()
    def update_buffers(self, seen: Observed) -> None:
        """Run the module once in train() mode, which updates its running statistics, and keep them."""
        everyone = self._input(seen)
        if len(everyone.agent) < 2:
            return  # one decision has no variance
        self._load()
        if seen.lanes is not None:
            everyone = self._with_memories(everyone, seen.lanes)
        elif self._blueprint.memory_size:
            everyone = self._remembering(everyone, self._empty(len(everyone.agent)))
        self._module.train()
        try:
            self._module(everyone)
        finally:
            acting_mode(self._module)
        views = self._parameters_by_name()
        for name, buffer in self._module.named_buffers():
            views[name].copy_(buffer)

    # --- weights ---------------------------------------------------------------------------------------------

    def _tensors(self, views: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the tensors of the module as pieces of the flat vector; those that are not trained get no gradient."""
        found = {name: views[name].to(kind) for name, kind in self._kinds.items()}
        return {name: tensor.detach() if name in self.layout.untrained else tensor for name, tensor in found.items()}

    @torch.no_grad()
    def _load(self) -> None:
        """Copy the flat vector into the module."""
        self._module.to(self.flat.device)
        views = self._parameters_by_name()
        for name, tensor in [*self._module.named_parameters(), *self._module.named_buffers()]:
            tensor.copy_(views[name])

    # --- calls -----------------------------------------------------------------------------------------------

    def _run(self, tensors: dict[str, Tensor], seen: NetworkInput) -> NetworkOutput:
        output: NetworkOutput = functional_call(self._module, tensors, (seen,)) if tensors else self._module(seen)
        return output

    def _input(self, seen: Observed) -> NetworkInput:
        rows, agents, device = len(seen.observation), self._blueprint.shape.agents, seen.observation.device
        agent = seen.place if seen.place is not None else torch.zeros(rows, dtype=torch.long, device=device)
        team = seen.team if seen.team is not None else nn.functional.one_hot(agent, agents).bool()
        mask = seen.mask
        if mask is None:
            mask = torch.ones(rows, self._spec.actions, dtype=torch.bool, device=device)
        return NetworkInput(unflattened(self._spec, seen.observation), mask, agent, team)

    def _remembering(self, seen: NetworkInput, memory: Tensor) -> NetworkInput:
        """Return the input with a memory [B, M], in the structure that the network declares."""
        declared = leaves_of(self._blueprint.memory)
        pieces = memory.split([leaf.numel() for leaf in declared], dim=1)
        shaped = [piece.reshape(-1, *leaf.shape).to(leaf.dtype) for piece, leaf in zip(pieces, declared, strict=True)]
        return NetworkInput(seen.observation, seen.mask, seen.agent, seen.present, like(self._blueprint.memory, shaped))

    def _answers(self, output: NetworkOutput) -> Answers:
        memory = None
        if self._blueprint.memory_size:
            memory = torch.cat([leaf.reshape(len(leaf), -1).float() for leaf in leaves_of(output.memory)], dim=1)
        return Answers(output.outputs.float(), output.value.float(), None, memory, output.extras)

    def _with_memories(self, everyone: NetworkInput, lanes: Lanes) -> NetworkInput:
        """Return the input, in any order, with the memory before each decision."""
        before: list[tuple[Tensor, Tensor]] = []
        self._unroll({}, everyone, lanes, before)
        rows, memory = (torch.cat(parts) for parts in zip(*before, strict=True))
        return self._remembering(_rows(everyone, rows), memory)

    def _unroll(
        self,
        tensors: dict[str, Tensor],
        everyone: NetworkInput,
        lanes: Lanes,
        before: list[tuple[Tensor, Tensor]] | None = None,
    ) -> Answers:
        """Run tick by tick, all lanes and agents at once, each with the memory after its decision before.

        `before` gets the decisions of each tick, and the memory before them.
        """
        number = lanes.present.flatten().cumsum(0).view(lanes.present.shape) - 1
        memory, found, order = lanes.memory, [], []
        for tick in range(lanes.present.shape[1]):
            memory = memory.masked_fill(lanes.restart[:, tick, :, None], 0)
            here = lanes.present[:, tick]
            rows = number[:, tick][here]
            if not len(rows):
                continue
            if before is not None:
                before.append((rows, memory[here]))
            answers = self._answers(self._run(tensors, self._remembering(_rows(everyone, rows), memory[here])))
            assert answers.memory is not None
            memory = memory.masked_scatter(here[:, :, None].expand_as(memory), answers.memory)
            if lanes.warm is not None:
                memory = torch.where(lanes.warm[:, tick, :, None], memory.detach(), memory)
            found.append(answers)
            order.append(rows)
        return _joined(found, torch.cat(order).argsort())


def _rows(seen: NetworkInput, rows: Tensor) -> NetworkInput:
    observation = like(seen.observation, [leaf[rows] for leaf in leaves_of(seen.observation)])
    return NetworkInput(observation, seen.mask[rows], seen.agent[rows], seen.present[rows])


def _joined(found: list[Answers], order: Tensor) -> Answers:
    """Return the answers of all ticks in the order of decisions."""

    def joined(pieces: list[Tensor]) -> Tensor:
        return torch.cat(pieces)[order]

    return Answers(
        outputs=joined([one.outputs for one in found]),
        value=joined([one.value for one in found]),
        memory=joined([one.memory for one in found if one.memory is not None]),
        extras={name: joined([one.extras[name] for one in found]) for name in found[0].extras},
    )
