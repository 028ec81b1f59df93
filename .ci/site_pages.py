"""Write the pages of the docs site into build/docs: `make docs` calls this, then Zensical.

The pages in the repository link to source files, which are not part of the site. Here such a link becomes the path of
the file, or, with SOURCE=https://host/owner/repository/blob/main, a link to the repository. README, CONTRIBUTING,
SECURITY and CHANGELOG become pages, and docs/api.md gets the reference, from the docstrings of `ludus`.
"""

import inspect
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "docs"
TOP = {"README.md": "overview.md"} | {name: name.lower() for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")}
API_MARK = "<!-- api -->\n"
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?://)([^)#\s]*)(#[^)\s]*)?\)")


def rewrite(text: str, folder: str, source: str = "") -> str:
    """Return a page of `folder` ("" or "docs") with links that work in the site; code blocks stay as they are."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [_links(text[end : fence.start()], folder, source), fence[0]]
        end = fence.end()
    return "".join([*parts, _links(text[end:], folder, source)])


def _links(text: str, folder: str, source: str) -> str:
    def replace(found: re.Match[str]) -> str:
        label, path, anchor = found[1], found[2], found[3] or ""
        if not path:
            return found[0]
        target = os.path.normpath(PurePosixPath(folder) / path)
        if target in TOP:
            return f"[{label}]({TOP[target]}{anchor})"
        if target.startswith("docs/"):
            return f"[{label}]({target.removeprefix('docs/')}{anchor})"
        if source:
            return f"[{label}]({source}/{target})"
        return label if label.strip("`") == target else f"{label} (`{target}`)"

    return LINK.sub(replace, text).replace("](docs/images/", "](images/")


def api_reference() -> str:
    """Return the reference of everything that `ludus` exports, in Markdown."""
    sys.path.insert(0, str(ROOT))
    import ludus

    return "\n".join(line for name in sorted(ludus.__all__) for line in _entry(f"ludus.{name}", getattr(ludus, name)))


def _entry(name: str, thing: Any) -> Iterator[str]:
    yield f"## {name}\n"
    if not inspect.isclass(thing):
        yield from _callable(name, thing)
        return
    if is_dataclass(thing):
        yield from _callable(name, thing)
    else:
        yield f"{_doc(thing)}\n"
    for key, member in vars(thing).items():
        if key.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"### {name}.{key}\n\n{_doc(member)}\n"
        elif callable(member):
            yield f"### {name}.{key}\n"
            yield from _callable(f"{name.rpartition('.')[2].lower()}.{key}", member)


def _callable(name: str, thing: Callable[..., Any]) -> Iterator[str]:
    signature = inspect.signature(thing)
    shown = [parameter for key, parameter in signature.parameters.items() if key != "self"]
    text = re.sub(r"(: |-> )['\"]+([^'\"]*)['\"]+", r"\1\2", str(signature.replace(parameters=shown)))
    text = re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", text)
    yield f"```text\n{name}{text}\n```\n\n{_doc(thing)}\n"


def _doc(thing: Any) -> str:
    """Return a docstring whose examples, the paragraphs that are code, are fenced."""
    paragraphs = (inspect.getdoc(thing) or "").split("\n\n")
    code = re.compile(r"\s*(>>> |league[. ]|for |import )")
    return "\n\n".join(f"```python\n{inspect.cleandoc(text)}\n```" if code.match(text) else text for text in paragraphs)


def main() -> None:
    """Write all pages; SOURCE in the environment is the address of the repository's files."""
    source = os.environ.get("SOURCE", "").rstrip("/")
    shutil.rmtree(OUT, ignore_errors=True)
    shutil.copytree(ROOT / "docs", OUT)
    for page in (ROOT / "docs").glob("*.md"):
        (OUT / page.name).write_text(rewrite(page.read_text(), "docs", source))
    for name, target in TOP.items():
        (OUT / target).write_text(rewrite((ROOT / name).read_text(), "", source))
    api = OUT / "api.md"
    api.write_text(api.read_text().replace(API_MARK, f"{API_MARK}\n{api_reference()}"))


if __name__ == "__main__":
    main()
