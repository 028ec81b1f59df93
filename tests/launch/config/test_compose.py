"""Overrides that lead nowhere are refused in one line that says how to fix them."""

import json
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import conf
from collectors.envs.config import EnvConfig
from collectors.envs.plan import plan
from launch.config.compose import compose, compose_layers
from launch.config.config import ConfigError, from_plain, to_plain
from launch.config.origins import origin
from launch.sweeps.sweeping import combinations, split

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
            "unknown key 'track.zzz'; track has to, every, payoff_every, videos, frozen, variants, project, entity, "
            "mode, artifacts, seconds",
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
            "Known: alphastar, arena, cooperative, cross_play, fsp, pfsp, selfplay.",
        ),
        (
            "league=psro_exact",
            "league=psro_exact is no league. Exact best responses come from the tree of the game, without learners: "
            "ludus solve --by psro",
        ),
        ("algo=null", f"unknown algo 'None'. Known: {ALGORITHMS}."),
        ("algo.lr=fast", "algo.lr=fast: expected a number"),
        ("seed=1.5", "seed=1.5: expected a whole number"),
        ("policy.hidden=5", "policy.hidden=5: expected a list of whole numbers"),
        ("policy.hidden=[a]", "policy.hidden=[a]: expected a list of whole numbers"),
        ("league.budget.minutes=soon", "league.budget.minutes=soon: expected a number or null"),
        ("algo.normalise_advantages=3.5", "algo.normalise_advantages=3.5: expected true or false"),
        ("algo.lr=nan", "algo.lr=nan: expected finite numbers"),
        ("policy.support=[-inf,1.0]", "policy.support=[-inf, 1.0]: expected finite numbers"),
        ("seed=1,2", "'seed=1,2' is a sweep, but this starts one league: add -m to start one for each value"),
        (
            "league.promotion.threshold=2",
            "league.promotion.threshold must be at least 0 and below 1, which no score surely exceeds; got 2.0. "
            "To freeze by decisions only, use rule: decisions",
        ),
        ("league.payoff=chips", "league.payoff.by: unknown 'chips'; choose one of auto, outcome, return"),
        (
            "league.evaluation.carry=0.5",
            "league.evaluation.carry is gone: a rating is that of the newest candidate alone, so older games are not "
            "carried over: leave it out",
        ),
        (
            "env=pettingzoo",
            "env.id is missing: name the environment, e.g. env=pettingzoo env.id='classic/connect_four_v3'",
        ),
        (
            "env.id=classic/go_v5",
            "env.id is only for env.name=pettingzoo, openspiel, gymnasium, gymnasium_multi, atari, pgx; "
            "the seats of 'connect_four' are fixed",
        ),
        (
            "league.kinds.mian.promotion.threshold=0.6",
            "this league has no kind 'mian'; to add one write +league.kinds.mian={...}",
        ),
        (
            "league.kinds.main.promotion.treshold=0.6",
            "unknown key 'league.kinds.main.promotion.treshold'; did you mean 'league.kinds.main.promotion.threshold'?",
        ),
        (
            "league.promotion.reset_main=0.5",
            "league.promotion.reset_main has moved: each kind of player has its own: "
            "write league.kinds.main.promotion.reset and reset_chance",
        ),
        (
            "+league.players.second={kind: mian}",
            "league.players.second.kind: unknown kind 'mian'; did you mean 'main'? "
            "Known: main, main_exploiter, league_exploiter, scripted, mixture, frozen",
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
    ("override", "message"),
    [
        ("+league.players.r={kind: frozen}", "needs from=FILE"),
        ("+league.players.blend={kind: mixture, members: [main, randm]}", "there is no player 'randm'"),
        ("league.players.main.rate=-1", "rate must not be negative"),
    ],
)
def test_players_that_could_never_play_are_refused(override, message):
    with pytest.raises(ConfigError, match=message):
        compose(["league=alphastar", override])  # its freezes depend on who there is


