import numpy as np
import pytest
from small_games import spiel_tree

from collectors.envs.adapters.openspiel import builder
from collectors.envs.adapters.openspiel_tree import enumerate_openspiel, estimated_size
from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.game_tree import EnumerationError, TooLargeError


@pytest.mark.parametrize(
    ("id", "positions", "sets"), [("kuhn_poker", 58, 12), ("leduc_poker", 9457, 936), ("matrix_rps", 13, 2)]
)
def test_games_have_their_known_size(id, positions, sets):
    tree = spiel_tree(id)
    assert (tree.size, len(tree.sets)) == (positions, sets)


@pytest.mark.parametrize("id", ["kuhn_poker", "leduc_poker", "matrix_rps", "goofspiel(num_cards=3,imp_info=True)"])
def test_sets_hold_exactly_what_collectors_give_to_networks(id):
    sets, env = spiel_tree(id).sets, make_environment(EnvConfig(name="openspiel", id=id), 64)
    known = {
        (int(seat), seen.tobytes()): mask.tolist()
        for seat, seen, mask in zip(sets.seat, sets.observation, sets.mask, strict=True)
    }
    assert sets.observation.dtype == env.spec.observation.dtype
    assert sets.observation.shape[1:] == env.spec.observation.shape
    assert sets.mask.shape[1] == env.spec.actions
    rng, met = np.random.default_rng(0), 0
    env.start(np.arange(64), rng.integers(0, 2**31, 64))
    while len(rows := env.rows()):
        for agent, seen, mask in zip(rows.agent, rows.observation, rows.mask, strict=True):
            assert known[int(agent), seen.tobytes()] == mask.tolist()
            met += 1
        env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in rows.mask], np.int32))
    assert met >= 128


def test_observations_may_hide_what_a_player_remembers():
    tree = enumerate_openspiel(builder("kuhn_poker", {"observation": "observation"})())
    assert len(tree.sets) == 12
    assert tree.sets.observation.shape[1:] == (7,)


def test_a_large_game_is_refused_at_once_with_its_size_and_the_limit():
    with pytest.raises(
        TooLargeError, match=r"connect_four has about 10\^\d\d positions, .* at most 1,000,000. .* probe"
    ):
        enumerate_openspiel(builder("connect_four")())
    with pytest.raises(TooLargeError, match=r"chess has more than 10\^300 positions"):
        enumerate_openspiel(builder("chess")())
    with pytest.raises(TooLargeError, match="leduc_poker has more than 5,000 positions"):
        enumerate_openspiel(builder("leduc_poker")(), limit=5000)


def test_the_estimate_of_a_size_has_its_order_of_magnitude():
    assert 3000 < estimated_size(builder("leduc_poker")()) < 30_000


@pytest.mark.parametrize("id", ["leduc_poker(players=3)", "matrix_pd", "tiny_hanabi"])
def test_games_without_a_nash_conv_are_refused(id):
    with pytest.raises(EnumerationError, match=r"not a zero-sum game of two players.*ludus probe"):
        enumerate_openspiel(builder(id)())
