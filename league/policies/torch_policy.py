"""Networks that learn, in torch: the same layout as league.policies.numpy_actor, the same results."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from league.policies.distribution import Distribution, distribution
from league.policies.layout import FloatArray, PolicyConfig, board_patches, describe
from league.spec import EnvSpec


class TorchPolicy(nn.Module):
    """A network whose one parameter is the flat vector: one optimizer step, one norm, one frame to publish.

    policy = TorchPolicy(config, spec)
    policy.write(initial(config, spec, seed))
    distribution, value_B = policy(observation_BX, mask_BN)
    """

    def __init__(self, config: PolicyConfig, spec: EnvSpec) -> None:
        super().__init__()
        layout = describe(config, spec)
        self._spec = spec
        self._shapes, self._sizes = layout.shapes, layout.sizes
        self._hidden = len(config.hidden)
        self._rectified = config.rectified
        self._features = spec.observation.size
        self.flat = nn.Parameter(torch.zeros(layout.size))
        self._patches: Tensor | None = None
        if config.name == "board_conv":
            self._patches = torch.from_numpy(board_patches(spec.observation.shape, config.kernel))

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Distribution, Tensor]:
        """Return the distribution over actions and the value of each row."""
        parameters = self._parameters_by_name()
        x = self._trunk(observation, parameters)
        outputs = functional.linear(x, parameters["policy.weight"], parameters["policy.bias"])
        log_std = parameters["log_std"] if self._spec.continuous else outputs.new_zeros(0)
        return distribution(self._spec, outputs, mask, log_std), _value(x, parameters)

    def value(self, observation: Tensor) -> Tensor:
        """Return the value of each row: what tails need, which have no mask."""
        parameters = self._parameters_by_name()
        return _value(self._trunk(observation, parameters), parameters)

    def read(self) -> FloatArray:
        """Return a copy of the weights."""
        copy: FloatArray = self.flat.detach().cpu().numpy().copy()
        return copy

    def write(self, flat: FloatArray) -> None:
        """Take over these weights."""
        if flat.shape != tuple(self.flat.shape):
            raise ValueError(
                f"these weights have {flat.size} numbers, this policy and environment need {len(self.flat)}: "
                "they belong to another policy config or environment"
            )
        with torch.no_grad():
            self.flat.copy_(torch.from_numpy(np.array(flat, dtype=np.float32)))

    def _parameters_by_name(self) -> dict[str, Tensor]:
        # One split has one backward that joins all gradients; a slice for each would pad each with zeros.
        pieces = self.flat.split(self._sizes)
        return {name: piece.view(shape) for (name, shape), piece in zip(self._shapes.items(), pieces, strict=True)}

    def _trunk(self, observation: Tensor, parameters: dict[str, Tensor]) -> Tensor:
        x = observation.reshape(-1, self._features).float()
        if self._patches is not None:
            seen = functional.linear(x[:, self._patches], parameters["conv.weight"], parameters["conv.bias"])
            x = torch.cat((seen.relu().flatten(1), x), dim=1)
        for number in range(self._hidden):
            weight, bias = parameters[f"hidden_{number}.weight"], parameters[f"hidden_{number}.bias"]
            x = functional.linear(x, weight, bias)
            x = x.relu() if self._rectified else x.tanh()
        return x


def _value(x: Tensor, parameters: dict[str, Tensor]) -> Tensor:
    return functional.linear(x, parameters["value.weight"], parameters["value.bias"]).squeeze(-1)
