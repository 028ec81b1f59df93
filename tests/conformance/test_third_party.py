"""The sweep over third-party packages: its list is valid, and what is not installed keeps its row."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.third_party import BEGIN, END, Candidate, check, read_candidates, renewed, row, version_of

HERE = Candidate("pettingzoo", "classic/rps_v2", here=True)


def test_every_candidate_is_named_once():
    candidates, unplayable = read_candidates()
    ids = [one.id for one in candidates]
    assert len(ids) == len(set(ids)) >= 20
    assert all(one["package"] and one["why"] for one in unplayable)


def test_a_package_that_is_not_installed_has_no_version(tmp_path):
    assert version_of(Path(sys.executable), "no-such-package") == ""
    assert version_of(tmp_path / "bin" / "python", "pettingzoo") == ""


def test_rows_of_the_last_sweep_stay_where_they_were():
    page = renewed(
        f"{BEGIN}{END}", {"a:A": "| a 1 | `a:A` | fit |", "b:B": "| b 1 | `b:B` | fit |"}, ["a:A", "b:B"], []
    )
    page = renewed(page, {"b:B": "| b 2 | `b:B` | **refused** |"}, ["b:B", "a:A"], [{"package": "c", "why": "old"}])
    lines = page.splitlines()
    assert lines[4:6] == ["| b 2 | `b:B` | **refused** |", "| a 1 | `a:A` | fit |"]
    assert "| c | old |" in lines
    assert "b 1" not in renewed(page, {}, ["a:A"], [])


@pytest.mark.slow
def test_a_row_tells_what_check_env_says(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.third_party.SECONDS", 5)
    told = row(HERE, "1.0", check(HERE, tmp_path))
    assert told == "| pettingzoo 1.0 | `classic/rps_v2` | fit | 2 | the highest return wins | in-process |  |"
    wrong = Candidate("pettingzoo", "classic/no_game_v1", here=True)
    assert "| **refused**: " in row(wrong, "1.0", check(wrong, tmp_path))


@pytest.mark.slow
def test_what_is_not_installed_is_left_out(tmp_path):
    command = [sys.executable, "-m", "benchmarks.third_party", "--pythons", str(tmp_path), "nmmo"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("", "nmmo: not installed, left out\n")
