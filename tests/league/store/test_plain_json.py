"""JSON of strangers: at most so deep that whoever walks through it does not end Python's stack."""

from typing import Any

import msgspec
import pytest

from league.store.plain_json import DEEPEST, decode_json, depth_of, read_json


def nested(depth):
    return b'{"a":' * depth + b"[]" + b"}" * depth


def test_what_is_not_too_deep_is_decoded():
    assert depth_of(nested(DEEPEST - 1)) == DEEPEST
    decode_json(nested(DEEPEST - 1), dict[str, Any])


@pytest.mark.parametrize("depth", [DEEPEST, 900, 1_000_000])
def test_what_is_too_deep_is_refused(depth):
    with pytest.raises(msgspec.DecodeError, match="nested deeper than 64 levels"):
        decode_json(nested(depth), dict[str, Any])


@pytest.mark.parametrize(
    "text", [b'{"[[[": "{{{"}', rb'{"\"[[[": 1}', rb'{"a\\": "[["}', b'["\xc3\xa9[\n["]'.replace(b"\n", b"")]
)
def test_brackets_in_texts_do_not_count(text):
    assert depth_of(text) == 1
    decode_json(text, dict[str, Any] if text.startswith(b"{") else list[Any])


def test_other_files_are_refused_with_the_same_error(tmp_path):
    path = tmp_path / "file.json"
    for data in (b"", b"\xff", b'{"a', b"[1]"):
        path.write_bytes(data)
        with pytest.raises(msgspec.DecodeError):
            read_json(path, dict[str, Any])