@cache
def plain_of(algo):
    return to_plain(compose([f"algo={algo}"]))


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
    *algo, (part, key, value) = [re.split(r"[.=]", override, maxsplit=2) for override in overrides.split()]
    plain = plain_of(algo[0][1] if algo else "ppo")
    with pytest.raises(ConfigError) as caught:  # as `compose` does with what Hydra has composed, which takes longer
        from_plain({**plain, part: {**plain[part], key: json.loads(value)}}, ())
    assert str(caught.value) == message


def test_such_a_number_is_refused_on_the_command_line():
    with pytest.raises(ConfigError) as caught:
        compose(["algo=a2c", "algo.gae_lambda=-1"])
    assert str(caught.value) == "algo.gae_lambda must lie between 0 and 1, got -1.0"


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
    "Known: atari, connect_four, disc, gymnasium, gymnasium_multi, mine, openspiel, pettingzoo, pgx, recall, "
    "rock_paper_scissors, simple_spread, simple_tag, tic_tac_toe, two_step.",
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


def test_default_is_the_connect_four_league_of_three_minutes():
    config = compose([])
    assert (config.name, config.env.name, config.policy.name) == ("league", "connect_four", "board_conv")
    assert config.league.matchmaking.name == "selfplay"
    assert config.league.budget.minutes == 2.3
    assert [name for name, player in config.league.players.items() if not player.bot] == ["main"]
    with_exploiters = compose(["league=alphastar"]).league.players
    kinds = {name: (player.kind, player.rate) for name, player in with_exploiters.items()}
    assert kinds["main"] == ("main", 0.6)
    assert kinds["main_exploiter"] == ("main_exploiter", 0.3)
    assert kinds["league_exploiter"] == ("league_exploiter", 0.1)
    assert {name: player.anchor for name, player in config.league.players.items() if player.bot} == {
        "random": 0.0,
        "one_ply": 562.0,
    }


@pytest.mark.parametrize("recipe", ["selfplay", "fsp", "pfsp"])
def test_the_default_experiment_adds_nobody_but_its_anchor_to_another_recipe(recipe):
    players = compose([f"league={recipe}"]).league.players
    assert {name: player.kind for name, player in players.items()} == {
        "main": "main",
        "random": "scripted",
        "one_ply": "scripted",
    }


def test_pettingzoo_takes_an_id_and_kwargs_without_a_plus():
    config = compose(
        ["env=pettingzoo", "env.id=mpe2/simple_tag_v3", "env.kwargs.max_cycles=30", "env.kwargs.x={a: [1]}"]
    )
    assert config.env.kwargs == {"max_cycles": 30, "x": {"a": [1]}}
    assert config.policy.name == "mlp"
    assert "one_ply" not in config.league.players
    assert from_plain(to_plain(config)) == config


def test_seats_are_lists_of_agents():
    config = compose(["env=pettingzoo", "env.id=x/y_v0", "env.seats=[[a_0,a_1],[b_0]]"])
    assert config.env.seats == [["a_0", "a_1"], ["b_0"]]


@pytest.mark.parametrize(
    ("overrides", "env", "experiment_name"),
    [
        (["env=tic_tac_toe"], "tic_tac_toe", "tic_tac_toe"),
        (["experiment=rock_paper_scissors"], "rock_paper_scissors", "rock_paper_scissors"),
        (["experiment=null"], "connect_four", "league"),
        (["env=tic_tac_toe", "experiment=null"], "tic_tac_toe", "league"),
        (["env.name=tic_tac_toe"], "tic_tac_toe", "tic_tac_toe"),
        (["env.name=mine:Nim"], "mine:Nim", "league"),
    ],
)
def test_another_env_brings_its_own_experiment(overrides, env, experiment_name):
    config = compose(overrides)
    assert (config.env.name, config.name) == (env, experiment_name)
    assert "one_ply" not in config.league.players


def test_a_group_beats_the_experiment_that_overrides_it():
    assert compose(["experiment=rock_paper_scissors", "league=pfsp"]).league.matchmaking.name == "pfsp"


