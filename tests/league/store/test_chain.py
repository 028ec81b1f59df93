"""The hash chain: whatever happens to a row is noticed, and the row is named."""

import pytest

from league.store.chain import START, Mark, follow, link

ROWS = [(i, "kind", None if i % 3 else i, f'{{"body":{i}}}') for i in range(1, 11)]
COMMITS = (1, 4, 5, 10)  # the last row of each


def chained(rows=ROWS, ends=COMMITS):
    """Return the rows with the hashes that the ends of commits keep."""
    kept, at = [], 0
    for end in ends:
        *columns, bodies = zip(*rows[at:end], strict=True)
        lines = "".join(f"{body}\n" for body in bodies).encode()
        digest = link(kept[-1][-1] if kept else START.digest, columns, lines)
        kept += [(*row, None) for row in rows[at : end - 1]] + [(*rows[end - 1], digest)]
        at = end
    return kept


def problems(rows, page=3, at=START):
    def read(number):
        return [row for row in rows if row[0] > number][:page]

    return [found.problem for found in follow(at, read, search=True) if found.problem]


@pytest.mark.parametrize("page", [1, 2, 3, 100])
def test_what_was_committed_fits(page):
    assert problems(chained(), page) == []


def test_it_can_begin_anywhere():
    rows = chained()
    assert problems(rows, at=Mark(4, rows[3][-1])) == []
    assert problems(rows, at=Mark(4, bytes(32))) == ["5: the row was changed"]


@pytest.mark.parametrize(("number", "column"), [(1, 1), (3, 1), (3, 2), (6, 2), (6, 3), (9, 2), (10, 3)])
def test_a_flipped_bit_is_found_in_its_row(number, column):
    rows = chained()
    row = list(rows[number - 1])
    row[column] = row[column] ^ 4 if isinstance(row[column], int) else row[column].replace("d", "e")
    rows[number - 1] = tuple(row)
    assert problems(rows) == [f"{number}: one bit of the row was flipped"]


def test_more_than_a_bit_is_found_in_its_commit():
    rows = chained()
    rows[6] = (*rows[6][:3], "something else", None)
    assert problems(rows) == ["6 to 10: one of these rows was changed"]
    rows = chained()
    rows[4] = (*rows[4][:3], "something else", rows[4][-1])
    assert problems(rows) == ["5: the row was changed"]


def test_types_count():
    rows = chained()
    rows[4] = (*rows[4][:3], rows[4][3].encode(), rows[4][-1])
    assert problems(rows) == ["5: the row was changed"]


def test_a_changed_hash_is_found_and_no_more_than_it():
    rows = chained()
    rows[3] = (*rows[3][:-1], bytes([rows[3][-1][0] ^ 1]) + rows[3][-1][1:])
    assert problems(rows)[0] == "4: its hash was changed"
    rows = chained()
    rows[3] = (*rows[3][:-1], None)
    assert problems(rows) == ["2 to 5: one of these rows was changed"]
    rows = chained()
    rows[3] = (*rows[3][:-1], "text")
    assert problems(rows)[0] == "4: its hash was changed"


def test_missing_and_doubled_rows_are_found():
    rows = chained()
    assert problems(rows[:5] + rows[6:]) == ["6: the row is missing"]
    assert problems(rows[1:])[0] == "1: the row is missing"
    assert problems(rows[:8]) == ["6 to 8: no hash follows; the end is missing"]
    assert problems([*rows, (12, "kind", None, "more", bytes(32))]) == ["11: the row is missing"]


def test_rows_that_change_places_are_found():
    rows = chained()
    rows[6], rows[7] = (7, *rows[7][1:]), (8, *rows[6][1:])
    assert problems(rows) == ["6 to 10: one of these rows was changed"]


def test_after_a_bad_link_the_others_are_still_checked():
    rows = chained()
    rows[0], rows[8] = (*rows[0][:3], "a", rows[0][-1]), (*rows[8][:3], "b", None)
    assert len(problems(rows)) == 2
