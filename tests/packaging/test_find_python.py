"""`make run` finds a Python that fits: tried with fake interpreters on PATH."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUPPORTED = ("3.11", "3.12", "3.13")


@pytest.fixture
def find(tmp_path):
    """Return a function that puts fake interpreters on PATH, as name=version, and runs the search."""

    def run(*names, **fakes):
        for name, behaviour in fakes.items():
            file = tmp_path / name.replace("_", ".")
            file.write_text(f"#!/bin/sh\n{behaviour}\n")
            file.chmod(0o755)
        environment = {"PATH": str(tmp_path)}
        return subprocess.run(
            ["/bin/sh", ROOT / ".ci/find_python", *names], env=environment, capture_output=True, text=True
        )

    return run


@pytest.mark.parametrize("version", SUPPORTED)
def test_each_supported_version_is_found_by_its_name(find, version):
    assert find(**{f"python{version}": f"echo {version}"}).stdout == f"python{version}\n"


def test_the_version_that_is_tested_most_comes_first(find):
    assert find(python3="echo 3.13", python3_13="echo 3.13", python3_11="echo 3.11").stdout == "python3.11\n"


def test_python3_is_taken_if_its_version_fits(find):
    assert find(python3="echo 3.12").stdout == "python3\n"


def test_a_name_that_does_not_run_is_passed_over(find):
    assert find(python3_11="exit 127", python3_12="echo 3.12").stdout == "python3.12\n"


def test_other_versions_are_refused_with_what_to_install(find):
    found = find(python3="echo 3.10")
    assert (found.returncode, found.stdout) == (1, "")
    assert "python3 is Python 3.10." in found.stderr
    assert "apt install python3.11 python3.11-venv" in found.stderr


def test_no_interpreter_at_all(find):
    found = find()
    assert (found.returncode, found.stdout) == (1, "")
    assert "tried: python3.11 python3.12 python3.13 python3." in found.stderr


def test_an_interpreter_without_venv_is_refused_with_its_package(find):
    found = find(python3_12='case "$2" in *venv*) exit 1;; *) echo 3.12;; esac')
    assert (found.returncode, found.stdout) == (1, "")
    assert "apt install python3.12-venv" in found.stderr


def test_a_named_interpreter_is_the_only_one_tried(find):
    found = find("python3.10", python3_10="echo 3.10", python3_11="echo 3.11")
    assert (found.returncode, found.stdout) == (1, "")


def test_make_stops_with_that_message_and_makes_no_environment(tmp_path):
    for name in ("Makefile", ".ci/find_python", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    environment = {**os.environ, "MAKEFLAGS": "", "MAKELEVEL": "0"}
    made = subprocess.run(
        ["make", "run", "PYTHON=no-such-python"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert made.returncode == 2
    assert "Ludus needs Python 3.11, 3.12 or 3.13; tried: no-such-python." in made.stderr
    assert not (tmp_path / ".venv").exists()


def test_the_metadata_names_the_same_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert tuple(named) == SUPPORTED
    assert project["requires-python"] == f">={SUPPORTED[0]}"
