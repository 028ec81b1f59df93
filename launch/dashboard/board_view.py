r"""Boards in texts: many games print their position as a grid of single characters, which a page can draw.

>>> board_of(". X\nO .")
[['.', 'X'], ['O', '.']]
>>> board_of("round 3: rock v paper") is None
True
"""

SMALLEST, LARGEST = 2, 26  # cells of a side
LETTERS = 6  # different pieces at most, beside empty cells: more is prose
EMPTY = ".-_+ "


def board_of(text: str) -> list[list[str]] | None:
    """Return the cells of a board, row by row; None if the text is none.

    Rows and columns may be labelled with numbers or letters at the sides, as OpenSpiel prints some games.
    """
    lines = [line.rstrip() for line in text.strip("\n").splitlines() if line.strip()]
    for found in (lines, _unlabelled(lines)):
        cells = [_cells(line) for line in found]
        if _is_board(cells):
            return cells
    return None


def _cells(line: str) -> list[str]:
    """Return the characters of a row, without the spaces or bars between them."""
    spaced = line.replace("|", " ").split()
    return spaced if len(spaced) > 1 and all(len(one) == 1 for one in spaced) else list(line.strip())


def _unlabelled(lines: list[str]) -> list[str]:
    """Return the lines without numbers at their beginnings, and without a line of labels above or below."""
    rows = [line.lstrip() for line in lines if line.lstrip()[:1].isdigit() and len(line.lstrip()) > 2]
    return [row.lstrip("0123456789").strip() for row in rows]


def _is_board(cells: list[list[str]]) -> bool:
    widths = {len(row) for row in cells}
    if not SMALLEST <= len(cells) <= LARGEST or len(widths) != 1 or not SMALLEST <= widths.pop() <= LARGEST:
        return False
    kinds = {cell for row in cells for cell in row}
    return bool(kinds & set(EMPTY) or len(kinds) <= 2) and len(kinds - set(EMPTY)) <= LETTERS
