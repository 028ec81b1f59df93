"""A player leaves its run, and plays elsewhere as it did there."""

import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from packed import packed

from collectors.envs.adapters.translator import ObservationError
from collectors.envs.config import EnvConfig
from collectors.players.loaded_player import load_player
from launch.packing.packing import PackError, pack
from launch.viewers.view import ViewError
from league.store.player_file import read_player
from league.store.snapshots import SnapshotStore

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_packed_player_knows_where_it_comes_from(played, tmp_path):
    run, state = played
    card = read_player(pack(run, "main", tmp_path / "m.safetensors", licence="MIT", note="by hand")).card
    newest = state.candidates["main"]
    assert (card.snapshot, card.licence, card.note) == (newest.snapshot, "MIT", "by hand")
    origin = card.provenance
    assert (origin.run, origin.env_steps, origin.seed) == ("first", state.env_steps, state.seed)
    assert origin.rating.low <= origin.rating.rating <= origin.rating.high
    assert [(a.player, a.rating, a.bot) for a in origin.rating.anchors] == [("random", 0.0, "random")]
    assert origin.line[0].snapshot == SnapshotStore(run.snapshots).get(newest.snapshot).manifest.parent
    assert origin.event == msgspec.json.decode(msgspec.json.encode(card))["provenance"]["event"] > 0


def test_frozen_players_can_be_packed_and_bots_cannot(played, tmp_path):
    run, state = played
    frozen = state.population.frozen()[0]
    assert read_player(pack(run, frozen.id, tmp_path / "f")).card.snapshot == frozen.snapshot
    with pytest.raises(PackError, match="only a player with weights"):
        pack(run, "random", tmp_path / "r")
    with pytest.raises(ViewError, match="no player 'mian'; did you mean 'main'"):
        pack(run, "mian", tmp_path / "r")


def test_the_aec_example_plays(played, tmp_path):
    path = pack(played[0], "main", tmp_path / "m.safetensors")
    assert "main returns" in _run("packed_player_aec.py", path)


def test_the_parallel_example_plays(tmp_path):
    path = packed(tmp_path / "m.safetensors", EnvConfig(name="pettingzoo", id="classic/rps_v2"))
    assert "player_0 returns" in _run("packed_player_parallel.py", path)


def _run(example, path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / example, path], capture_output=True, text=True, cwd=path.parent, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_packed_again_it_keeps_its_licence_and_note_unless_others_are_given(played, tmp_path):
    run, path = played[0], tmp_path / "m.safetensors"
    pack(run, "main", path, licence="MIT", note="by hand")
    card = read_player(pack(run, "main", path)).card
    assert (card.licence, card.note) == ("MIT", "by hand")
    card = read_player(pack(run, "main", path, note="")).card
    assert (card.licence, card.note) == ("MIT", "")
    other = read_player(pack(run, "main.0", path)).card
    assert (other.player, other.licence) == ("main.0", ""), "another player has its own"
    path.write_bytes(path.read_bytes()[:-5])
    assert read_player(pack(run, "main", path)).card.licence == ""


def test_a_card_says_that_a_game_has_illegal_actions(played, tmp_path):
    path = pack(played[0], "main", tmp_path / "m.safetensors")
    assert read_player(path).card.masks
    player, board = load_player(path), np.zeros((3, 3, 2), np.int8)
    for use in (player.act, player.probabilities):
        with pytest.raises(ObservationError, match=r"there is no mask, but .* has illegal actions: give one of 0"):
            use(board)
    assert player.act(board, np.eye(9)[4]) == 4
    assert np.isfinite(player.value(board)), "a value needs none"


def test_a_mask_beside_the_observation_is_found_in_the_spaces(tmp_path):
    path = packed(tmp_path / "p", EnvConfig(name="pettingzoo", id="classic/tictactoe_v3"))
    with pytest.raises(ObservationError, match="there is no mask"):
        load_player(path).act(np.zeros((3, 3, 2), np.int8))
