"""Overrides that lead nowhere are refused in one line that says how to mend them."""

import subprocess
import sys
from pathlib import Path

import pytest

import conf
from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.start import rehearse

ROOT = Path(conf.__file__).parent.parent
ALGORITHMS = ", ".join(sorted(path.stem for path in (ROOT / "conf/algo").glob("*.yaml")))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("algo.leraning_rate=1", "unknown key 'algo.leraning_rate'; did you mean 'algo.lr'?"),
        ("algo.epoch=1", "unknown key 'algo.epoch'; did you mean 'algo.epochs'?"),
        ("lr=1", "unknown key 'lr'; did you mean 'algo.lr'?"),
        ("evn=tic_tac_toe", "unknown key 'evn'; did you mean 'env'?"),
        ("experimnt=tic_tac_toe", "unknown key 'experimnt'; did you mean 'experiment'?"),
        ("algo.lr.x=1", "unknown key 'algo.lr.x'; 'algo.lr' is a number and has no keys"),
        (
            "+track.zzz=1",
            "unknown key 'track.zzz'; track has to, every, payoff_every, videos, frozen, project, entity, mode, "
            "artifacts, seconds",
        ),
        (
            "league.players.main.rat=1",
            "unknown key 'league.players.main.rat'; did you mean 'league.players.main.rate'?",
        ),
        (
            "+league.players.main.policy.hiden=[8]",
            "league.players.main.policy: unknown key 'hiden'; did you mean 'hidden'?",
        ),
        (
            "+league.players.main.policy.memory=rnn",
            "league.players.main.policy: policy.memory: unknown 'rnn'. Known: none, gru, lstm.",
        ),
        ("+league.players.main.algo.lr=fast", "league.players.main.algo.lr: Expected `float`, got `str`"),
        ("algo=zzz", f"unknown algo 'zzz'. Known: {ALGORITHMS}."),
        (
            "league=alphstar",
            "unknown league 'alphstar'. Did you mean 'alphastar'? "
            "Known: alphastar, cooperative, cross_play, fsp, pfsp, selfplay.",
        ),
        ("algo=null", f"unknown algo 'None'. Known: {ALGORITHMS}."),
        ("algo.lr=fast", "algo.lr=fast: expected a number"),
        ("seed=1.5", "seed=1.5: expected a whole number"),
        ("policy.hidden=5", "policy.hidden=5: expected a list of whole numbers"),
        ("policy.hidden=[a]", "policy.hidden=[a]: expected a list of whole numbers"),
        ("league.budget.minutes=soon", "league.budget.minutes=soon: expected a number or null"),
        ("algo.normalise_advantages=3.5", "algo.normalise_advantages=3.5: expected true or false"),
        ("algo.lr=nan", "algo.lr=nan: expected a finite number"),
        ("seed=1,2", "'seed=1,2' is a sweep, but this starts one league: add -m to start one for each value"),
        ("league.promotion.threshold=2", "league.promotion.threshold must lie between 0 and 1, got 2.0"),
        (
            "env=pettingzoo",
            "env.id is missing: name the environment, e.g. env=pettingzoo env.id='classic/connect_four_v3'",
        ),
        (
            "env.id=classic/go_v5",
            "env.id is only for env.name=pettingzoo, openspiel, gymnasium, atari; "
            "the seats of 'connect_four' are fixed",
        ),
        (
            "league.players.mian.rate=0.3",
            "this league has no player 'mian'; to add one write +league.players.mian.rate=0.3",
        ),
    ],
)
def test_refusal(override, message):
    with pytest.raises(ConfigError) as caught:
        compose([override])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ("collector.slots=0", "collector.slots must be at least 1, got 0"),
        ("collector.ticks=0", "collector.ticks must be at least 1, got 0"),
        ("collector.flush_decisions=0", "collector.flush_decisions must be at least 1, got 0"),
        ("collector.flush_seconds=-1", "collector.flush_seconds must be at least 0, got -1.0"),
        ("collector.cache_megabytes=-1", "collector.cache_megabytes must be at least 0, got -1"),
        ("collector.heartbeat=0", "collector.heartbeat must be positive, got 0.0"),
        ("collector.hang_seconds=0", "collector.hang_seconds must be positive, got 0.0"),
        ("collector.record_share=2", "collector.record_share must lie between 0 and 1, got 2.0"),
        ("algo.lr=0", "algo: lr and max_grad_norm must be positive, lr_final not negative"),
        ("algo.max_grad_norm=-1", "algo: lr and max_grad_norm must be positive, lr_final not negative"),
        ("algo.lr_final=-1", "algo: lr and max_grad_norm must be positive, lr_final not negative"),
        ("algo.gamma=1.1", "algo.gamma must lie between 0 and 1, got 1.1"),
        ("algo.entropy=-1", "algo: entropy, entropy_final and value_coef must not be negative"),
        ("algo.value_coef=-1", "algo: entropy, entropy_final and value_coef must not be negative"),
        ("algo.gae_lambda=2", "algo.gae_lambda must lie between 0 and 1, got 2.0"),
        ("algo.clip=0", "algo.clip must be positive, got 0.0"),
        ("algo.value_clip=0", "algo.value_clip must be positive, got 0.0"),
        ("algo.target_kl=-1", "algo.target_kl must be positive, got -1.0"),
        ("algo=a2c algo.gae_lambda=-1", "algo.gae_lambda must lie between 0 and 1, got -1.0"),
        ("algo=impala algo.vtrace_lambda=2", "algo.vtrace_lambda must lie between 0 and 1, got 2.0"),
    ],
)
def test_a_number_with_which_nothing_could_be_played_or_learnt(overrides, message):
    with pytest.raises(ConfigError) as caught:
        compose(overrides.split())
    assert str(caught.value) == message


