"""The process of the far side: what it is started with, and what is said when it goes wrong before it plays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from collectors.envs.other_python.far_order import opening_of
from collectors.envs.other_python.far_process import (
    FAR_SIDE,
    HIDDEN,
    LARGEST_LOG,
    FarProcess,
    FarSideError,
    FarSideLost,
)

STACKS = {
    "a game": (["/usr/lib/python3.8/ctypes/__init__.py", "/games/go.py", "/games/board.py"], "/games/go.py", True),
    "in a library that it calls": (
        ["/v/lib/python3.8/site-packages/pygame/draw.py", "/games/go.py"],
        "/games/go.py",
        True,
    ),
    "an installed game": (
        ["/v/lib/python3.8/site-packages/numpy/core.py", "/v/lib/python3.8/site-packages/pettingzoo/rps.py"],
        "/v/lib/python3.8/site-packages/pettingzoo/rps.py",
        True,
    ),
    "a broken numpy": (
        ["/v/lib/python3.8/site-packages/numpy/core.py"],
        "/v/lib/python3.8/site-packages/numpy/core.py",
        False,
    ),
    "Python itself": (["<frozen importlib._bootstrap>"], "<frozen importlib._bootstrap>", False),
}


@pytest.mark.parametrize(("files", "named", "in_game"), STACKS.values(), ids=STACKS)
def test_the_innermost_place_of_the_game_is_named(files, named, in_game):
    stack = [f'  File "{file}", line 7 in step' for file in [*files, str(FAR_SIDE / "serving.py")]]
    error = FarSideLost("it crashed", "\n".join(stack))
    assert (str(error), error.in_game) == (f"it crashed, at {named}:7 in step", in_game)


def script(tmp_path, text):
    """Return a program of this Python that does something else than the far side."""
    place = tmp_path / "python"
    place.write_text(f"#!{sys.executable} -S\nimport os, sys\nchannel = int(sys.argv[3])\n{text}\n")
    place.chmod(0o755)
    return str(place)


def test_it_is_started_without_the_settings_of_this_python(tmp_path, monkeypatch):
    for name in HIDDEN:
        monkeypatch.setenv(name, "/nowhere")
    note = tmp_path / "note"
    python = script(
        tmp_path, f"open({str(note)!r}, 'w').write(repr((sys.argv[1:3], sorted(os.environ), os.getpgrp())))"
    )
    with FarProcess(python) as far, pytest.raises(FarSideLost, match="exit code 0 in open"):
        far.ask({"do": "open", "game": 0}, 30)
    assert f"['-E', '{FAR_SIDE}']" in note.read_text()
    assert not any(repr(name) in note.read_text() for name in HIDDEN)
    assert f", {os.getpgrp()})" not in note.read_text(), "Ctrl-C does not reach it"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("os.read(channel, 1); os.write(channel, b'\\x05\\0\\0\\0{nope')", r"answered nonsense: b'\{nope'"),
        ("os.read(channel, 1); os.write(channel, b'\\x04\\0\\0\\0[42]')", r"answered nonsense: b'\[42\]'"),
        (
            "os.read(channel, 1); os.write(channel, b'\\xff\\xff\\xff\\x7f')",
            r"answered nonsense: a message of 2,147,483,647 bytes",
        ),
        ("os.read(channel, 1); os.write(channel, b'\\x05')", r"exit code 0 in open"),
        ("print('ImportError: no numpy', file=sys.stderr); sys.exit(1)", r"exit code 1 in open: ImportError: no numpy"),
        ("os.close(channel)\nwhile True: sys.stdin.read() or os.getppid()", r"closed its connection in open"),
    ],
)
def test_what_it_answers_is_not_trusted(tmp_path, text, match, monkeypatch):
    monkeypatch.setattr("collectors.envs.other_python.far_process.END_SECONDS", 0.3)
    with FarProcess(script(tmp_path, text)) as far, pytest.raises(FarSideLost, match=match):
        far.ask({"do": "open", "game": 0}, 30)


def test_a_program_that_prints_instead_of_an_answer_fills_no_disk(tmp_path):
    python = script(tmp_path, "while True: os.write(1, b'x' * (1 << 20)); os.getppid()")
    with FarProcess(python) as far:
        with pytest.raises(FarSideLost, match=r"does not come back from open within 0.5 s"):
            far.ask({"do": "open", "game": 0}, 0.5)
        far._keep_small()
        assert far._dropped > LARGEST_LOG
        assert len(far.printed()) <= 1 << 14


def test_a_python_that_is_too_old_is_named(tmp_path):
    start = (FAR_SIDE / "__main__.py").read_text().replace("(3, 8)", "(99, 0)")
    (tmp_path / "__main__.py").write_text(start)
    ran = subprocess.run([sys.executable, str(tmp_path)], capture_output=True, text=True)
    assert ran.stderr == "this is Python {}.{}\n".format(*sys.version_info[:2])


def test_errors_of_the_far_side_are_those_of_the_environment():
    opening = opening_of("classic/no_such_v0", {}, [])
    with FarProcess(sys.executable) as far, pytest.raises(FarSideError, match="ModuleNotFoundError: No module named"):
        far.ask({"do": "open", "game": 0, **opening}, 30)


def test_nothing_is_left_open(tmp_path):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        FarProcess(script(tmp_path, "os.read(channel, 1)")).close()
        with pytest.raises(FarSideError, match="No such file"):
            FarProcess(str(tmp_path / "missing"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
