"""The hash chain: whatever happens to a row is noticed, and the row is named."""

import pytest

from league.store.chain import START, Mark, follow, hash_events, hash_metrics, well_filed


def body_of(number, ticket):
    if number == 9:  # as a ticket is issued
        return f'{{"event":"held","ticket":{{"number":{ticket},"episodes":8}}}}'
    return f'{{"event":"held","seen":{number}}}' if ticket is None else f'{{"event":"held","ticket":{ticket}}}'


TICKETS = {i: None if i % 3 else i for i in range(1, 11)}
ROWS = [(i, "held", TICKETS[i], body_of(i, TICKETS[i])) for i in range(1, 11)]
COMMITS = (1, 4, 5, 10)  # the last row of each


def chained(rows=ROWS, ends=COMMITS, hash_rows=hash_events):
    """Return the rows with the hashes that the ends of commits store."""
    kept, at = [], 0
    for end in ends:
        digest = hash_rows(kept[-1][-1] if kept else START.digest, rows[at:end])
        kept += [(*row, None) for row in rows[at : end - 1]] + [(*rows[end - 1], digest)]
        at = end
    return kept


def problems(rows, page=3, at=START, hash_rows=hash_events):
    def read(number):
        return [row for row in rows if row[0] > number][:page]

    return [found.problem for found in follow(at, read, hash_rows, search=True) if found.problem]


@pytest.mark.parametrize("page", [1, 2, 3, 100])
def test_what_was_committed_fits(page):
    assert problems(chained(), page) == []


def test_it_can_begin_anywhere():
    rows = chained()
    assert problems(rows, at=Mark(4, rows[3][-1])) == []
    assert problems(rows, at=Mark(4, bytes(32))) == ["5: the row was changed"]


@pytest.mark.parametrize("hash_rows", [hash_events, hash_metrics])
@pytest.mark.parametrize(("number", "column"), [(1, 1), (3, 1), (3, 2), (6, 2), (6, 3), (9, 2), (10, 3)])
def test_a_flipped_bit_is_found_in_its_row(number, column, hash_rows):
    rows = chained(hash_rows=hash_rows)
    row = list(rows[number - 1])
    row[column] = row[column] ^ 4 if isinstance(row[column], int) else row[column].replace("d", "e")
    rows[number - 1] = tuple(row)
    assert problems(rows, hash_rows=hash_rows) == [f"{number}: one bit of the row was flipped"]


@pytest.mark.parametrize("column", [1, 2, 3])
@pytest.mark.parametrize("value", [None, 3, 3.0, "3", "held", b"held", ("held",), '{"event":"held"}'])
def test_the_columns_of_an_event_must_repeat_its_body(column, value):
    row = list(ROWS[2])
    row[column] = value
    assert well_filed(tuple(row)) == (tuple(row) == ROWS[2] and type(value) is type(ROWS[2][column]))


def test_the_first_number_of_a_commit_counts():
    moved = [(row[0] + 1, *row[1:]) for row in ROWS[:4]]
    assert hash_events(START.digest, moved) != hash_events(START.digest, ROWS[:4])


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
