"""The pages tell the truth: commands parse, overrides compose, links lead somewhere, code is that of the examples."""

import ast
import importlib.util
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

import ludus
from launch.api import League
from launch.arguments import COMMANDS, build_parser
from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.sweeps.study_settings import settings_of_study
from launch.sweeps.study_space import spaces_of
from launch.sweeps.studying import is_study
from launch.sweeps.sweeping import combinations, split
from launch.verify.verify import CHECKS
from league.store.run_directory import RunDirectory

ROOT = Path(__file__).parents[2]


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


LINK = re.compile(r"\]\(([^)\s]+)\)")


def fenced(page, language):
    return [body for found, body in FENCE.findall(page.read_text()) if found == language]


def commands():
    """Return every `ludus ...` line of every fenced block, and the line after it: its answer, if the page shows one."""
    found = []
    for page in PAGES:
        lines = re.sub(r"\\\n\s*", "", "\n".join(fenced(page, ""))).splitlines()
        for line, answer in pairwise([*lines, ""]):
            if re.match(r"(\$ )?(\w+=\S+ )?ludus ", line):
                words = shlex.split(line.removeprefix("$ "), comments=True)
                argv = words[words.index("ludus") + 1 :]
                found.append(pytest.param(argv, answer, id=f"{page.name}: {line[:60]}"))
    return found


def refusal(overrides, config_dir=None):
    """Return what the command line says to overrides that it refuses, nothing if it takes them."""
    try:
        compose(overrides, config_dir=config_dir and ROOT / config_dir)
    except ConfigError as error:
        return f"ludus: {error}"
    return ""


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower().strip()).replace(" ", "-")


@pytest.mark.parametrize(("argv", "answer"), commands())
def test_every_command_parses_and_its_overrides_compose(argv, answer):
    arguments, rest = build_parser().parse_known_args(argv)
    assert not [text for text in rest if text.startswith("-")]
    if arguments.command == "run" and arguments.multirun:
        swept, own, common = split([*arguments.pairs, *rest])
        if is_study(own):
            settings_of_study(own)
            last = [space.first for space in spaces_of(swept)]
        else:
            *_, last = combinations(swept)
        assert refusal([*common, *last]) == ""
    elif arguments.command == "run":
        assert refusal([*arguments.pairs, *rest], arguments.config_dir) in (
            "",
            answer,
        )  # a page may show a refusal: then, the right one


def test_every_command_has_its_section():
    page = (ROOT / "docs/command-line.md").read_text()
    assert {name for name in COMMANDS if f"\n## {name}\n" in page} == set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", FENCE.sub("", target.read_text()), re.MULTILINE)
            assert anchor in map(slug, headings), f"{page.name}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_the_pages_is_python(page):
    for code in fenced(page, "python"):
        ast.parse(code)


def test_the_environment_in_arrays_is_that_of_the_examples():
    page = (ROOT / "docs/your-environment.md").read_text()
    shown = FENCE.search(page, page.index("<!-- native -->"))
    assert shown[2] == (ROOT / "examples/native_environment.py").read_text()


def test_the_algorithm_is_that_of_the_examples():
    page = (ROOT / "docs/your-algorithm.md").read_text()
    shown = FENCE.search(page, page.index("<!-- own algorithm -->"))
    assert shown[2] == (ROOT / "examples/own_algorithm/own_algorithm.py").read_text()
    assert 'reinforce = "own_algorithm:ReinforceConfig"' in (ROOT / "examples/own_algorithm/pyproject.toml").read_text()


def test_the_networks_are_those_of_the_examples():
    page = (ROOT / "docs/your-network.md").read_text()
    for name in ("own_network", "own_memory"):
        shown = FENCE.search(page, page.index(f"<!-- {name} -->"))
        assert shown[2] == (ROOT / f"examples/own_network/{name}.py").read_text()
    assert 'squares = "own_network:Squares"' in (ROOT / "examples/own_network/pyproject.toml").read_text()


