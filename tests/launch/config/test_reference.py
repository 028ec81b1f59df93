"""The reference of all settings."""

from pathlib import Path

import pytest

from launch.config.config import Config
from launch.config.reference import tables, written
from launch.config.schema import keys

ROOT = Path(__file__).parents[3]


def test_the_table_of_settings_is_that_of_the_code():
    page = (ROOT / "docs/configuration.md").read_text()
    assert page == written(page), "run: python -m launch.config.reference docs/configuration.md"


def test_every_setting_is_told_with_its_meaning():
    lines = list(tables(Config))
    names = {key.split(".")[-1] for key in keys(Config)}
    told = {line.split("`")[1]: line.removesuffix(" |").split(" | ")[-1] for line in lines if line.startswith("| `")}
    groups = {line.strip("#` \n").split(".")[-1].split("=")[0] for line in lines if line.startswith("### `")}
    assert names <= set(told) | groups
    assert [name for name, meaning in told.items() if len(meaning) < 5] == []  # a comment on a line of its own is lost


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="no marks"):
        written("# Configuration")
