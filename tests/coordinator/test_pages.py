"""Pages of events: bounded in events and in bytes, and never empty while there are events."""

from coordinator.pages import PAGE, PAGE_BYTES, first_page


def test_a_page_has_so_many_events():
    assert first_page([]) == ()
    assert first_page([b"x"] * (PAGE + 5)) == (b"x",) * PAGE


def test_a_page_has_so_many_bytes_but_at_least_one_event():
    half = b"x" * (PAGE_BYTES // 2)
    assert len(first_page([half] * 3)) == 2
    assert first_page([half * 3, b"y"]) == (half * 3,)
