"""The container recipes, the hooks and the citation: known instructions, files that exist, one version everywhere."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCKER = {
    "FROM",
    "RUN",
    "CMD",
    "LABEL",
    "ENV",
    "ADD",
    "COPY",
    "ENTRYPOINT",
    "VOLUME",
    "USER",
    "WORKDIR",
    "ARG",
    "SHELL",
}
APPTAINER = {"arguments", "setup", "files", "environment", "post", "runscript", "startscript", "test", "labels", "help"}
BUILT = "build/wheel"  # pip wheel writes it; all other files must be in the repository


def instructions():
    """Return the instructions of the Dockerfile, with continued lines joined and comments left out."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line.strip() and line[0] != "#"]
    return [line.split(None, 1) for line in "\n".join(lines).replace("\\\n", " ").splitlines()]


def sections():
    """Return the header of the Apptainer definition as a dict, and its sections as lists of lines."""
    text = re.sub(r"^#.*\n", "", (ROOT / "ludus.def").read_text(), flags=re.MULTILINE)
    head, *parts = re.split(r"^%", text, flags=re.MULTILINE)
    header = dict(line.split(": ", 1) for line in head.split("\n") if line)
    return header, {part.split("\n")[0].strip(): [line.strip() for line in part.split("\n")[1:]] for part in parts}


def test_the_dockerfile_has_known_instructions_in_order():
    words = [word for word, _ in instructions()]
    assert words[0] == "FROM"
    assert set(words) <= DOCKER
    assert words.index("USER") < words.index("ENTRYPOINT")  # a league does not run as root


def test_the_dockerfile_copies_files_that_exist():
    copied = [word for name, rest in instructions() if name in ("COPY", "ADD") for word in rest.split()[:-1]]
    assert len(copied) == 2
    assert [name for name in copied if not name.startswith(BUILT) and not (ROOT / name).exists()] == []
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert sorted(allowed) == sorted(name.replace("ludus_league-", "") for name in copied)


def test_the_apptainer_definition_has_known_sections_and_files():
    header, found = sections()
    assert header["Bootstrap"] == "docker"
    assert set(found) <= APPTAINER
    sources = [line.split()[0] for line in found["files"] if line]
    assert [name for name in sources if not name.startswith(BUILT) and not (ROOT / name).exists()] == []


def test_both_images_have_the_same_python_and_extras():
    header, found = sections()
    assert instructions()[0][1] == header["From"]
    version = re.search(r"3\.\d+", header["From"])[0]
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]
    docker = next(rest for name, rest in instructions() if name == "RUN")
    extras = [re.search(r"\)\[([\w,]+)\]", text)[1] for text in (docker, "\n".join(found["post"]))]
    assert extras[0] == extras[1]
    assert set(extras[0].split(",")) <= set(PROJECT["optional-dependencies"])


def test_the_wheel_has_the_name_that_the_images_install():
    assert PROJECT["name"].replace("-", "_") == "ludus_league"


@pytest.mark.parametrize("key", ["version", "license"])
def test_the_citation_agrees_with_the_project(key):
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation[key] == PROJECT[key]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)


def test_the_hooks_run_tools_of_the_environment_and_download_nothing():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    assert {repo["repo"] for repo in config["repos"]} == {"local"}
    assert {hook["language"] for hook in hooks} == {"system"}
    check = (ROOT / "Makefile").read_text().partition("\ncheck:")[2].partition("\n\n")[0]
    tools = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks}
    assert tools == set(re.findall(r"@\$\(BIN\)/([\w-]+)", check))
