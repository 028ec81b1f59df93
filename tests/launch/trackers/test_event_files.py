"""`track=tensorboard`: every point once, whatever happened to the writer."""

import pytest
from curve_files import expected, read_events, sink_at


def test_tensorboard_has_every_point_once_though_its_writer_died(drawn, rows_of, tmp_path):
    rows, folder = rows_of(drawn), tmp_path / "tensorboard"
    for count in (4, 9, len(rows)):
        sink = sink_at(drawn, "tensorboard", folder)
        have = sink.open()
        for row in rows[:count]:
            if row.number >= have:
                sink.write(row)
        sink.flush()
        files = sorted(folder.glob("events.out*"))
        if count == 9:
            with files[-1].open("ab") as file:
                file.write(b"\x10\x00\x00\x00torn")
        sink.close()
    got = sorted(
        (number, step, name, pytest.approx(value, rel=1e-6)) for number, step, name, value in read_events(folder)
    )
    assert got == sorted((number, step, name, value) for number, _, step, name, value in expected(rows))
