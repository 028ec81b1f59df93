"""Groups of the user's own: a folder with --config-dir, and what Hydra needs to find those of a package."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from launch.cli import main
from launch.config.compose import compose
from launch.config.config import ConfigError, settings_of
from launch.config.groups import CONF
from league.rulebook import founders

ROOT = CONF.parent
GLOBAL = "# @package _global_\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a function that writes configs into a folder `mine` of the current directory, and returns it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LUDUS_TRACEBACK", raising=False)

    def written(**files):
        for name, text in files.items():
            path = tmp_path / "mine" / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text) if isinstance(text, bytes) else path.write_text(text)
        return Path("mine")

    return written


def test_groups_of_a_folder_compose_with_ours(folder):
    mine = folder(
        experiment__quick=f"{GLOBAL}defaults: [override /env: small, override /league: pfsp]\nname: quick\nseed: 5\n",
        env__small="# Small.\nname: tic_tac_toe\n",
        launch__slurm__ours="# Ours.\ndefaults:\n  - /launch/slurm@_here_\nslurm: {account: us}\n",
    )
    config = compose(["experiment=quick", "launch=slurm/ours"], config_dir=mine)
    assert (config.name, config.seed, config.env.name) == ("quick", 5, "tic_tac_toe")
    assert (config.league.matchmaking.name, config.launch.slurm.account) == ("pfsp", "us")
    assert compose(["env=small"], config_dir=mine).name == "league", "no experiment has the name of this env"
    with pytest.raises(ConfigError, match="unknown experiment 'quick'"):
        compose(["experiment=quick"])


def test_an_experiment_of_the_folder_comes_with_the_env_of_its_name(folder):
    mine = folder(experiment__small=f"{GLOBAL}seed: 9\n", env__small="name: tic_tac_toe\n")
    assert compose(["env=small"], config_dir=mine).seed == 9


ENVS = (
    "Known: atari, connect_four, disc, gymnasium, gymnasium_multi, openspiel, pettingzoo, pgx, recall, "
    "rock_paper_scissors, simple_spread, "
    "simple_tag, tic_tac_toe, two_step."
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("algo: {epoch: 2}\n", "unknown key 'algo.epoch'; did you mean 'algo.epochs'? (in FILE)"),
        ("algo: {epochs: many}\n", "algo.epochs=many: expected a whole number (in FILE)"),
        ("algo: {clip: -1}\n", "algo.clip must be positive, got -1.0 (in FILE)"),
        ("algo: {lr: [1\nseed: 2\n", "FILE, line 3: this is not YAML: expected ',' or ']', but got ':'"),
        ("defaults:\n  - override /env: nowhere\n", f"unknown env 'nowhere'. {ENVS} (in FILE)"),
        ("defaults:\n  - override /envs: x\n", "Could not override 'envs'. No match in the defaults list. (in FILE)"),
        ("- 1\n", "ConfigTypeError raised while composing config: Cannot merge DictConfig with ListConfig (in FILE)"),
        (
            "league: {players: {main: {rat: 1}}}\n",
            "unknown key 'league.players.main.rat'; did you mean 'league.players.main.rate'? (in FILE)",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_name(folder, text, message):
    mine = folder(experiment__wrong=GLOBAL + text)
    with pytest.raises(ConfigError) as caught:
        compose(["experiment=wrong"], config_dir=mine)
    assert str(caught.value) == message.replace("FILE", "mine/experiment/wrong.yaml")


def test_an_experiment_without_its_first_line_and_one_that_is_no_text(folder):
    mine = folder(experiment__bare="seed: 3\n", experiment__bytes=b"\xff\xfe")
    with pytest.raises(ConfigError) as caught:
        compose(["experiment=bare"], config_dir=mine)
    line = "an experiment must begin with the line `# @package _global_` (in mine/experiment/bare.yaml)"
    assert str(caught.value) == line
    with pytest.raises(ConfigError, match=r"mine/experiment/bytes\.yaml: this is not YAML"):
        compose(["experiment=bytes"], config_dir=mine)


def test_the_command_line_is_blamed_for_what_it_says_itself(folder):
    mine = folder(experiment__clip=f"{GLOBAL}algo: {{clip: 0.1}}\n")
    with pytest.raises(ConfigError) as caught:
        compose(["experiment=clip", "algo.clip=-1"], config_dir=mine)
    assert str(caught.value) == "algo.clip must be positive, got -1.0"


def test_a_folder_that_cannot_be_used(folder, capsys):
    assert main(["run", "--config-dir", "nowhere", "--cfg"]) == 2
    assert capsys.readouterr().err == "ludus: --config-dir nowhere: there is no such folder\n"
    folder(docker="services: {}\n")
    assert main(["run", "--config-dir", "mine", "--cfg"]) == 2
    assert (
        "mine: it has no groups. Put each config into a folder named after its group (algo, env"
        in capsys.readouterr().err
    )
    folder(league__pfsp="players: {}\n")
    assert main(["run", "--config-dir", "mine", "--cfg"]) == 2
    assert "mine/league/pfsp.yaml: Ludus, or a package, has a config of this name" in capsys.readouterr().err
    Path("mine/league/pfsp.yaml").rename("mine/league/ours.yml")
    assert main(["run", "--config-dir", "mine", "--cfg"]) == 2
    assert "mine/league/ours.yml: only files that end in .yaml are read" in capsys.readouterr().err


def test_leagues_of_a_sweep_are_composed_with_the_folder(folder, capsys):
    folder(league__ours="matchmaking: {name: fsp}\nplayers: {main: {kind: main}}\n")
    words = ["-m", "league=ours,pfsp", "env=tic_tac_toe", "--config-dir", "mine", "--dry-run", "--json"]
    assert main(["run", *words]) == 0
    names = [json.loads(line)["run"] for line in capsys.readouterr().out.splitlines()]
    assert names == ["runs/tic_tac_toe.league=ours", "runs/tic_tac_toe.league=pfsp"]


def test_the_folder_of_the_examples_composes():
    config = compose(["experiment=quick_tic_tac_toe"], config_dir=ROOT / "examples" / "my_configs")
    assert sorted(config.league.players) == ["first", "random", "second"]


PLUGIN = """
from hydra.plugins.search_path_plugin import SearchPathPlugin

