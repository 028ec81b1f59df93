"""Algorithms by name: each has its own keys, a player may have another one, and code of others has to be allowed."""

import json

import pytest

from launch.config.compose import compose
from launch.config.config import ConfigError, from_plain, settings_of, to_plain
from league.plugins import PluginError
from learners.algorithms.ppo_config import PPOConfig

OWN = '''
from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.config import AlgoConfig


@dataclass(kw_only=True)
class OwnConfig(AlgoConfig):
    """Mine."""

    algorithm: ClassVar[str] = "own_algo:Own"
    name: str = "own"
    lr: float = 0.5
    sharpness: float = 2.0  # how sharp it is

    def __post_init__(self):
        AlgoConfig.__post_init__(self)
        if self.sharpness < 0:
            raise ValueError("algo.sharpness must not be negative")


class Nothing:
    pass
'''
NAME = "own_algo:OwnConfig"
ALLOW = ["own_algo"]


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_algo.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_an_algorithm_brings_its_keys_and_defaults(own):
    config = compose([f"algo={NAME}", "algo.sharpness=3"], ALLOW)
    algo = settings_of(config, ALLOW).default.algo
    assert (type(algo).__name__, algo.name, algo.sharpness, algo.batch) == ("OwnConfig", NAME, 3.0, 4096)
    assert config.algo["lr"] == 0.5, "the experiment is tuned for another algorithm"
    assert config.algo["sharpness"] == 3.0
    assert "epochs" not in config.algo
    assert config.league.promotion.min_decisions == 50_000, "but the rest of the experiment counts"


def test_what_an_experiment_says_counts_for_its_own_algorithm():
    assert compose([]).algo["lr"] == compose(["algo=ppo"]).algo["lr"] == compose(["algo=mappo"]).algo["lr"] == 3e-3


def test_whoever_may_not_load_it_takes_it_as_it_is(own):
    config = compose([f"algo.name={NAME}"], ALLOW)
    again = from_plain(json.loads(json.dumps(to_plain(config))))
    assert again == config
    with pytest.raises(PluginError, match="--allow own_algo"):
        settings_of(again)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ([f"algo={NAME}", "algo.epochs=2"], "unknown key 'algo.epochs'; algo has name, batch, "),
        ([f"algo={NAME}", "algo.sharpnes=2"], "unknown key 'algo.sharpnes'; did you mean 'algo.sharpness'?"),
        ([f"algo={NAME}", "algo.sharpness=very"], "algo.sharpness=very: expected a number"),
        ([f"algo={NAME}", "algo.sharpness=-1"], "algo.sharpness must not be negative"),
        (["algo=own_algo:Nothing"], "is not the config of an algorithm"),
        (["algo=own_algo:Nobody"], "cannot load 'own_algo:Nobody'"),
        (["algo.name=pp"], "unknown algorithm 'pp'. Did you mean 'ppo'?"),
        (
            ["+league.players.main.algo={name: 'own_algo:OwnConfig', epochs: 2}"],
            "league.players.main.algo: unknown key 'epochs'",
        ),
    ],
)
def test_refusals(own, overrides, message):
    with pytest.raises(ConfigError) as caught:
        compose(overrides, ALLOW)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_code_of_others_has_to_be_allowed(own):
    with pytest.raises(ConfigError, match="--allow own_algo"):
        compose([f"algo={NAME}"])
    with pytest.raises(ConfigError, match="--allow own_algo"):
        compose([f"+league.players.main.algo={{name: '{NAME}'}}"])


def test_one_league_may_mix_algorithms(own):
    player = f"+league.players.odd={{kind: main, algo: {{name: '{NAME}', batch: 64}}}}"
    config = compose([player, "+league.players.main.algo.lr=0.1"], ALLOW)
    settings = settings_of(config, ALLOW)
    own_ones = {name: player.algo for name, player in settings.own.items()}
    assert isinstance(settings.default.algo, PPOConfig)
    assert (own_ones["odd"].batch, own_ones["odd"].lr) == (64, 0.5), "its own defaults, not those of `algo`"
    assert (own_ones["main"].lr, own_ones["main"].batch) == (0.1, 8192), "the rest as in `algo`"
