"""A test that cannot run here skips politely; under `.ci/run` that is a failure which says what is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITE = """
import pytest

def test_needs_a_right():
    pytest.skip("needs the right to mount")

@pytest.mark.skipif(True, reason="needs a codec")
def test_needs_a_codec():
    pass

@pytest.fixture
def slurm():
    pytest.skip("needs a Slurm")

def test_needs_a_fixture(slurm):
    pass

@pytest.mark.xfail(reason="known", strict=True)
def test_known_to_fail():
    raise AssertionError

def test_passes():
    pass
"""
MODULE = 'import pytest\npytest.importorskip("no_such_module", reason="needs a module")\n'


@pytest.fixture
def outcome(tmp_path):
    """Return a function that runs a suite with our conftest, and returns how it ended and what it printed."""
    (tmp_path / "conftest.py").write_text((HERE / "conftest.py").read_text())
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "test_module.py").write_text(MODULE)

    def run(**environment):
        without = {key: value for key, value in os.environ.items() if not key.startswith(("LUDUS_", "PYTEST_"))}
        without["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir=."]
        done = subprocess.run(
            command, cwd=tmp_path, env=without | environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    return run


def test_outside_of_ci_what_cannot_run_is_skipped_and_says_why(outcome):
    code, text = outcome()
    assert code == 0, text
    assert "1 passed, 4 skipped, 1 xfailed" in text
    assert all(f"needs a {what}" in text for what in ("codec", "Slurm", "module"))


def test_in_ci_a_skip_is_a_failure_that_says_why(outcome):
    code, text = outcome(LUDUS_NO_SKIPS="1")
    assert code != 0
    assert "this would be skipped: could not import 'no_such_module'" in text or "needs a module" in text
    code, text = outcome(LUDUS_NO_SKIPS="1", PYTEST_ADDOPTS="--ignore=test_module.py")
    assert code == 1, text
    assert "1 failed, 1 passed, 1 xfailed, 2 errors" in text
    assert all(f"this would be skipped: Skipped: needs {what}" in text for what in ("the right to mount", "a Slurm"))
    assert "needs a codec" in text


def test_ci_forgives_no_skip():
    assert "export LUDUS_NO_SKIPS=1" in (HERE.parent / ".ci" / "run").read_text()
