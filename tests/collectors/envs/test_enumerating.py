import pytest

from collectors.envs.config import EnvConfig
from collectors.envs.enumerating import enumerate_game
from collectors.envs.game_tree import EnumerationError


@pytest.mark.parametrize(
    ("config", "positions"),
    [
        (EnvConfig(name="openspiel", id="kuhn_poker"), 58),
        (EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 1}), 13),
        (EnvConfig(name="tic_tac_toe"), 7382),
        (EnvConfig(name="disc", draw_margin=0.1), 241),
    ],
)
def test_small_games_become_trees(config, positions):
    assert enumerate_game(config, whole=False).size == positions


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (EnvConfig(name="simple_tag"), "simple_tag is not a game of one against one"),
        (EnvConfig(name="two_step"), "two_step is not a game of one against one"),
        (EnvConfig(name="pettingzoo", id="classic/rps_v2"), "classic/rps_v2 cannot be enumerated"),
        (EnvConfig(name="openspiel", id="leduc_poker", kwargs={"players": 3}), "not a game of one against one"),
    ],
)
def test_other_games_are_refused_in_a_line_that_names_the_probe(config, reason):
    with pytest.raises(EnumerationError, match=f"{reason}.*ludus probe") as caught:
        enumerate_game(config, whole=False)
    assert "\n" not in str(caught.value)


def test_only_games_in_arrays_are_cut_after_some_rounds():
    with pytest.raises(EnumerationError, match="kuhn_poker has no rounds to choose from"):
        enumerate_game(EnvConfig(name="openspiel", id="kuhn_poker"), whole=True, ticks=1)
    with pytest.raises(EnumerationError, match="tic_tac_toe pays nothing in its first 2 rounds"):
        enumerate_game(EnvConfig(name="tic_tac_toe"), whole=True, ticks=2)