def test_the_bot_is_that_of_the_examples():
    code = next(
        code for code in fenced(ROOT / "docs/your-environment.md", "python") if code.startswith("class Perfect")
    )
    assert code in (ROOT / "examples/own_bot.py").read_text()


def test_every_option_of_a_group_is_told():
    page = (ROOT / "docs/configuration.md").read_text()
    options = [path.stem for path in (ROOT / "conf").glob("*/*.yaml")]
    assert len(options) > 10
    assert [name for name in options if f"`{name}`" not in page] == []


@pytest.mark.parametrize("package", ["pettingzoo", "mpe2"])
def test_environments_have_the_versions_that_are_installed(package):
    (where,) = importlib.util.find_spec(package).submodule_search_locations
    text = "\n".join(page.read_text() for page in PAGES)
    family = "mpe2/" if package == "mpe2" else "(?:butterfly|classic|sisl)/"
    named = sorted(set(re.findall(rf"\b{family}\w+_v\d+", text)))
    assert len(named) > 5
    files = {name: Path(where) / f"{name.removeprefix('mpe2/')}.py" for name in named}
    assert [name for name, file in files.items() if not file.exists()] == []


def test_every_module_is_on_the_map():
    page = (ROOT / "docs/architecture.md").read_text()
    house = page[page.index("## The house") : page.index("## Follow one match")]
    for package in ("league", "coordinator", "collectors", "learners", "launch"):
        found = [path for path in (ROOT / package).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
        names = [path.stem if path.suffix else f"{path.name}/" for path in found if not path.stem.startswith("__")]
        assert [name for name in names if f"`{name}`" not in house] == [], package


def test_the_files_to_touch_exist():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    table = page[page.index("## What to touch") : page.index("## Layers")]
    rows = [line for line in table.splitlines() if re.match(r"\| an? ", line)]
    added = ["environment", "matchmaker", "network", "algorithm", "message", "metric", "command", "tracker", "recipe"]
    assert [name for name in added if not any(re.match(rf"\| an? {name} ", row) for row in rows)] == []
    paths = [path for row in rows for path in re.findall(r"`([\w/.-]+)`", row)]
    assert len(paths) > 30
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", re.findall(r"league\.(\w+)\(", "".join(fenced(ROOT / "README.md", "python"))))
def test_the_readme_calls_what_there_is(name):
    assert callable(getattr(League, name))


def test_the_list_of_words_has_each_word_once():
    _, _, table = (ROOT / "docs/architecture.md").read_text().partition("## Words\n")
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", table, re.MULTILINE)
    words = [word for row in rows[1:] for word in row.split(", ")]
    assert len(words) == len(set(words))
    units = {"match", "game", "episode", "decision", "env step", "step", "tick"}
    assert units | {"segment", "roster", "checkpoint", "duel", "directory", "entry", "session"} <= set(words)


def test_the_files_of_a_run_are_all_listed():
    _, _, table = (ROOT / "docs/command-line.md").read_text().partition("\n## The files of a run\n")
    run = RunDirectory(Path("run"))
    paths = [path for path in vars(run).values() if path != run.root] + [run.claim("collector-0"), run.root / "export"]
    missing = {path.parts[1] for path in paths if f"`{path.parts[1]}" not in table}
    assert missing - {run.probe_report.name} == set()
    assert run.probe_report.name in table


def test_verify_is_shown_with_all_its_checks():
    (shown,) = [body for body in fenced(ROOT / "docs/command-line.md", "") if "$ ludus verify" in body]
    assert re.findall(r"^ok    (.*)$", shown, re.MULTILINE) == list(CHECKS)


def test_the_api_page_names_all_that_ludus_exports():
    page = (ROOT / "docs/api.md").read_text()
    assert {name for name in ludus.__all__ if f"{name}`" not in page and f"ludus.{name}(" not in page} == set()
