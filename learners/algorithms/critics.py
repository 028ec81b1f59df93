"""Critics that only the learner has: what actions are worth, for algorithms whose players act by another network.

They are trained with the player but not needed to act, so snapshots do not contain them: a player that starts from a
snapshot, and not from its checkpoint, starts with fresh critics.

Legend of shapes: B decisions, C critics, X inputs, A numbers of an action, N options (1 if an action is an input).
"""

import math
from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from league.policies.flat_policy import FlatPolicy, Observed
from league.policies.layout import PolicyConfig, initial, team_size
from league.policies.module_policy import make_policy
from league.spec import EnvSpec

WIDTH = 128  # numbers that convolutions pass on, if the policy has no hidden layers


class Critics(nn.Module):
    """Several critics with layers like those of the policy, and weights of their own; they run at once.

    critics = Critics(policy, spec, count=2, rng=rng)
    value_CBN = critics(observed)                   # of each option, if an action is one choice
    value_CBN = critics(observed, action_BA)        # of continuous actions: N is 1

    Critics of images and boards share their convolutions.
    """

    def __init__(self, policy: PolicyConfig, spec: EnvSpec, count: int, rng: np.random.Generator) -> None:
        super().__init__()
        self._count, self._team = count, team_size(spec) if policy.agent_id else 0
        width, units = spec.observation.size + self._team, list(policy.hidden)
        self._encoder: FlatPolicy | None = None
        if policy.name != "mlp":
            width = units[-1] if units else WIDTH
            self._encoder, units = _encoder(policy, spec, width, rng), [width]
        sizes = [width + spec.continuous, *units, 1 if spec.continuous else spec.actions]
        self._weights, self._biases = nn.ParameterList(), nn.ParameterList()
        for inputs, outputs in pairwise(sizes):
            limit = 1 / math.sqrt(inputs)
            for shape, layers in (((inputs, outputs), self._weights), ((1, outputs), self._biases)):
                values = rng.uniform(-limit, limit, (count, *shape)).astype(np.float32)
                layers.append(nn.Parameter(torch.from_numpy(values)))

    def forward(self, seen: Observed, action: Tensor | None = None) -> Tensor:
        """Return what each critic thinks of each action: [C, B, N]."""
        inputs_BX = self._encoded(seen)
        if action is not None:
            inputs_BX = torch.cat((inputs_BX, action), dim=1)
        x_CBX = inputs_BX.expand(self._count, *inputs_BX.shape)
        *layers, (weight, bias) = zip(self._weights, self._biases, strict=True)
        for one, offset in layers:
            x_CBX = torch.baddbmm(offset, x_CBX, one).relu()
        return torch.baddbmm(bias, x_CBX, weight)

    def _encoded(self, seen: Observed) -> Tensor:
        if self._encoder is not None:
            return self._encoder.outputs(seen)[0].relu()
        flat_BX = seen.observation.flatten(1).float()
        if not self._team:
            return flat_BX
        place_B = seen.place if seen.place is not None else flat_BX.new_zeros(len(flat_BX), dtype=torch.long)
        return torch.cat((flat_BX, functional.one_hot(place_B, self._team)), dim=1)


def _encoder(policy: PolicyConfig, spec: EnvSpec, width: int, rng: np.random.Generator) -> FlatPolicy:
    """Return the layers of the policy, with fresh weights, that output `width` numbers for each decision."""
    config = replace(policy, head="logits", critic="none", deviation="constant")
    wide = msgspec.structs.replace(spec, actions=width, choices=(), continuous=0)
    encoder = make_policy(config, wide)
    flat = initial(config, wide, int(rng.integers(2**31)))
    encoder.layout.views(flat)["policy.weight"][:] *= 100 * math.sqrt(2)  # else it is small, as for a policy
    encoder.write(flat)
    return encoder
