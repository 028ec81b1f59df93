"""Reading W&B's own files back. test_wandb_run.py reads files that its client wrote."""

import struct
import zlib

from launch.trackers.readback import BLOCK, FIRST, HEADER, LAST, WHOLE, records, rows_in


def record(kind, body):
    return struct.pack("<IHB", zlib.crc32(body, zlib.crc32(bytes([kind]))), len(body), kind) + body


def test_records_are_whole_or_in_parts_and_a_torn_one_ends_the_file(tmp_path):
    path, head = tmp_path / "run.wandb", b":W&B" + bytes(3)
    long = b"y" * (BLOCK - 4 * HEADER)
    whole = head + record(WHOLE, b"one") + record(FIRST, b"tw") + record(LAST, b"o") + record(WHOLE, b"three")
    path.write_bytes(whole)
    assert list(records(path)) == [b"one", b"two", b"three"]
    path.write_bytes(whole[:-1])
    assert list(records(path)) == [b"one", b"two"]
    path.write_bytes(head + record(WHOLE, long))
    assert list(records(path)) == [long]


def test_a_folder_without_files_has_no_rows(tmp_path):
    assert rows_in(tmp_path, "old") == 0