def test_a_plain_value_of_the_payoff_says_what_counts_as_better(tmp_path):
    assert compose([]).league.payoff.by == "auto"
    both = compose(["league.payoff=return", "league.payoff.decay=0.98"]).league.payoff
    assert (both.by, both.decay) == ("return", 0.98)
    for path, text in {
        "experiment/mine.yaml": "# @package _global_\nleague:\n  payoff: return\n",
        "league/mine.yaml": "defaults:\n  - pfsp\npayoff: outcome\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    config, layers = compose_layers(["experiment=mine", "league.payoff.scale=4"], config_dir=tmp_path)
    assert (config.league.payoff.by, config.league.payoff.scale) == ("return", 4.0)
    assert origin("league.payoff.by", layers).endswith("experiment/mine.yaml")
    assert compose(["league=mine"], config_dir=tmp_path).league.payoff.by == "outcome"
    assert compose(["experiment=mine", "league.payoff=auto"], config_dir=tmp_path).league.payoff.by == "auto"


def test_players_come_and_go():
    added = compose(["+league.players.second.kind=main", "+league.players.second.rate=0.5"])
    assert added.league.players["second"].rate == 0.5
    whole = compose(["+league.players.bot={kind: scripted, bot: random}"])
    assert whole.league.players["bot"].bot == "random"
    assert "one_ply" not in compose(["~league.players.one_ply"]).league.players
    assert compose(["league.players.main.rate=0.1"]).league.players["main"].rate == 0.1


def test_composing_leaves_nothing_behind():
    assert compose(["seed=7"]).seed == 7
    assert compose([]).seed == 1
    first, second = compose([]), compose([])
    first.league.players.clear()
    assert second.league.players


def test_seats_without_inner_brackets_are_refused_with_the_remedy():
    with pytest.raises(ConfigError, match=r"^env.seats=\[wolf_\*,sheep_0\]: expected a list of lists.* e.g. \[\[a,b\]"):
        compose(["env=pettingzoo", "env.id=my:env", "env.seats=[wolf_*,sheep_0]"])
    with pytest.raises(ConfigError, match=r"^env.roles=3: expected a list of texts or null"):
        compose(["env=pettingzoo", "env.id=my:env", "env.roles=3"])


def hints():
    """Return every place that tells how to name a game of OpenSpiel, as it is shown."""
    with pytest.raises(ValueError, match=r"env\.id is missing") as missing:
        EnvConfig(name="openspiel")
    with pytest.raises(ValueError, match=r"env\.id is missing") as nothing:
        plan("openspiel")
    pages = [ROOT / "conf/env/openspiel.yaml", ROOT / "docs/your-environment.md"]
    return [str(missing.value), str(nothing.value), *(page.read_text() for page in pages)]


def test_hints_on_games_with_brackets_work_as_they_are_typed():
    told = [found for hint in hints() for found in re.findall(r"'?env\.id=['\"]*[a-z]\w*\(.*?\)['\"]*", hint)]
    assert len(told) >= 5
    for words in map(shlex.split, told):
        assert compose(["env=openspiel", *words]).env.id == "go(board_size=9)", words


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("env.id=go(board_size=9)", "go(board_size=9)"),
        ("env.id='go(board_size=9)'", "go(board_size=9)"),
        ("env.id=goofspiel(num_cards=5,imp_info=true)", "goofspiel(num_cards=5,imp_info=true)"),
        ("env.id=misere(game=go(board_size=5))", "misere(game=go(board_size=5))"),
        ("env.id=kuhn_poker", "kuhn_poker"),
    ],
)
def test_a_game_with_brackets_needs_no_quotes(text, id):
    assert compose(["env=openspiel", text]).env.id == id


def test_games_with_brackets_can_be_swept():
    swept, _, common = split(["env=openspiel", "env.id=chess,goofspiel(num_cards=5,imp_info=true)"])
    ids = [compose([*common, *values]).env.id for values in combinations(swept)]
    assert ids == ["chess", "goofspiel(num_cards=5,imp_info=true)"]
    with pytest.raises(ConfigError, match="is a sweep"):
        compose(["env=openspiel", "env.id=choice(chess,checkers)"])
