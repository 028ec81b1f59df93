"""The journal of a collector: one line for each acknowledged result."""

import msgspec

from collectors.journal import Journal
from league.wire.messages import Ack, Verdict


def test_each_ack_is_a_line_and_another_process_goes_on_in_the_same_file(tmp_path):
    path = tmp_path / "collector-0.journal"
    Journal(path).note([Ack(1, 0, Verdict.ACCEPTED)])
    assert path.read_bytes().endswith(b"\n")
    Journal(path).note([Ack(2, 1, Verdict.DUPLICATE)])
    lines = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    assert lines == [
        {"ticket": 1, "attempt": 0, "verdict": "accepted"},
        {"ticket": 2, "attempt": 1, "verdict": "duplicate"},
    ]


def test_a_journal_opens_nothing_before_its_first_line(tmp_path):
    Journal(tmp_path / "collector-0.journal")
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_cannot_be_written_stops_nobody(tmp_path, caplog):
    Journal(tmp_path / "nowhere" / "collector-0.journal").note([Ack(7, 0, Verdict.ACCEPTED)])
    assert "tickets [7] are not in the journal" in caplog.text


def test_a_journal_that_is_a_link_is_not_written(tmp_path, caplog):
    path, target = tmp_path / "collector-0.journal", tmp_path / "target"
    path.symlink_to(target)
    Journal(path).note([Ack(1, 0, Verdict.ACCEPTED)])
    assert not target.exists()
    assert "not in the journal" in caplog.text
