"""Networks that act in torch: those of other packages, and built-in ones on a GPU or on request."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from league.policies.flat_policy import Lanes, Observed
from league.policies.layout import FloatArray, PolicyConfig, describe
from league.policies.module_policy import make_policy
from league.policies.network_actor import Bystanders, NetworkActor, Places
from league.spec import EnvSpec


class TorchActor(NetworkActor):
    """A network on a device, in inference mode.

    actor = TorchActor(config, spec, flat, device="cuda")
    outputs = actor.outputs(observation, place, memory)
    """

    def __init__(
        self,
        config: PolicyConfig,
        spec: EnvSpec,
        flat: FloatArray,
        greedy: bool = False,
        frozen: bool = False,
        device: str = "cpu",
    ) -> None:
        super().__init__(config, spec, greedy)
        self._take_beside(describe(config, spec).views(np.array(flat)), frozen)
        self._device, self._frozen = device, frozen
        self._sees_place = self.foreign or config.agent_id
        self._sees_team = self.foreign and config.head == "logits"  # replays do not hold who else was there
        self._policy = make_policy(config, spec)
        self._policy.write(flat)
        self._policy.to(device)
        self._policy.settle()

    @torch.inference_mode()
    def outputs(
        self,
        observation: npt.NDArray[Any],
        place: Places | None = None,
        memory: FloatArray | None = None,
        beside: Bystanders | None = None,
    ) -> FloatArray:
        """Return logits and means of each row; `memory` is updated in place."""
        outputs, after = self._policy.logits(self._seen(observation, place, memory, beside))
        if memory is not None and after is not None:
            memory[:] = after.cpu().numpy()
        found: FloatArray = outputs.float().cpu().numpy()
        return found

    def explore(
        self,
        observation: npt.NDArray[Any],
        rng: np.random.Generator,
        place: Places | None = None,
        memory: FloatArray | None = None,
        beside: Bystanders | None = None,
    ) -> FloatArray:
        """Return the outputs of each row with its own noise, if the network is noisy and not frozen."""
        if not self._frozen:
            self._policy.sample_noise(rng, len(observation))
        found = self.outputs(observation, place, memory, beside)
        self._policy.drop_noise()
        return found

    @torch.inference_mode()
    def values(
        self, observation: npt.NDArray[Any], place: Places, memory: FloatArray | None, beside: Bystanders
    ) -> FloatArray:
        """Return the value of each row; the memory stays as it is."""
        found: FloatArray = self._policy.values(self._seen(observation, place, memory, beside))[0].float().cpu().numpy()
        return found

    def _seen(
        self,
        observation: npt.NDArray[Any],
        place: Places | None,
        memory: FloatArray | None,
        beside: Bystanders | None,
    ) -> Observed:
        return Observed(
            self._tensor(observation),
            None if place is None or not self._sees_place else self._tensor(place.astype(np.int64)),
            lanes=None if memory is None or not self.memory else self._lanes(memory),
            mask=None if beside is None or not self.foreign else self._tensor(beside.mask),
            team=None if beside is None or beside.team is None or not self._sees_team else self._tensor(beside.team),
        )

    def _tensor(self, array: npt.NDArray[Any]) -> torch.Tensor:
        if not array.flags.writeable:
            array = array.copy()  # arrays from the wire are read-only, which torch does not know
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)

    def _lanes(self, memory: FloatArray) -> Lanes:
        one_decision = torch.ones((len(memory), 1, 1), dtype=torch.bool, device=self._device)
        return Lanes(present=one_decision, restart=~one_decision, memory=self._tensor(memory[:, None]))
