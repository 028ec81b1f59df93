r"""Checks of all text in a config: no control characters, no resolvers that read elsewhere, no secrets.

    wrong_text({"launch": {"slurm": {"partition": "a\n#SBATCH --wrap=x"}}})    # "launch.slurm.partition: ..."
    leaked({"launch": {"slurm": {"setup": ["export WANDB_API_KEY=0123456789"]}}})

A config is kept in the run directory, printed by reports, and sent to trackers.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from launch.terminal.clean import CONTROL

LINES = "env.kwargs."  # maps and grids of games have several lines
SHELL = re.compile(r"launch\.slurm\.(?:\w+\.)?(?:sbatch|setup|prefix|python)\b")  # ${VAR:-default} is shell's own
RESOLVER = re.compile(r"(?<!\\)\$\{\s*[A-Za-z_][\w.]*\s*:")
RESOLVED = ("runs",)  # keys in which oc.env may stand: where on this machine runs land

_SECRET = r"(?:api_?key|access_?key|private_?key|secret|token|password|passwd|credentials?)"
SECRET = re.compile(rf"(?:^|_){_SECRET}$", re.IGNORECASE)
GIVEN = re.compile(rf"\b\w*{_SECRET}=(?!['\"]?\$)['\"]?[^\s'\"$]{{8,}}", re.IGNORECASE)
SHAPES = re.compile(
    r"\b(?:wandb_v1_\w{10,}|hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|sk-[\w-]{20,}|AKIA[0-9A-Z]{16})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|://[^/\s:@]+:[^/\s@]+@"
)
SHORTEST = 8  # characters of a variable that may be a secret


def texts(plain: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a config with its key, in lists as well; a key is a text, too.

    >>> list(texts({"a": {"b": ["x"]}, "c": 1}))
    [('a', 'a'), ('a.b', 'b'), ('a.b[0]', 'x'), ('c', 'c')]
    """
    if isinstance(plain, str):
        yield key, plain
    elif isinstance(plain, Mapping):
        for name, inner in plain.items():
            below = f"{key}.{name}" if key else str(name)
            yield below, str(name)
            yield from texts(inner, below)
    elif isinstance(plain, list | tuple):
        for place, inner in enumerate(plain):
            yield from texts(inner, f"{key}[{place}]")


def wrong_text(plain: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the first text that has control characters or reads elsewhere; None if none has."""
    for key, text in texts(plain):
        kept = "\n\t" if key.startswith(LINES) else ""
        bad = next((found[0] for found in CONTROL.finditer(text) if found[0] not in kept), None)
        if bad is not None:
            return f"{ascii(key)[1:-1]}: {text!a} has the control character U+{ord(bad):04X}. Take it out"
        if RESOLVER.search(text) and not SHELL.match(key):
            return f"{key}: {text!r} is not resolved here. Write the value itself"
    return None


def wrong_resolver(raw: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the first resolver of a config that is not resolved yet; None if all are fine."""
    for key, text in texts(raw):
        used = {found[0] for found in RESOLVER.finditer(text)}
        if used and (key not in RESOLVED or any("oc.env" not in one for one in used)):
            return (
                f"{key}: {text!r} would read something else into the config, which is kept, reported and tracked. "
                f"Write the value itself; ${{oc.env:NAME}} may stand in {', '.join(RESOLVED)}"
            )
    return None


def leaked(plain: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> str | None:
    """Return which key of a config holds a secret, and where that belongs instead; None if none does."""
    secrets = [v for name, v in environment.items() if SECRET.search(name) and len(v) >= SHORTEST]
    for key, text in texts(plain):
        name = re.split(r"[.\[]", key)[-1] if "[" not in key.rpartition(".")[2] else ""
        named = bool(name and text != name and SECRET.search(name) and text)
        if named or GIVEN.search(text) or SHAPES.search(text) or any(secret in text for secret in secrets):
            return (
                f"{key} looks like a secret, and a config is kept in the run directory, reported and tracked. Give it "
                "in a variable of your shell, which all processes and jobs inherit, or let the job read it from a "
                "file: export NAME=$(cat FILE)"
            )
    return None
