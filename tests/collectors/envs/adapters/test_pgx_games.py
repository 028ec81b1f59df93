"""The table of Pgx's games: what a config may name, and the shapes that specs are made of."""

import numpy as np
import pytest
from driving import open_env

from collectors.envs.adapters.pgx import keys_of
from collectors.envs.adapters.pgx_games import GAMES, find_game
from league.plugins import PluginError


def test_only_the_games_of_the_list_have_ids():
    with pytest.raises(PluginError, match=r"unknown Pgx game 'os:system'\. Known: 2048, animal_shogi, "):
        open_env("pgx", "os:system")
    with pytest.raises(PluginError, match="unknown Pgx game 'bridge_bidding'"):  # it reads a data set from a file
        find_game("bridge_bidding")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"kwargs": {"size": 19}},
            "a game of Pgx has no option 'size'; there are env.max_steps, env.kwargs.device and env.kwargs.threads",
        ),
        ({"kwargs": {"max_steps": 0}}, "env.max_steps must be a whole number from 1 on, got 0"),
        ({"kwargs": {"max_steps": "9"}}, "env.max_steps must be a whole number from 1 on, got '9'"),
        ({"kwargs": {"threads": 0}}, "env.kwargs.threads must be a whole number from 1 to 1024, got 0"),
        ({"kwargs": {"device": "cuda"}}, "env.kwargs.device must be cpu, gpu or tpu, or one of several such as gpu:1"),
        ({"state": True}, "go_9x9: games of Pgx have no state for critics; leave out env.state"),
        ({"wrappers": ["supersuit:frame_stack_v1"]}, "games of Pgx take no wrappers"),
    ],
)
def test_other_options_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        open_env("pgx", "go_9x9", **settings)


def test_seats_follow_the_config():
    spec = open_env("pgx", "sparrow_mahjong", seats=[["player_0", "player_1"], ["player_2"]]).spec
    assert [seat.agents for seat in spec.seats] == [(0, 1), (2,)]


@pytest.mark.slow
def test_the_table_lists_every_game_with_its_shape():
    import jax
    import pgx

    assert set(GAMES) == set(pgx.available_envs())
    for id, game in GAMES.items():
        env = pgx.make(id)
        state = jax.eval_shape(env.init, jax.ShapeDtypeStruct((2,), np.uint32))
        dtype = "bool" if state.observation.dtype == bool else "float32"
        shape = (state.observation.shape, *state.legal_action_mask.shape, env.num_players, dtype)
        assert shape == (game.observation, game.actions, game.players, game.dtype), id


@pytest.mark.slow
@pytest.mark.parametrize("id", [id for id, game in GAMES.items() if not game.chance])
def test_games_that_deal_nothing_begin_alike(id):
    """Only who is who differs, for which the adapter has its own numbers."""
    import jax
    import pgx

    states = jax.jit(jax.vmap(pgx.make(id)._init))(keys_of(np.arange(6)))  # without views, which take long to compile
    coin = {"current_player", "_player_order"}
    tossed = set()
    for field in type(states).__dataclass_fields__:
        same = jax.tree.map(lambda leaf: bool(np.all(leaf == leaf[:1])), getattr(states, field))
        if not all(jax.tree.leaves(same)):
            tossed.add(field)
    assert tossed <= coin
    assert tossed  # six coins did not all fall on the same side
