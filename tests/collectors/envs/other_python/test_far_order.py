"""What another Python may be asked to play: programs and packages that this call allows."""

import sys
from pathlib import Path

import pytest

from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.other_python.far_order import absolute, opening_of
from collectors.envs.other_python.far_side.loading import load
from league.plugins import PluginError

PYTHON = sys.executable


def test_a_program_runs_only_if_this_call_allows_it(tmp_path):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    python.chmod(0o755)
    config = EnvConfig(name="pettingzoo", id="classic/rps_v2", python=str(python))
    with pytest.raises(PluginError, match=f"If you trust it, add --allow {python} to the command"):
        make_environment(config, 1)
    with pytest.raises(PluginError, match="--allow"):
        make_environment(config, 1, ["pettingzoo"])
    assert not (tmp_path / "ran").exists()
    with pytest.raises(ValueError, match="exit code 0"):
        make_environment(config, 1, [str(python)])
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "id", ["os:system", "subprocess:run", "pettingzoo.utils.env:AECEnv", "pettingzoo.classic.rps.rps:os", "evil/x_v0"]
)
def test_code_of_other_packages_needs_leave_as_it_does_here(id):
    with pytest.raises(PluginError, match="--allow"):
        make_environment(EnvConfig(name="pettingzoo", id=id, python=PYTHON), 1, [PYTHON])


@pytest.mark.parametrize("id", ["classic/../x", "rps_v2", "classic/rps-v2", "a:b:c", "classic/rps_v2/x", ":x"])
def test_an_id_that_means_nothing_is_refused(id):
    with pytest.raises(PluginError, match="cannot read"):
        opening_of(id, {}, [])


def test_wrappers_and_arguments_are_those_that_a_config_may_name():
    with pytest.raises(PluginError, match=r"'os' of 'os:system' is not allowed"):
        opening_of("classic/rps_v2", {}, ["os:system"])
    with pytest.raises(PluginError, match="may lead pettingzoo to a file"):
        opening_of("classic/rps_v2", {"log_file": "x"}, [])
    with pytest.raises(PluginError, match="may lead supersuit to a file"):
        opening_of("classic/rps_v2", {}, [["supersuit:flatten_v0", {"path": "x"}]])
    found = opening_of("mpe2/simple_tag_v3", {"max_cycles": 5}, ["my_games:wrap"], allow=["my_games"])
    assert (found["module"], found["known"]) == ("mpe2.simple_tag_v3", True)
    assert found["wrappers"] == [("my_games", "wrap", {}, False)]


def test_a_name_of_a_known_package_that_comes_from_elsewhere_is_refused_there():
    assert load("pettingzoo.classic.rps.rps", ["parallel_env"], known=True).__name__ == "par_fn"
    for name in ("Discrete", "os", "gymnasium"):  # what the module imports
        with pytest.raises(ValueError, match="is not defined in its package, but in"):
            load("pettingzoo.classic.rps.rps", [name], known=True)


def test_the_current_directory_counts_only_for_packages(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert opening_of("classic/rps_v2", {}, [], allow=[PYTHON])["paths"] == []
    assert opening_of("my_games:Env", {}, [], allow=["my_games"])["paths"] == [str(tmp_path)]


def test_a_program_has_one_name_from_everywhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    assert absolute("old/bin/python") == str(tmp_path / "old/bin/python")
    assert absolute("~/old/../old/bin/python") == "/home/ada/old/bin/python"
    assert EnvConfig(name="pettingzoo", id="x/y", python="old/bin/python").python == str(
        Path("old/bin/python").absolute()
    )


def test_only_pettingzoo_plays_elsewhere():
    with pytest.raises(ValueError, match=r"env\.python is only for env=pettingzoo"):
        EnvConfig(name="connect_four", python=PYTHON)
    with pytest.raises(ValueError, match=r"env\.python_seconds must be a positive number"):
        EnvConfig(name="pettingzoo", id="x/y", python=PYTHON, python_seconds=0)
