"""The pages of the docs site: links that work there, and the reference from the docstrings."""

import importlib.util
import re
from pathlib import Path

import pytest

import ludus

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / ".ci/site_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("link", "folder", "there"),
    [
        ("[a](recipes.md#teams)", "docs", "[a](recipes.md#teams)"),
        ("[a](#teams)", "docs", "[a](#teams)"),
        ("[a](https://example.org/x.md)", "docs", "[a](https://example.org/x.md)"),
        ("[a](../SECURITY.md#known-limits)", "docs", "[a](security.md#known-limits)"),
        ("[a](docs/slurm.md)", "", "[a](slurm.md)"),
        ("[limits](../league/limits.py)", "docs", "limits (`league/limits.py`)"),
        ("[`examples/own_bot.py`](../examples/own_bot.py)", "docs", "`examples/own_bot.py`"),
        ("![a](docs/images/ratings.png)", "", "![a](images/ratings.png)"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(site, link, folder, there):
    assert site.rewrite(link, folder) == there


def test_with_an_address_source_files_are_links(site):
    source = "https://example.org/ludus/blob/main"
    assert site.rewrite("[limits](../league/limits.py)", "docs", source) == f"[limits]({source}/league/limits.py)"


def test_code_blocks_stay_as_they_are(site):
    text = "```python\nrows[0](../x.py)\n```"
    assert site.rewrite(text, "docs") == text


def test_the_reference_has_every_export_with_its_first_sentence(site):
    text = site.api_reference()
    for name in ludus.__all__:
        assert f"## ludus.{name}\n" in text
        assert getattr(ludus, name).__doc__.split("\n")[0] in text
    assert "league.payoff(purpose: str = 'evaluate', variant: str | None = None) -> " in text


def test_every_page_is_in_the_navigation(site):
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} | set(site.TOP.values())
    assert set(re.findall(r"[\w-]+\.md\b", (ROOT / "mkdocs.yml").read_text())) == pages


def test_the_api_page_has_the_place_for_the_reference(site):
    assert (ROOT / "docs/api.md").read_text().count(site.API_MARK) == 1
