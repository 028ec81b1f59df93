import pytest

from launch.dashboard.board_view import board_of


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (". . .\n. X .\nO . .", [".", ".", "."]),  # native games
        ("...\n.x.\no..", [".", ".", "."]),  # OpenSpiel's tic-tac-toe
        (".......\n" * 5 + "...x...\n", ["."] * 7),  # and its connect four
        (" 3 +++\n 2 +X+\n 1 +++\n   ABC\n", ["+", "+", "+"]),  # Go
        (" 3 ...\n 2 .X.\n 1 ...\n   ABC\n", [".", ".", "."]),  # with labels
        ("X|O|.\n.|X|.\n.|.|O", ["X", "O", "."]),
    ],
)
def test_grids_of_single_characters_are_boards(text, first):
    found = board_of(text)
    assert (None if found is None else found[0]) == first


@pytest.mark.parametrize(
    "text", ["", "round 3: rock v paper", "at the start", "a at +0.10 -0.20\nb at +0.30 +0.40", "."]
)
def test_prose_is_no_board(text):
    assert board_of(text) is None
