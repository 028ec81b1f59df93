"""Whom players imitate: whether their data sets and experts fit the environment of a league.

deciders = cache(lambda data: deciders_of(data, config.env, spec, progress))     # several players may imitate one
check_imitation(player.algo, spec, deciders, allow)                     # raises an InputError, with the difference
"""

from collections.abc import Callable, Collection
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
from learners.lessons import refuse_nobody, refuse_unfit, who_decides


def deciders_of(data: str, env: EnvConfig, spec: EnvSpec, progress: Callable[[str], None]) -> list[str]:
    """Read a whole data set; return whose decisions it has. Raise an InputError unless a learner can read all of it."""
    here, names, decisions = msgspec.to_builtins(env), dict[str, None](), 0
    for games in read_games(Path(data)):
        unlike = list(unlike_environments(games.card.env, here, "in the data", "here"))
        if unlike:
            raise ConfigError(f"algo.data={data}: these games are of another environment: {'; '.join(unlike)}")
        refuse_unfit(games, spec, data)
        names |= dict.fromkeys(who_decides(games))
        decisions += len(games.action)
        progress(f"algo.data={data}: {decisions:,} decisions")
    return list(names)


def check_imitation(
    algo: AlgoConfig, spec: EnvSpec, deciders: Callable[[str], Collection[str]], allow: Collection[str] = ()
) -> None:
    """Refuse a data set that cannot be learned from, and an expert that nobody knows or that cannot play this game."""
    if isinstance(algo, BCConfig) and algo.data:
        refuse_nobody(algo.data, deciders(algo.data), algo.players)
    if isinstance(algo, DAggerConfig) and not is_player_file(algo.expert):
        try:
            make_bot(algo.expert, spec, allow)
        except (LudusError, ValueError) as error:
            raise ConfigError(f"algo.expert={algo.expert}: there is no such file, and {error}") from error
