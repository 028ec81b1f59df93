"""Reading W&B's own files back: how many rows a run has that was written offline.

They are logs of records with checksums, in blocks as LevelDB has them; a killed writer leaves a torn tail.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from league import limits
from league.store.regular_file import read_regular

BLOCK = 32768
HEADER = 7  # bytes of a record's header, and of the file's
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def records(path: Path) -> Iterator[bytes]:
    """Yield the records of a file, up to the first that is torn or damaged."""
    data = read_regular(path, limits.STATE_FILE)
    at, parts = HEADER, b""
    while data[:4] == b":W&B" and at + HEADER <= len(data):
        left = BLOCK - at % BLOCK
        if left < HEADER:
            at += left
            continue
        checksum, length, kind = struct.unpack("<IHB", data[at : at + HEADER])
        body = data[at + HEADER : at + HEADER + length]
        if kind == 0 or len(body) < length or zlib.crc32(body, zlib.crc32(bytes([kind]))) != checksum:
            return
        at += HEADER + length
        parts = body if kind in (WHOLE, FIRST) else parts + body
        if kind in (WHOLE, LAST):
            yield parts


def history(path: Path) -> Iterator[dict[str, Any]]:
    """Yield what was logged, row by row."""
    from wandb.proto import wandb_internal_pb2

    for body in records(path):
        record = wandb_internal_pb2.Record.FromString(body)  # type: ignore[attr-defined]  # made at run time
        if record.WhichOneof("record_type") == "history":
            yield {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}


def rows_in(folder: Path, run_id: str) -> int:
    """Return how many rows of a run are in the files of all its lives."""
    files = folder.glob(f"*run-*-{run_id}/run-{run_id}.wandb")
    return max((int(row["_step"]) + 1 for path in files for row in history(path)), default=0)
