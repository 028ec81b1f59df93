"""The sweep over third-party packages: what `ludus check-env` says of each environment of third_party.toml.

python -m benchmarks.third_party --pythons PYTHONS --install          # a virtual environment for each package
python -m benchmarks.third_party --pythons PYTHONS --into docs/environments.md
python -m benchmarks.third_party --pythons PYTHONS magent2 nmmo        # some packages, printed

PYTHONS is a folder with a virtual environment for each package. A package that is not there, or not in this Python
where it is played in-process, is left out; its row on the page stays, with the version of its last sweep.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
BEGIN, END = "<!-- the sweep of packages writes this: begin -->", "<!-- the sweep of packages writes this: end -->"
SECONDS, LATEST = 40, 300  # of a check, and after which it is ended
HEAD = ("| package | environment | verdict | agents | who wins | reached | remarks |", "|---|---|---|---|---|---|---|")
VERSION = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An environment of a package, see third_party.toml."""

    package: str
    id: str
    settings: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    venv: str = ""
    here: bool = False
    remark: str = ""

    @property
    def key(self) -> str:
        """How its row begins, after the package."""
        return f"`{self.id}`"

    def python(self, pythons: Path) -> Path:
        """Return the interpreter that has the package."""
        return Path(sys.executable) if self.here else pythons / (self.venv or self.package) / "bin" / "python"

    def reached(self) -> str:
        """Return how Ludus reaches it."""
        names = [one.partition("=")[0] for one in self.settings if one.startswith(("env.compat", "env.cast"))]
        return ", ".join(["in-process" if self.here else "`env.python`", *(f"`{name}`" for name in names)])


def read_candidates() -> tuple[list[Candidate], list[Mapping[str, str]]]:
    """Return what can be tried, and what cannot be played, with the reason."""
    found = tomllib.loads((FOLDER / "third_party.toml").read_text())
    made = [
        Candidate(**{key: tuple(value) if isinstance(value, list) else value for key, value in one.items()})
        for one in found["candidate"]
    ]
    return made, found["unplayable"]


def version_of(python: Path, package: str) -> str:
    """Return the version of a package in a Python; nothing if it is not there."""
    try:
        done = subprocess.run(
            [python, "-c", VERSION, package], capture_output=True, text=True, check=False, timeout=LATEST
        )
    except OSError:
        return ""
    return done.stdout.strip()


def check(candidate: Candidate, pythons: Path) -> Mapping[str, Any]:
    """Return what `ludus check-env --json` says."""
    far = () if candidate.here else (f"env.python={candidate.python(pythons).absolute()}", "env.python_seconds=60")
    allow = candidate.id.partition(":")[0].partition(".")[0].partition("/")[0]
    command = [Path(sys.executable).parent / "ludus", "check-env", candidate.id, *far, *candidate.settings]
    command += ["--allow", allow, "--json", "--seconds", str(SECONDS)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LATEST, cwd=FOLDER)
        report: Mapping[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"problems": [{"what": f"no verdict within {LATEST} s"}]}
    except ValueError:
        return {"problems": [{"what": (done.stderr.strip().splitlines() or ["no answer"])[-1]}]}
    return report


def verdict(report: Mapping[str, Any]) -> str:
    """Return the verdict in short.

    >>> verdict({"fit": True, "warnings": ["co-operative? More text."], "episodes": 3})
    'fit; warning: co-operative?'
    >>> verdict({"problems": [{"what": "my:Game: reset raised KeyError"}]})
    '**refused**: my:Game: reset raised KeyError'
    """
    if problems := report.get("problems"):
        return f"**refused**: {_short(problems[0]['what'])}"
    if not report.get("episodes"):
        return f"fit, but no episode ended within {SECONDS} s"
    first, *others = report.get("warnings") or [""]
    more = f" (and {len(others)} more)" if others else ""
    return f"fit; warning: {_short(first)}{more}" if first else "fit"


def _short(text: str, limit: int = 160) -> str:
    """Return the first sentence, for a cell of a table; paths of this machine are left out."""
    first = " ".join(text.split()).partition(" (in env.python")[0].replace("|", "/")
    first = re.sub(r"/\S*/site-packages/", "", first)
    for end in (". ", "? "):
        head, found, _ = first.partition(end)
        first = head + end.strip(". ") if found else first
    return first if len(first) <= limit else f"{first[:limit]}..."


def row(candidate: Candidate, version: str, report: Mapping[str, Any]) -> str:
    """Return a row of the table."""
    spec = report.get("spec") or {}
    agents = str(len(spec.get("agents", ())) or "")
    wins = report.get("outcome") or ""
    if spec and len({seat["side"] or number for number, seat in enumerate(spec["seats"])}) == 1:
        wins = "nobody: returns count"
    cells = [f"{candidate.package} {version}", candidate.key, verdict(report), agents, wins, candidate.reached()]
    return f"| {' | '.join([*cells, candidate.remark])} |"


def renewed(page: str, rows: Mapping[str, str], known: Sequence[str], unplayable: Sequence[Mapping[str, str]]) -> str:
    """Return a page with these rows, by id, in its table; rows of others stay if they are still candidates."""
    before, rest = page.split(BEGIN)
    table, after = rest.split(END)
    old = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| ") and "`" in line}
    merged = old | dict(rows)
    lines = [BEGIN, "", *HEAD, *(merged[id] for id in known if id in merged), "", "What cannot be played:", ""]
    lines += ["| package | why |", "|---|---|", *(f"| {one['package']} | {one['why']} |" for one in unplayable)]
    return before + "\n".join([*lines, "", END]) + after


def install(candidates: Sequence[Candidate], pythons: Path) -> None:
    """Make a virtual environment for each package that has none, and say which cannot be installed."""
    for one in candidates:
        python = one.python(pythons)
        if python.exists() and version_of(python, one.package):
            continue
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        wanted = one.pip if one.venv else (one.package, "numpy", "pettingzoo", *one.pip)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=False)
        if done.returncode:
            print(f"{one.package}: pip could not install it", file=sys.stderr)


def main() -> None:
    """Check the candidates, and print or write their rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.third_party", description="Check third-party packages.")
    parser.add_argument("packages", nargs="*", help="default: all of third_party.toml")
    parser.add_argument("--pythons", type=Path, required=True, help="a folder with a virtual environment for each")
    parser.add_argument("--install", action="store_true", help="make these virtual environments")
    parser.add_argument("--into", type=Path, help="a page with such a table, in which these rows are replaced")
    arguments = parser.parse_args()
    candidates, unplayable = read_candidates()
    chosen = [one for one in candidates if not arguments.packages or one.package in arguments.packages]
    if arguments.install:
        install([one for one in chosen if not one.here], arguments.pythons)
    for one in chosen:
        if not (version := version_of(one.python(arguments.pythons), one.package)):
            print(f"{one.package}: not installed, left out", file=sys.stderr)
            continue
        found = row(one, version, check(one, arguments.pythons))
        print(found, flush=True)
        if arguments.into is not None:
            known = [candidate.id for candidate in candidates]
            page = renewed(arguments.into.read_text(), {one.id: found}, known, unplayable)
            arguments.into.write_text(page)


if __name__ == "__main__":
    main()