class Mine(SearchPathPlugin):
    def manipulate_search_path(self, search_path):
        search_path.append(provider="my_games", path="pkg://my_games.conf")
"""
ASK = """
from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from launch.config.compose import compose
from launch.config.config import ConfigError, settings_of

try:
    print(compose(["env=nim"]).env.name)
except ConfigError as error:
    print(str(error).partition(".")[0])
print("SlurmLauncher" in [plugin.__name__ for plugin in Plugins.instance().discover(Launcher)])
"""
FILES = ("hydra_plugins/my_games/__init__.py", "my_games/__init__.py", "my_games/conf/__init__.py")


@pytest.mark.parametrize(
    ("missing", "added", "answer"),
    [
        ((), (), ["my_games:Nim", "True"]),
        (FILES[:1], (), ["unknown env 'nim'", "True"]),
        (FILES[1:2], (), ["my_games:Nim", "True"]),
        ((), ("hydra_plugins/__init__.py",), ["my_games:Nim", "False"]),
    ],
    ids=["as the page says", "plugin without init", "package without init", "init that hides other plugins"],
)
def test_which_init_files_a_package_with_groups_needs(tmp_path, missing, added, answer):
    """docs/your-environment.md says so: Hydra passes silently over a plugin's folder without one."""
    texts = {name: "" for name in (*FILES, *added) if name not in missing}
    texts |= {"hydra_plugins/my_games/search_path.py": PLUGIN, "my_games/conf/env/nim.yaml": "name: my_games:Nim\n"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    done = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == answer


def test_a_fourth_kind_of_player_is_a_row_of_a_file():
    config = compose(["league=veterans", "env=tic_tac_toe"], config_dir=ROOT / "examples" / "my_configs")
    veteran = config.league.rules("veteran")
    assert list(config.league.kinds) == ["main", "main_exploiter", "league_exploiter", "veteran"]
    assert (veteran.matchmaking.pool, veteran.promotion.reset) == (["main_exploiter", "league_exploiter"], "never")
    player = next(p for p in founders(config.league) if p.id == "veteran")
    assert (player.kind, player.rate) == ("veteran", 0.1)
    assert settings_of(config)["veteran"].algo.entropy == 0.02 != settings_of(config)["main"].algo.entropy
    by_role = settings_of(config, roles=["fox", "hound"])
    assert by_role["veteran_fox"].algo.entropy == by_role["veteran_hound"].algo.entropy == 0.02
