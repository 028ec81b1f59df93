"""Whom players imitate: whether their data sets and experts fit the environment of a league.

check_imitation(player.algo, config.env, spec, allow)       # raises ConfigError, with the difference
"""

from collections.abc import Collection
from pathlib import Path

import msgspec

from collectors.envs.config import EnvConfig
from collectors.players.scripted import make_bot
from launch.config.config import ConfigError
from launch.config.player_files import unlike_environments
from league.errors import LudusError
from league.spec import EnvSpec
from league.store.game_file import read_games
from learners.algorithms.bc_config import BCConfig
from learners.algorithms.config import AlgoConfig, is_player_file
from learners.algorithms.dagger_config import DAggerConfig


def check_imitation(algo: AlgoConfig, env: EnvConfig, spec: EnvSpec, allow: Collection[str] = ()) -> None:
    """Refuse a data set of another environment, and an expert that nobody knows or that cannot play this one."""
    if isinstance(algo, BCConfig) and algo.data:
        card = next(read_games(Path(algo.data))).card
        unlike = list(unlike_environments(card.env, msgspec.to_builtins(env), "in the data", "here"))
        if unlike:
            raise ConfigError(f"algo.data={algo.data}: these games are of another environment: {'; '.join(unlike)}")
    if isinstance(algo, DAggerConfig) and not is_player_file(algo.expert):
        try:
            make_bot(algo.expert, spec, allow)
        except (LudusError, ValueError) as error:
            raise ConfigError(f"algo.expert={algo.expert}: there is no such file, and {error}") from error
