"""From the config of an environment to the tree of its game, if it is a small zero-sum game of two players.

tree = enumerate_game(EnvConfig(name="openspiel", id="leduc_poker"), whole=True)
"""

from collections.abc import Collection
from dataclasses import replace

from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.game_tree import LIMIT, EnumerationError, GameTree
from collectors.envs.position_tree import POSITIONS, enumerate_positions, shows_positions
from collectors.envs.rows import Environment
from league.spec import EnvSpec

PROBE = "Train a best response instead: ludus probe"


def enumerate_game(
    config: EnvConfig, *, whole: bool, ticks: int | None = None, allow: Collection[str] = ()
) -> GameTree:
    """Return the tree of a game; raise EnumerationError, in one line, if there is none.

    `whole` keeps positions apart that continue alike: players with a memory, and mixtures, need it. `ticks` cuts a
    repeated game after so many rounds.
    """
    config = replace(config, outcome=None, draw_margin=0.0)  # who won plays no part, only returns do
    env = make_environment(config, 1, allow)
    try:
        spec, open_positions = env.spec, shows_positions(env)
    finally:
        env.close()
    _check(spec)
    if ticks is not None and not open_positions:
        raise EnumerationError(f"{spec.name} has no rounds to choose from: only native games can be cut after some")
    if config.name == "openspiel":
        from collectors.envs.adapters.openspiel import builder
        from collectors.envs.adapters.openspiel_tree import enumerate_openspiel

        return enumerate_openspiel(builder(config.id, config.kwargs, tuple(allow))(), LIMIT)
    if not open_positions:
        raise EnumerationError(
            f"{spec.name} cannot be enumerated: only OpenSpiel games and native board and matrix games can. {PROBE}"
        )
    return _native(config, whole, ticks, allow)


def _native(config: EnvConfig, whole: bool, ticks: int | None, allow: Collection[str]) -> GameTree:
    def make(slots: int) -> Environment:
        return make_environment(config, slots, allow)

    tree = enumerate_positions(make, merge=not whole, ticks=ticks, limit=POSITIONS)
    if not tree.reward.any():
        raise EnumerationError(f"{tree.name} pays nothing in its first {ticks} rounds; choose more, or all")
    return tree


def _check(spec: EnvSpec) -> None:
    """Refuse games that are not between two players with one agent each."""
    if len(spec.agents) != 2 or [seat.agents for seat in spec.seats] != [(0,), (1,)] or len(set(spec.sides)) != 2:
        raise EnumerationError(f"{spec.name} is not a game of one against one, so it has no NashConv. {PROBE}")
    if not spec.single:
        raise EnumerationError(f"{spec.name} has actions of several parts or continuous ones. {PROBE}")