def test_the_smallest_numbers_that_can_be_played_are_taken():
    least = [
        "slots=1",
        "ahead=1",
        "ticks=1",
        "flush_decisions=1",
        "flush_seconds=0",
        "cache_megabytes=0",
        "record_share=0",
    ]
    assert compose([f"collector.{override}" for override in least]).collector.slots == 1


def test_an_environment_id_in_the_place_of_a_group_is_told_where_to_go():
    with pytest.raises(ConfigError, match=r"env=pettingzoo env\.id=classic/go_v5"):
        compose(["env=classic/go_v5"])


@pytest.mark.parametrize(
    "override", ["seed", "a b", "=1", "league.players={second: {kind: main}}", "algo.lr=${nowhere}"]
)
def test_whatever_hydra_says_becomes_one_line(override):
    with pytest.raises(ConfigError) as caught:
        compose([override])
    assert "\n" not in str(caught.value)


PLUGIN = """
from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin


class Mine(SearchPathPlugin):
    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        search_path.append(provider="userpkg", path="pkg://userpkg.conf")
"""


FILES = {
    "hydra_plugins/userpkg/__init__.py": "",
    "hydra_plugins/userpkg/search.py": PLUGIN,
    "userpkg/__init__.py": "",
    "userpkg/conf/__init__.py": "",
    "userpkg/conf/env/mine.yaml": "# Mine.\nname: userpkg.game:Game\nkwargs: {size: 3}\n",
    "userpkg/conf/experiment/typo.yaml": "# @package _global_\nalgo:\n  epoch: 2\n",
    "userpkg/conf/experiment/words.yaml": "# @package _global_\nalgo:\n  epochs: many\n",
}
ANSWERS = {
    "env=mine": "userpkg.game:Game {'size': 3} mlp",
    "env=mien": "unknown env 'mien'. Did you mean 'mine'? "
    "Known: atari, connect_four, gymnasium, mine, openspiel, pettingzoo, recall, rock_paper_scissors, simple_spread, "
    "simple_tag, tic_tac_toe, two_step.",
    "experiment=typo": "unknown key 'algo.epoch'; did you mean 'algo.epochs'? (in pkg://userpkg.conf/experiment/typo.yaml)",
    "experiment=words": "algo.epochs=many: expected a whole number (in pkg://userpkg.conf/experiment/words.yaml)",
}
ASK = """
import sys
from launch.config.compose import compose
from launch.config.config import ConfigError

for override in sys.argv[1:]:
    try:
        config = compose([override])
        print(config.env.name, config.env.kwargs, config.policy.name)
    except ConfigError as error:
        print(error)
"""


def test_packages_of_users_bring_their_own_options(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    # Hydra looks for plugins once in a process, so this needs one of its own.
    environment = {"PYTHONPATH": f"{ROOT}:{tmp_path}", "PATH": ""}
    arguments = [sys.executable, "-c", ASK, *ANSWERS]
    answers = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True).stdout
    assert answers.splitlines() == list(ANSWERS.values())


@pytest.mark.parametrize("setting", ["algo.lr_schedule=linear", "algo.entropy_final=0.001"])
def test_an_anneal_over_no_budget_is_refused(setting):
    endless = ["env=tic_tac_toe", "league.budget.minutes=null", setting]
    with pytest.raises(ConfigError) as caught:
        rehearse(compose(endless))
    assert str(caught.value) == (
        f"{setting} is annealed over the league's budget, but it has none. Set league.budget.minutes or "
        "league.budget.env_steps, or say in algo.anneal_decisions over how many decisions to anneal"
    )
    rehearse(compose([*endless, "algo.anneal_decisions=1000"]))
    rehearse(compose([*endless, "league.budget.env_steps=1000"]))
