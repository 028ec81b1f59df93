from dataclasses import replace

import msgspec
import numpy as np
import pytest
from board_spec import board

from league.spec import Array
from league.store.game_file import ARRAYS, GameFileError, Games, GamesCard, read_games, write_games


def games(**changes):
    card = GamesCard(run="r", env={}, spec=board(), players=("a", "b"), snapshots=("", "bot:random"))
    found = Games(
        card=card,
        episode=np.array([0, 0, 1], np.int32),
        agent=np.array([0, 1, 0], np.int16),
        player=np.array([0, 1, 1], np.int32),
        observation=np.zeros((3, 6, 7, 2), np.int8),
        mask=np.ones((3, 7), np.bool_),
        action=np.array([1, 2, 3], np.int32),
        reward=np.array([0, 1, -1], np.float32),
        last=np.array([True, True, True]),
        truncated=np.zeros(3, np.bool_),
        ticket=np.array([4, 5], np.int64),
        number=np.array([0, 1], np.int32),
        training=np.array([False, True]),
        players=np.array([[0, 1], [1, 0]], np.int32),
        returns=np.array([[1, -1], [0, 0]], np.float32),
        ranks=np.array([[0, 1], [0, 0]], np.int16),
    )
    return replace(found, **changes)


def test_games_come_back_as_they_were(tmp_path):
    for number in (1, 0):
        write_games(tmp_path / f"games-{number:05}.safetensors", games(ticket=np.array([number, 9])))
    found = list(read_games(tmp_path))
    assert [one.ticket[0] for one in found] == [0, 1], "in the order of files"
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found[0], name), getattr(games(ticket=np.array([0, 9])), name))
    assert found[0].card == games().card
    assert len(found[0]) == 2
    assert len(list(read_games(tmp_path / "games-00001.safetensors"))) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"player": np.array([0, 1, 2], np.int32)}, "player has numbers that are none of 2"),
        ({"episode": np.array([0, -1, 0], np.int32)}, "episode has numbers"),
        ({"players": np.array([[0, 1], [1, 2]], np.int32)}, "players has numbers that are none of 2"),
        ({"episode": np.array([0, 1, 0], np.int32)}, "episode does not ascend"),
        ({"reward": np.array([0, np.inf, 0], np.float32)}, "reward holds NaN or infinity"),
        ({"returns": np.array([[0, np.nan], [0, 0]], np.float32)}, "returns holds NaN"),
        ({"players": np.array([0, 1], np.int32)}, r"players is int32 \(2,\), .* need int32 \(2, 2\)"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(changes, said, tmp_path):
    write_games(tmp_path / "games-00000.safetensors", games(**changes))
    with pytest.raises(GameFileError, match=said) as caught:
        list(read_games(tmp_path))
    assert "\n" not in str(caught.value)


def test_every_array_has_its_own_type_and_shape(tmp_path):
    path = tmp_path / "games-00000.safetensors"
    for name in ARRAYS:
        array = getattr(games(), name)
        others = [array[..., None], array[:1], array[:, 1:] if array.ndim > 1 else array[None]]
        for wrong in (*others, array.astype("float64"), array.astype("uint8")):
            write_games(path, games(**{name: wrong}))
            with pytest.raises(GameFileError, match=r"the array .* the card and the other arrays need"):
                list(read_games(path))


def test_observations_that_are_no_numbers_are_refused(tmp_path):
    shape = Array((2,), "float32")
    card = msgspec.structs.replace(games().card, spec=msgspec.structs.replace(board(), observation=shape))
    for broken in (np.nan, -np.inf):
        observation = np.zeros((3, 2), np.float32)
        write_games(tmp_path / "games-00000.safetensors", games(card=card, observation=observation))
        assert len(list(read_games(tmp_path))) == 1
        observation[2, 1] = broken
        write_games(tmp_path / "games-00000.safetensors", games(card=card, observation=observation))
        with pytest.raises(GameFileError, match="observation holds NaN or infinity"):
            list(read_games(tmp_path))


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(GameFileError, match="no games in"):
        list(read_games(tmp_path))
    path = tmp_path / "games-00000.safetensors"
    write_games(path, games())
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(GameFileError, match="no whole file of games"):
        list(read_games(tmp_path))
