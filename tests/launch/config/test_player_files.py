import numpy as np
import pytest
from packed import packed

import ludus
from collectors.envs.config import EnvConfig
from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.config.player_files import ZOO, differences_to, player_path, zoo_files
from launch.config.start_weights import check_weights, find_weights, with_hashes
from league.store.player_file import read_player
from league.store.snapshots import SnapshotStore


def test_options_of_the_environment_matter_and_how_it_is_rendered_does_not(tmp_path):
    env = EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 5})
    card = read_player(packed(tmp_path / "p", env)).card
    assert list(differences_to(card, env, card.spec)) == []
    rendered = EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 5, "render_mode": "ansi"})
    assert list(differences_to(card, rendered, card.spec)) == []
    other = EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 7})
    assert list(differences_to(card, other, card.spec)) == [
        'env.kwargs is {"max_cycles": 5} in the file and {"max_cycles": 7} here'
    ]


# --- the zoo -------------------------------------------------------------------------------------------------

PLAYERS = [
    "connect_four/medium", "connect_four/strong", "connect_four/weak", "leduc/main", "rock_paper_scissors/main",
    "simple_tag/adversary", "simple_tag/agent", "tic_tac_toe/main",
]  # fmt: skip


def test_the_zoo_is_whole_small_and_says_how_it_was_made():
    assert list(zoo_files()) == [f"zoo:{name}" for name in PLAYERS]
    assert sum(path.stat().st_size for path in zoo_files().values()) < 6_000_000
    for name, path in zoo_files().items():
        card = read_player(path).card
        assert card.note.startswith("ludus run "), name
        assert "; ludus pack " in card.note, name
        assert card.provenance.rating is not None, name
        assert card.licence == "Apache-2.0", name
        ludus.load(path)


def test_the_three_strengths_of_connect_four_are_three():
    cards = [read_player(player_path(f"zoo:connect_four/{name}")).card for name in ("weak", "medium", "strong")]
    ratings = [card.provenance.rating.rating for card in cards]
    assert ratings[0] + 100 < ratings[1] < ratings[2] - 100


def test_a_name_of_the_zoo_stands_for_a_file(tmp_path):
    player = ludus.load("zoo:tic_tac_toe/main", greedy=True)
    board = np.zeros((3, 3, 2), np.int8)
    board[0, :2, 0] = board[1, :2, 1] = 1  # it has two in a row, and so has the other
    mask = np.ones(9, np.int8)
    mask[(board.sum(axis=2).reshape(-1) > 0)] = 0
    assert player.act(board, mask) in np.flatnonzero(mask)
    with pytest.raises(ConfigError, match="did you mean zoo:connect_four/strong"):
        player_path("zoo:connect_four/stron")
    with pytest.raises(ConfigError, match="there is no zoo:"):
        player_path("zoo:../../secret")
    assert ZOO.is_dir()


def test_anchors_of_the_zoo_join_leagues_of_their_game(tmp_path):
    config = compose(["env=connect_four", "+anchors=zoo", "name=x"])
    found = find_weights(config, SnapshotStore(tmp_path / "store"))
    check_weights(found, config, read_player(player_path("zoo:connect_four/weak")).card.spec)
    players = with_hashes(config, found).league.players
    anchors = {name: player.anchor for name, player in players.items() if name.startswith("zoo_")}
    assert list(anchors) == ["zoo_medium", "zoo_strong", "zoo_weak"]
    assert anchors["zoo_weak"] < anchors["zoo_medium"] < anchors["zoo_strong"]
    with pytest.raises(ConfigError, match="the zoo has no players of disc"):
        compose(["env=disc", "+anchors=zoo"])
