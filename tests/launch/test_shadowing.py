"""What users have in their folders: a `conf` does not matter, a module that hides a package is named in one line."""

import doctest
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from launch import shadowing
from launch.shadowing import PACKAGES, ROOT

UNKNOWN = ["run", "env=nope"]  # what it says to this tells that it found its own configs
FOUND = "unknown env 'nope'. Known: atari, connect_four"
ADVICE = "rename it, or run from another folder"
SCRIPT = "import ludus\n\nludus.run(['env=nope'])\n"
CONFS = {
    "a module": ["conf.py"],
    "a package": ["conf/__init__.py"],
    "a folder": ["conf/config.yaml"],
    "a package with groups": ["conf/__init__.py", "conf/env/mine.yaml", "conf/config.yaml"],
}


def write(place, files, text="# mine\n"):
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


def started(place, words, **environment):
    """Run something in a folder as a user would, Ludus being importable from elsewhere."""
    known = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    return subprocess.run(words, cwd=place, env=known | environment, capture_output=True, text=True, check=False)


def script(place):
    (place / "mine.py").write_text(SCRIPT)
    return [sys.executable, "mine.py"]


def command(name="ludus"):
    return str(Path(sys.executable).parent / name)


WAYS = {
    "command": lambda place: [command(), *UNKNOWN],
    "module": lambda place: [sys.executable, "-m", "launch", *UNKNOWN],
    "script": script,
}


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(shadowing).failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", CONFS)
def test_a_conf_of_the_user_does_not_matter(tmp_path, way, kind):
    write(tmp_path, CONFS[kind])
    done = started(tmp_path, WAYS[way](tmp_path))
    assert FOUND in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "launch"])
def test_a_module_that_hides_a_package_is_named_in_one_line(tmp_path, package):
    write(tmp_path, [f"{package}.py"], "raise SystemExit('nobody imports this')\n")
    said = f"your {package}.py hides Ludus's package {package}: {ADVICE}"
    done = started(tmp_path, WAYS["command"](tmp_path), PYTHONPATH=".")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"ludus: {said}\n")
    done = started(tmp_path, WAYS["script"](tmp_path))
    assert done.stderr.splitlines()[-1] == f"launch.shadowing.ShadowedError: {said}"


def test_a_package_that_hides_one_of_ours_is_named_as_a_folder(tmp_path):
    write(tmp_path, ["league/__init__.py"])
    done = started(tmp_path, WAYS["command"](tmp_path), PYTHONPATH=".")
    assert done.stderr == f"ludus: your league/ hides Ludus's package league: {ADVICE}\n"


def test_what_is_on_the_python_path_is_named_with_its_path(tmp_path, tmp_path_factory):
    place = tmp_path_factory.mktemp("elsewhere")
    write(place, ["learners.py"])
    done = started(tmp_path, WAYS["command"](tmp_path), PYTHONPATH=str(place))
    assert done.stderr == f"ludus: your {place}/learners.py hides Ludus's package learners: {ADVICE}\n"


@pytest.mark.parametrize("file", ["launch.py", "launch/__init__.py"])
def test_a_script_beside_a_launch_of_the_user_says_so(tmp_path, file):
    write(tmp_path, [file])
    last = started(tmp_path, WAYS["script"](tmp_path)).stderr.splitlines()[-1]
    name = file.removesuffix("__init__.py")  # an editable installation still finds our modules in a package of theirs
    assert last in (
        f"ImportError: your {tmp_path / file} hides Ludus's package launch: {ADVICE}",
        f"launch.shadowing.ShadowedError: your {name} hides Ludus's package launch: {ADVICE}",
    )


@pytest.mark.slow
def test_the_command_does_not_look_into_the_folder_in_which_it_is_started(tmp_path):
    write(tmp_path, [f"{name}.py" for name in PACKAGES])
    assert FOUND in started(tmp_path, WAYS["command"](tmp_path)).stderr
    (tmp_path / "launch.py").unlink()  # which Python itself would take for ours
    assert FOUND in started(tmp_path, WAYS["module"](tmp_path)).stderr


@pytest.mark.parametrize("theirs", ["league.py", "league/__init__.py", "league/notes.txt"])
def test_what_is_allowed_from_the_folder_hides_no_package(tmp_path, theirs):
    write(tmp_path, [theirs, "mine.py"])
    assert FOUND in started(tmp_path, [*WAYS["command"](tmp_path), "--allow", "mine"]).stderr


def test_a_module_that_is_loaded_already_counts(tmp_path):
    """As in a notebook, in which somebody made a module `league` before."""
    code = "import sys, types; sys.modules['league'] = types.ModuleType('league'); import ludus"
    last = started(tmp_path, [sys.executable, "-c", code]).stderr.splitlines()[-1]
    assert "hides Ludus's package league" in last


ASK = """
import sys
sys.path.insert(1, sys.argv[1])
from launch.config.compose import compose
from launch.config.groups import CONF
print(CONF, compose([]).name)
"""


def test_configs_are_found_in_the_layout_of_an_installation(tmp_path):
    """All packages and `conf` side by side in one folder, with nothing else of the sources."""
    place, here = tmp_path / "site-packages", tmp_path / "here"
    for name in (*PACKAGES, "conf"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "ludus.py", place)
    write(here, CONFS["a package with groups"])
    done = started(here, [sys.executable, "-c", ASK, str(place)])
    assert done.stdout.split() == [str(place / "conf"), "league"], done.stderr
