"""Built-in networks in torch, with the layout and the results of league.policies.numpy_actor.

Legend of shapes: B decisions, L lanes, T ticks, A agents of the seat, F features, M numbers of a memory.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from league.policies.flat_policy import Answers, FlatPolicy, Lanes, Observed
from league.policies.layout import NOISE, PolicyConfig, board_patches, describe, overview, team_size
from league.policies.noise import sample_noise
from league.policies.normalising import FAR, LEAST, MEAN, VARIANCE, take_in
from league.policies.torch_return_heads import options_of, worth_of
from league.spec import EnvSpec


class TorchPolicy(FlatPolicy):
    """A built-in network."""

    def __init__(self, config: PolicyConfig, spec: EnvSpec) -> None:
        if not config.ours:
            raise ValueError(f"{config.name} is a network of another package: use league.policies.module_policy")
        super().__init__(config, spec)
        self._convolutions, self._scale, self._team = config.convolutions(spec), config.scale(spec), team_size(spec)
        self._noise: dict[str, tuple[Tensor, Tensor]] = {}
        self._patches: Tensor | None
        patches = board_patches(spec.observation.shape, config.kernel) if config.name == "board_conv" else None
        self.register_buffer("_patches", None if patches is None else torch.from_numpy(patches), persistent=False)

    def answers(self, seen: Observed) -> Answers:
        """Return the raw outputs of each decision."""
        parameters = self._parameters_by_name()
        x, memory = self._features(seen, parameters)
        outputs, log_std = self._linear(x, parameters, "policy"), parameters.get("log_std")
        return Answers(outputs, self._value(x, seen, parameters), log_std, memory)

    def decide(self, observation: Tensor, place: Tensor | None, memory: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return outputs, value and next memory of one decision in each row, without lanes: for other runtimes."""
        parameters, seen = self._parameters_by_name(), Observed(observation, place)
        x = self._trunk(seen, parameters)
        after = x.new_zeros(len(x), 0)
        if memory is not None:
            after = self._remember(self._linear(x, parameters, "memory_input"), memory, parameters)
            x = after[:, : self._config.memory_size]
        value = self._linear(x, parameters, "value") if self._config.critic == "shared" else x.new_zeros(len(x), 1)
        return self._worth(self._linear(x, parameters, "policy"), value), value, after

    def encoded(self, observation: Tensor) -> Tensor:
        """Return the features that convolutions find in pictures [B, F], for losses that train these alone."""
        if not self._convolutions:
            return super().encoded(observation)
        parameters = self._parameters_by_name()
        x = observation.reshape(-1, self._spec.observation.size).float()
        return self._convolve(self._normalised(x, parameters) if self._config.normalise else x, parameters)

    def sample_noise(self, rng: np.random.Generator, rows: int = 1) -> None:
        """Sample noise for the next passes, if it is a noisy network: the same for all decisions, or for each row."""
        if self._config.noisy:
            self._noise = {
                name: (torch.from_numpy(inputs).to(self.flat.device), torch.from_numpy(outputs).to(self.flat.device))
                for name, (inputs, outputs) in sample_noise(self.layout, rows, rng).items()
            }

    def drop_noise(self) -> None:
        """Make the next passes without noise."""
        self._noise = {}

    def values(self, seen: Observed) -> tuple[Tensor, Tensor | None]:
        """Return the value of each decision, and the memory after it (None without one)."""
        parameters = self._parameters_by_name()
        x, memory = self._features(seen, parameters)
        return self._value(x, seen, parameters), memory

    def logits(self, seen: Observed) -> tuple[Tensor, Tensor | None]:
        """Return the outputs that actions are sampled from, and the memory after each decision (None without one)."""
        parameters = self._parameters_by_name()
        x, memory = self._features(seen, parameters)
        outputs = self._linear(x, parameters, "policy")
        return self._worth(outputs, self._value(x, seen, parameters) if self._config.duelling else outputs), memory

    def _worth(self, outputs: Tensor, state: Tensor) -> Tensor:
        """Return the outputs of the policy head; of distributions, the mean return of each option."""
        if self._config.numbers == 1:
            return outputs
        return worth_of(self._config, options_of(self._config, outputs, state))

    @property
    def normalises(self) -> bool:
        """Whether it normalises observations by running statistics, which a learner must update."""
        return self._config.normalise

    def deviations(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and the mean square of the differences of observations from the running mean."""
        with torch.no_grad():
            known = self._parameters_by_name()[MEAN]
            apart = observation.reshape(-1, self._spec.observation.size).float() - known
            return apart.mean(dim=0), apart.square().mean(dim=0)

    def take_in(self, apart: Tensor, square: Tensor, count: int) -> None:
        """Update the running statistics with the result of `deviations` over `count` observations."""
        flat = self.read()
        views = describe(self._config, self._spec).views(flat)
        off = apart.cpu().numpy()
        take_in(views, views[MEAN] + off, np.maximum(square.cpu().numpy() - off * off, 0), count)
        self.write(flat)

    def _features(self, seen: Observed, parameters: dict[str, Tensor]) -> tuple[Tensor, Tensor | None]:
        """Return the inputs of the heads, and the memory after each decision."""
        x = self._trunk(seen, parameters)
        if not self._config.recurrent:
            return x, None
        gates = self._linear(x, parameters, "memory_input")
        memory = self._unroll(gates, seen.lanes, parameters)
        return memory[:, : self._config.memory_size], memory

    def _trunk(self, seen: Observed, parameters: dict[str, Tensor]) -> Tensor:
        x = seen.observation.reshape(-1, self._spec.observation.size).float()
        if self._config.normalise:
            x = self._normalised(x, parameters)
        if self._patches is not None:
            found = functional.linear(x[:, self._patches], parameters["conv.weight"], parameters["conv.bias"])
            x = torch.cat((found.relu().flatten(1), x), dim=1)
        elif self._convolutions:
            x = self._convolve(x, parameters)
        if self._config.agent_id:
            x = torch.cat((x, self._agent_ids(seen)), dim=1)
        return self._stack("hidden", x, parameters)

    def _normalised(self, x: Tensor, parameters: dict[str, Tensor]) -> Tensor:
        variance = parameters[VARIANCE].detach().clamp(min=0) + (LEAST / self._scale) ** 2
        return ((x - parameters[MEAN].detach()) * variance.rsqrt()).clamp(-FAR, FAR)

    def _stack(self, name: str, x: Tensor, parameters: dict[str, Tensor]) -> Tensor:
        for number in range(len(self._config.hidden)):
            x = self._linear(x, parameters, f"{name}_{number}")
            x = x.relu() if self._config.rectified else x.tanh()
        return x

    def _agent_ids(self, seen: Observed) -> Tensor:
        if seen.place is None:
            first = torch.zeros(len(seen.observation), dtype=torch.long, device=seen.observation.device)
            return functional.one_hot(first, self._team).float()
        return functional.one_hot(seen.place, self._team).float()

    def _convolve(self, x: Tensor, parameters: dict[str, Tensor]) -> Tensor:
        scaled = x if self._config.normalise else x * self._scale
        images = scaled.reshape(-1, *self._convolutions[0].input).permute(0, 3, 1, 2)
        skipped = images
        for one in self._convolutions:
            weight = parameters[f"{one.name}.weight"].view(one.channels, one.kernel, one.kernel, one.input[2])
            images = functional.conv2d(
                images, weight.permute(0, 3, 1, 2), parameters[f"{one.name}.bias"], one.stride, one.padding
            )
            if one.name.endswith("_b"):
                images = images + skipped
            images = images.relu()
            if not one.name.endswith("_a"):
                skipped = images
        return images.permute(0, 2, 3, 1).flatten(1)

    def _unroll(self, gates_BG: Tensor, lanes: Lanes | None, parameters: dict[str, Tensor]) -> Tensor:  # noqa: N803
        """Return the memory after each decision: tick by tick, all lanes and agents at once."""
        if lanes is None:
            empty = gates_BG.new_zeros(len(gates_BG), self._config.state_size)
            return self._remember(gates_BG, empty, parameters)
        gates = gates_BG.new_zeros(*lanes.present.shape, gates_BG.shape[1])
        gates[lanes.present] = gates_BG
        memory, after = lanes.memory, []
        for tick in range(lanes.present.shape[1]):
            memory = memory.masked_fill(lanes.restart[:, tick, :, None], 0)
            new = self._remember(gates[:, tick], memory, parameters)
            memory = torch.where(lanes.present[:, tick, :, None], new, memory)
            if lanes.warm is not None:
                memory = torch.where(lanes.warm[:, tick, :, None], memory.detach(), memory)
            after.append(memory)
        return torch.stack(after, dim=1)[lanes.present]

    def _remember(self, gates: Tensor, memory: Tensor, parameters: dict[str, Tensor]) -> Tensor:
        size = self._config.memory_size
        recalled = self._linear(memory[..., :size], parameters, "memory_state")
        if self._config.memory == "gru":
            reset, update = (gates + recalled)[..., : 2 * size].sigmoid().split(size, dim=-1)
            new = (gates[..., 2 * size :] + reset * recalled[..., 2 * size :]).tanh()
            kept: Tensor = new + update * (memory - new)
            return kept
        input_gate, forget_gate, proposed, output_gate = (gates + recalled).split(size, dim=-1)
        cell = forget_gate.sigmoid() * memory[..., size:] + input_gate.sigmoid() * proposed.tanh()
        return torch.cat((output_gate.sigmoid() * cell.tanh(), cell), dim=-1)

    def _value(self, x: Tensor, seen: Observed, parameters: dict[str, Tensor]) -> Tensor:
        if self._config.critic == "none":
            return x.new_zeros(len(x))
        if self._config.oversees:
            joint = seen.joint if seen.joint is not None else self._alone(seen)
            scale = 1.0 if self._config.sees_state else self._scale
            x = torch.cat((joint.flatten(1).float() * scale, self._agent_ids(seen)), dim=1)
            x = self._stack("critic", x, parameters)
        value = self._linear(x, parameters, "value")
        return value if self._config.numbers > 1 else value.squeeze(-1)

    def _alone(self, seen: Observed) -> Tensor:
        """Return the inputs of a separate critic if none are given: the agent's observation, or a state of zeros."""
        if self._config.sees_state:
            return seen.observation.new_zeros(len(seen.observation), overview(self._config, self._spec))
        own = seen.observation.reshape(-1, 1, self._spec.observation.size).float()
        return own * self._agent_ids(seen)[:, :, None]

    def _linear(self, x: Tensor, parameters: dict[str, Tensor], name: str) -> Tensor:
        found = functional.linear(x, parameters[f"{name}.weight"], parameters[f"{name}.bias"])
        if name not in self._noise:
            return found
        inputs, outputs = self._noise[name]
        noisy = f"{name}{NOISE}"
        return found + outputs * functional.linear(
            x * inputs, parameters[f"{noisy}.weight"], parameters[f"{noisy}.bias"]
        )
