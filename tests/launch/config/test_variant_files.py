"""Variants of an environment on the command line and from a file."""

import json

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
        ('{"a": {"weight": 0}}', "must be a number above 0"),
        ('{"a": {"wieght": 1}}', "wieght"),
        ('{"a/b": {}}', "is no name"),
    ],
)
def test_wrong_files_are_named(tmp_path, text, words):
    path = tmp_path / "maps.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        compose([f"env.variants_from={path}"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="is no file"):
        compose([f"env.variants_from={tmp_path / 'none.json'}"])
