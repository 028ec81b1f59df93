import sys

import numpy as np
import pytest
from PIL import Image

from collectors.envs.config import EnvConfig
from collectors.episode import play
from launch.cli import main
from launch.matches.match import PICTURE, TEXT, open_environment
from launch.matches.recording import Film, RecordError, _pictures, encoder, record, text_picture
from league.ticket import Entry, Purpose, Ticket


def test_episodes_between_two_players_become_videos(run, tmp_path):
    paths = record(run, ("main", "random"), Film(episodes=2, seed=3), tmp_path)
    assert [path.name for path in paths] == ["main-random-3-0.gif", "main-random-3-1.gif"]
    with Image.open(paths[0]) as video:
        assert 6 <= video.n_frames <= 11  # tic-tac-toe has 5 to 9 moves, the first position and the outcome
    again = record(run, ("main", "random"), Film(episodes=2, seed=3), tmp_path / "again")
    assert [p.read_bytes() for p in again] == [p.read_bytes() for p in paths], "the same seed is the same game"


def test_a_pettingzoo_environment_draws_itself():
    env = open_environment(EnvConfig(name="pettingzoo", id="classic/tictactoe_v3"), (), (PICTURE, TEXT))
    env.start(np.array([0]), np.array([1]))
    picture = env.picture(0)
    assert picture.ndim == 3
    assert picture.shape[2] == 3
    assert picture.dtype == np.uint8
    assert len(np.unique(picture)) > 1
    env.close()


def test_an_environment_that_renders_nothing_but_text_is_drawn_from_it():
    env = open_environment(EnvConfig(name="pettingzoo", id="odd_envs:Typed"), ["odd_envs"], (PICTURE, TEXT))
    ticket = Ticket(number=0, purpose=Purpose.EVALUATE, entries=(Entry("a"), Entry("b")), episodes=1)

    def zeros(rows, entry):
        return np.zeros(len(rows), np.int32)

    first, *pictures = _pictures(env, ticket, play(env, ticket, 0, 1, zeros))
    assert len(pictures) == 7
    assert env.picture(0) is None
    assert env.render(0) == "\x1b[31mtick\x1b[0m 6"
    assert np.array_equal(first, text_picture(["a v b", "odd_envs:Typed", "", "tick 0"])), "without the colours"
    env.close()


def test_text_is_drawn():
    picture = text_picture(["X . O", "wins"])
    assert picture.shape[2] == 3
    assert picture.min() < 100 < picture.max()


def test_a_missing_codec_is_told_in_one_line_before_anything_is_played(run, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert main(["record", str(run.root), "main", "random", "--format", "mp4"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "no codec for mp4" in said
    assert "--format gif" in said
    assert not (run.root / "videos").exists()


def test_what_cannot_be_recorded(run):
    with pytest.raises(RecordError, match="at least 1 episode"):
        Film(episodes=0)
    with pytest.raises(RecordError, match="unknown format 'avi'"):
        encoder("avi")
    with pytest.raises(ValueError, match="there is no player 'mian'; did you mean 'main'"):
        record(run, ("mian", "random"), Film())


def test_mp4_where_there_is_a_codec(run, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    (path,) = record(run, ("main", "random"), Film(kind="mp4"), tmp_path)
    assert path.read_bytes()[4:8] == b"ftyp"
