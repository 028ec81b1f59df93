"""How Python is started, and what it may import from where the user is."""

import os
import subprocess
import sys

import pytest

from launch.shadowing import ROOT
from launch.spawn.interpreter import SAFE, allow_local_modules, environment, prepare_child, python


def test_a_child_does_not_look_into_the_directory(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(7)")
    (tmp_path / "told.py").write_text("raise SystemExit(8)")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(tmp_path / "elsewhere"), ""]))
    done = subprocess.run(
        python("json.tool", "--help"), cwd=tmp_path, env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 0
    done = subprocess.run(
        [sys.executable, "-m", "told"], cwd=tmp_path, env=environment(), capture_output=True, check=False
    )
    assert b"No module named told" in done.stderr, "nor does what a child starts by itself, as torchrun does"


def test_what_is_allowed_is_looked_for_last(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    allow_local_modules([])
    assert sys.path == before
    allow_local_modules(["mine"])
    allow_local_modules(["mine"])
    assert sys.path == [*before, *[str(ROOT)] * (str(ROOT) not in before), str(tmp_path)]


def test_what_is_allowed_hides_nothing_of_an_editable_installation(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", str(ROOT), os.getcwd())])  # noqa: PTH109
    monkeypatch.chdir(tmp_path)
    allow_local_modules(["mine"])
    assert sys.path[-2:] == [str(ROOT), str(tmp_path)]


def test_a_process_hands_its_manners_to_nobody(monkeypatch):
    monkeypatch.setenv(SAFE, "1")
    prepare_child([])
    assert SAFE not in os.environ


@pytest.mark.parametrize("place", ["", "a"])
def test_python_path_has_no_empty_entries(place, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", place, "b", ""]))
    assert environment()["PYTHONPATH"] == (os.pathsep.join([place, "b"]) if place else "b")
    monkeypatch.delenv("PYTHONPATH")
    assert "PYTHONPATH" not in environment()
