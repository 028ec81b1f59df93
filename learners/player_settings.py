"""The settings of one learning player: its network and its algorithm. Made once from the config, and handed on."""

from dataclasses import dataclass

from league.policies.layout import PolicyConfig
from learners.algorithms.config import AlgoConfig
from learners.algorithms.replay_config import ReplayConfig


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """The network of a player and the algorithm that trains it.

    settings = settings_of(config)          # launch.config.config: a league.per_player.PerPlayer
    settings["main"].policy, settings["main"].algo
    """

    policy: PolicyConfig
    algo: AlgoConfig

    @property
    def replays(self) -> bool:
        """Whether the player learns from a replay."""
        return isinstance(self.algo, ReplayConfig)
