"""Networks for inference on a GPU: the same as league.policies.numpy_actor.NumpyActor, up to rounding."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from league.policies.layout import FloatArray, PolicyConfig, describe
from league.policies.numpy_actor import Places
from league.policies.torch_policy import Lanes, Observed, TorchPolicy
from league.spec import EnvSpec


class TorchNetwork:
    """A network on a device.

    network = TorchNetwork(config, spec, flat, "cuda")
    outputs = network.outputs(observation, place, memory)
    """

    def __init__(self, config: PolicyConfig, spec: EnvSpec, flat: FloatArray, device: str = "cuda") -> None:
        views, nothing = describe(config, spec).views(np.array(flat)), np.zeros(0, np.float32)
        self.log_std: FloatArray = views.get("log_std", nothing)
        self.exploration: FloatArray = views.get("exploration", nothing)
        self._device = device
        self._policy = TorchPolicy(config, spec)
        self._policy.write(flat)
        self._policy.to(device)

    @torch.inference_mode()
    def outputs(self, observation: npt.NDArray[Any], place: Places | None, memory: FloatArray | None) -> FloatArray:
        """Return logits and means of each row; `memory` is updated in place."""
        seen = Observed(
            self._tensor(observation),
            None if place is None else self._tensor(place.astype(np.int64)),
            lanes=None if memory is None else self._lanes(memory),
        )
        outputs, after = self._policy.answers(seen)
        if memory is not None and after is not None:
            memory[:] = after.cpu().numpy()
        found: FloatArray = outputs.cpu().numpy()
        return found

    def _tensor(self, array: npt.NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(np.array(array)).to(self._device)  # a copy: arrays from the wire are read-only

    def _lanes(self, memory: FloatArray) -> Lanes:
        one_decision = torch.ones((len(memory), 1, 1), dtype=torch.bool, device=self._device)
        return Lanes(present=one_decision, restart=~one_decision, memory=self._tensor(memory[:, None]))
