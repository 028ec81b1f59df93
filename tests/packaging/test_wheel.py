"""The wheel has all that a league needs: built, installed with an extra, and run from another directory."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("league", "coordinator", "collectors", "learners", "launch", "conf")
LEAGUE = "env=pettingzoo env.id=classic/tictactoe_v3 name=wheel league=selfplay league.budget.minutes=null"
LEAGUE += " league.budget.env_steps=4000 league.evaluation.final_games=4 launch.collectors=1"


def run(*command, cwd, **settings):
    """Run a command with nothing of this checkout on its path, and return what it printed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_CONSTRAINT"))}
    done = subprocess.run(command, cwd=cwd, env={**clean, **settings}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy: what an earlier build left in build/ must not get into it."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "ludus.py"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", out]
    run(*pip, ".", cwd=source)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install the wheel with the extra `classic` into a new environment, and return its directory of commands.

    The dependencies are not downloaded again, which would take minutes: the new environment sees those of this one
    through links, one for each entry of site-packages that is not Ludus. So Ludus itself can only come from the wheel,
    and `--no-index` makes pip fail if the wheel or its extra requires anything that `make` does not install.
    """
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip())
    links = home / "dependencies"
    links.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "ludus" not in entry.name and entry.suffix != ".pth":
            (links / entry.name).symlink_to(entry)
    (own / "dependencies.pth").write_text(f"{links}\n")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index"]
    run(*pip, f"ludus-league[classic] @ {wheel.as_uri()}", cwd=home)
    return home / "bin"


@pytest.mark.slow
def test_the_wheel_has_the_configs_the_zoo_the_pages_and_the_job_script_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    data = {str(path.relative_to(ROOT)) for path in (ROOT / "conf").rglob("*.yaml")} | {"launch/slurm/job.sh"}
    data |= {str(path.relative_to(ROOT)) for path in (ROOT / "launch" / "zoo").rglob("*.safetensors")}
    static = (ROOT / "launch" / "dashboard" / "static").rglob("*")
    data |= {str(path.relative_to(ROOT)) for path in static if path.is_file()}
    code = {str(path.relative_to(ROOT)) for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert len(data) > 10
    assert {name for name in names if ".dist-info/" not in name} == data | code | {"ludus.py"}


@pytest.mark.slow
@pytest.mark.league
@pytest.mark.timeout(300)
def test_a_league_runs_from_the_wheel_in_another_directory(installed, tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert run(installed / "ludus", "--version", cwd=tmp_path) == f"ludus {project['version']}\n"
    where = run(installed / "python", "-c", "import ludus, launch; print(launch.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)
    run(installed / "ludus", "run", *LEAGUE.split(), "--quiet", cwd=tmp_path)
    standings = json.loads(run(installed / "ludus", "standings", "wheel", "--json", cwd=tmp_path))
    assert "main" in str(standings)
    run(installed / "ludus", "verify", "wheel", cwd=tmp_path)


def text_files():
    places = [*(ROOT / package for package in PACKAGES), ROOT / "docs", ROOT / "examples"]
    found = [path for place in places for path in place.rglob("*")] + list(ROOT.glob("*"))
    return [path for path in found if path.suffix in {".py", ".md", ".yaml", ".yml", ".toml", ".def", ".cff"}]


def test_every_extra_that_is_named_exists():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {
        extra
        for path in text_files()
        for group in re.findall(r"ludus-league\[([\w,]+)\]", path.read_text())
        for extra in group.split(",")
    }
    assert {"classic", "video", "sweep"} <= named <= set(extras)


def test_nothing_asks_for_the_distribution_of_another_project():
    wrong = re.compile(r"ludus\[\w|pip install (-\S+ )*['\"]?ludus['\"\s$]")
    assert [path.name for path in text_files() if wrong.search(path.read_text())] == []
