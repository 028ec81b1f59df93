"""Variants of an environment on the command line and from a file."""

import json
import os
from pathlib import Path

import pytest

from launch.config.compose import compose
from launch.config.config import ConfigError, from_plain, to_plain

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


def test_variants_need_no_plus():
    env = compose(["env.variants.small.kwargs.size=3", "env.variants.large={weight: 2, kwargs: {size: 9}}"]).env
    assert {name: (row.weight, row.kwargs) for name, row in env.variants.items()} == {
        "small": (1.0, {"size": 3}),
        "large": (2.0, {"size": 9}),
    }


def test_a_file_adds_variants_and_is_not_needed_again(tmp_path):
    path = tmp_path / "maps.json"
    path.write_text(json.dumps({"small": {"weight": 3, "kwargs": {"size": 3}}, "large": {}}))
    config = compose([f"env.variants_from={path}", "env.variants.large.weight=5"])
    path.unlink()
    again = from_plain(to_plain(config))
    assert again.env.variants_from is None
    assert {name: row.weight for name, row in again.env.variants.items()} == {"small": 3.0, "large": 5.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]", "Expected `object`"),
        ("{", "malformed|truncated"),
        ("{}", "it has no variants"),
        ('{"a": {"weight": 0}}', "must be a number above 0"),
        ('{"a": {"wieght": 1}}', "wieght"),
        ('{"a/b": {}}', "is no name"),
        ('{"a": {"weight": 1}, "a": {"weight": 2}}', "it has 'a' twice"),
        ('{"a": {"kwargs": {"size": 1, "size": 2}}}', "it has 'size' twice"),
        ('{"a": {"kwargs": {"x": ' + "[" * 99999 + "]" * 99999 + "}}}", "nested deeper than 64 levels"),
        ('{"a": {"weight": 1e999}}', "out of range|above 0"),
        ("{" + ",".join(f'"v{number}": {{}}' for number in range(65)) + "}", "at most 64"),
    ],
)
def test_wrong_files_are_named(tmp_path, text, words):
    path = tmp_path / "maps.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        compose([f"env.variants_from={path}"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.json: No such file or directory\. It must be a JSON file"):
        compose([f"env.variants_from={tmp_path / 'none.json'}"])


def pipe(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def huge(path):
    with path.open("wb") as file:
        file.truncate(1 << 30)  # a hole: it takes no room on the disk


@pytest.mark.parametrize(
    ("make", "words"), [(pipe, "is a pipe"), (device, "is a device"), (Path.mkdir, "is a directory"), (huge, "bytes")]
)
def test_something_else_than_a_small_file_hangs_nothing(tmp_path, make, words):
    path = tmp_path / "maps.json"
    make(path)
    with pytest.raises(ConfigError, match=words) as told:
        compose([f"env.variants_from={path}"])
    assert "\n" not in str(told.value)
