"""When `ludus check-env` proposes another Python."""

import pytest

from collectors.check import check
from collectors.envs.config import EnvConfig
from collectors.envs.other_python.version_hints import venvs_with, version_hint


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (AttributeError("module 'numpy' has no attribute 'bool8'"), "numpy < 2"),
        (AttributeError("`np.float_` was removed in the NumPy 2.0 release. Use `np.float64` instead."), "numpy < 2"),
        (ImportError("numpy.core.multiarray failed to import"), "numpy < 2"),
        (ValueError("numpy.dtype size changed, may indicate binary incompatibility"), "numpy < 2"),
        (ImportError("cannot import name 'agent_selector' from 'pettingzoo.utils' (x.py)"), "an older PettingZoo"),
        (TypeError("'module' object is not callable"), "an older PettingZoo"),
        (ModuleNotFoundError("No module named 'pettingzoo.magent'"), "an older PettingZoo"),
        (ModuleNotFoundError("No module named 'gym'"), "an older PettingZoo"),
        (ModuleNotFoundError("No module named 'distutils'"), "an older Python"),
        (ModuleNotFoundError("No module named 'hidden_games'"), "Install hidden_games here"),
    ],
)
def test_errors_of_versions_are_known(error, wanted):
    hint = version_hint(error, near=[])
    assert wanted in hint
    assert "env.python=OTHER_VENV/bin/python" in hint
    caused = ValueError("cannot load it")
    caused.__cause__ = error
    assert version_hint(caused, near=[]) == hint


@pytest.mark.parametrize("error", [ValueError("board_size must be odd"), TypeError("missing 1 required argument")])
def test_other_errors_are_left_alone(error):
    assert version_hint(error, near=[]) == ""


def plant(folder, package):
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    (folder / "bin" / "python").touch()
    (folder / "lib" / "python3.8" / "site-packages" / package).mkdir(parents=True)
    return str(folder / "bin" / "python")


def test_a_virtual_environment_nearby_that_has_the_module_is_named(tmp_path):
    plant(tmp_path / "new", "other")
    python = plant(tmp_path / "old", "hidden_games")
    assert venvs_with("hidden_games.words", [tmp_path, tmp_path / "none"]) == [python]
    hint = version_hint(ModuleNotFoundError("No module named 'hidden_games.words'"), near=[tmp_path])
    assert hint.startswith(f"{python} has hidden_games: add env.python={python}")


def test_check_env_proposes_it(tmp_path, monkeypatch):
    python = plant(tmp_path / "old", "hidden_games")
    monkeypatch.chdir(tmp_path)
    report = check(EnvConfig(name="pettingzoo", id="hidden_games.words:Env"), allow=["hidden_games"])
    assert [f"add env.python={python}" in problem.remedy for problem in report.problems] == [True]
