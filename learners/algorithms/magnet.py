"""The magnet: a policy towards which training pulls, so that self-play settles instead of going round in circles.

    loss = loss of the algorithm + magnet_coef * mean(KL(policy || magnet))

`algo.magnet` names it: `uniform` over the legal actions, a `copy` of the player's own weights that is refreshed every
`algo.magnet_every` updates, or the file of a player with the same network. With the uniform magnet this is magnetic
mirror descent (Sokolov et al. 2023, learners.algorithms.mmd); with a refreshed copy every period solves a regularised
game that begins where the last one ended (learners.algorithms.rnad).

With a file it is a *teacher*, as AlphaStar's policy learned from humans (Vinyals et al. 2019), for which
`algo.magnet_divergence=forward` turns the divergence round: KL(magnet || policy) is large wherever the policy gives up
something that the teacher does, while KL(policy || magnet) is large where it does what the teacher would not.

Legend of shapes: see learners.decisions.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from league.policies.distribution import Distribution, distribution
from league.policies.flat_policy import FlatPolicy, Observed
from league.policies.layout import FloatArray, PolicyConfig, policy_from
from league.policies.module_policy import make_policy
from league.spec import EnvSpec
from league.store.player_file import is_player, read_player
from league.store.snapshots import read_snapshot
from learners.algorithms.algorithm import State
from learners.algorithms.config import ActorCriticConfig

UNIFORM_LOG_STD = 0.5 * np.log(np.pi**2 / 12)  # of atanh(a) for a uniform between -1 and 1

FLAT, UPDATES = "magnet_flat", "magnet_updates"


class Magnet:
    """The magnet of one player.

    magnet = Magnet(config, policy, spec, flat)
    pull_B = magnet.pull(actions, magnet.judge(seen, mask_BN))
    magnet.follow(flat)                                  # after each update
    """

    def __init__(self, config: ActorCriticConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray) -> None:
        self._spec, self._every, self._forward = spec, config.magnet_every, config.magnet_divergence == "forward"
        self._moves = config.magnet == "copy"
        self._network: FlatPolicy | None = None
        self._updates = 0
        if config.magnet != "uniform":
            self._network = make_policy(policy, spec)
            self._network.write(flat if self._moves else _weights_in(Path(config.magnet), policy, spec))

    def to(self, device: torch.device) -> "Magnet":
        """Move it to a device."""
        if self._network is not None:
            self._network.to(device)
        return self

    @torch.no_grad()
    def judge(self, seen: Observed, mask_BN: Tensor) -> Distribution:
        """Return what the magnet would do."""
        if self._network is not None:
            return self._network.judge(seen, mask_BN).actions
        outputs = torch.zeros(len(mask_BN), self._spec.actions + self._spec.continuous, device=mask_BN.device)
        log_std = outputs.new_full((self._spec.continuous,), UNIFORM_LOG_STD)
        return distribution(self._spec, outputs, mask_BN, log_std)

    def pull(self, actions: Distribution, magnet: Distribution) -> Tensor:
        """Return the divergence of each decision, in the direction that the config says."""
        return magnet.divergence(actions) if self._forward else actions.divergence(magnet)

    def follow(self, flat: FloatArray) -> None:
        """Count an update; a copy takes over these weights when it is due."""
        self._updates += 1
        if self._moves and self._network is not None and self._updates % self._every == 0:
            self._network.write(flat)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return what a checkpoint must hold: nothing, unless the magnet moves."""
        if not self._moves or self._network is None:
            return {}
        return {FLAT: self._network.read(), UPDATES: np.array(self._updates, np.int64)}

    def restore(self, state: State) -> None:
        """Continue from a state."""
        if self._moves and self._network is not None:
            self._network.write(state[FLAT])
            self._updates = int(state[UPDATES])


def _weights_in(path: Path, policy: PolicyConfig, spec: EnvSpec) -> FloatArray:
    """Return the weights in the file of a player with the same network: a snapshot, or a packed player."""
    snapshot = read_player(path).snapshot if is_player(path) else read_snapshot(path)[1]
    if (policy_from(snapshot.manifest.policy), snapshot.manifest.signature) != (policy, spec.signature):
        raise ValueError(
            f"algo.magnet={path}: the snapshot has policy {snapshot.manifest.policy} and environment signature "
            f"{snapshot.manifest.signature}, the player has {policy} and {spec.signature}. Name a snapshot of the same "
            "network and environment."
        )
    flat: FloatArray = snapshot.arrays["flat"]
    return flat
