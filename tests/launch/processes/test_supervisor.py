"""The supervisor of `launch=local`. tests/process kills the processes that it restarts."""

from evil_text import EVIL, shown

from launch.processes.supervisor import last_line, tail
from launch.viewers.live import LiveTable


def test_logs_that_the_supervisor_prints_are_clean(tmp_path, capsys):
    log = tmp_path / "x.log"
    log.write_text(f"2026-01-01 00:00:00,000 ERROR ludus.x: {EVIL}\n")
    with LiveTable("x", plain=True) as table:
        table.note(tail(log))
        table.note(last_line(log))
    assert shown(capsys.readouterr().out) == []
