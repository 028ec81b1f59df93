"""What algorithms handle: the table in the docs is that of the code, and who cannot do a thing names those who can."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from small_dqn import POLICY

from league.plugins import BUILTIN, resolve
from league.policies.layout import PolicyConfig
from league.spec import ACTIONS, Array, EnvSpec, Seat
from learners.algorithms.abilities import able_to, table, written
from learners.algorithms.config import AlgoConfig
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.algorithms.replay_config import ReplayConfig
from learners.algorithms.vdn_config import VDNConfig

ROOT = Path(__file__).parents[3]
SEATS = (Seat((0,)),)
GAMES = {
    "one choice": EnvSpec("one", ("a",), SEATS, Array((3,), "float32"), actions=5),
    "several choices": EnvSpec("several", ("a",), SEATS, Array((3,), "float32"), actions=5, choices=(2, 3)),
    "continuous": EnvSpec("numbers", ("a",), SEATS, Array((3,), "float32"), actions=0, continuous=2),
    "mixtures": EnvSpec("mixed", ("a",), SEATS, Array((3,), "float32"), actions=5, continuous=1),
}
NAMES = sorted(BUILTIN["ludus.algorithms"])


@dataclass(kw_only=True, slots=True)
class LonerConfig(AlgoConfig):
    """An algorithm of a user, which trains one agent on one rank."""

    algorithm: ClassVar[str] = "somewhere:Loner"
    teams: ClassVar[str] = ""
    ranks: ClassVar[bool] = False
    name: str = "loner"


def test_the_table_in_the_docs_is_that_of_the_code():
    page = (ROOT / "docs/algorithms.md").read_text()
    assert page == written(page), "run: python -m learners.algorithms.abilities docs/algorithms.md"


def test_the_table_has_a_row_for_each_algorithm_and_a_cell_for_each_ability():
    head, _, *rows = table()
    assert [row.split("`")[1] for row in rows] == NAMES
    assert {row.count("|") for row in rows} == {head.count("|")}
    dqn = next(row for row in rows if "`dqn`" in row)
    assert dqn == "| `dqn` | yes | no | no | no | yes | each agent | yes | yes | no | yes | yes | yes |"


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="no marks"):
        written("# Algorithms")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ACTIONS)
def test_every_algorithm_refuses_the_actions_that_it_does_not_declare(name, kind):
    config, game = resolve("ludus.algorithms", name)(), GAMES[kind]
    assert game.action_kind == kind
    if kind in config.actions:
        config.refuse_game(game)
        assert name in able_to("actions", kind)
        return
    assert name not in able_to("actions", kind)
    with pytest.raises(ValueError, match=rf"algo={name} learns .* but the actions of .* are {kind} .*: a2c, appo, "):
        config.refuse_game(game)


@pytest.mark.parametrize("name", NAMES)
def test_who_learns_from_a_replay_is_declared(name):
    kind = resolve("ludus.algorithms", name)
    assert kind.replays == issubclass(kind, ReplayConfig)
    assert (name in able_to("replays")) == kind.replays


@pytest.mark.parametrize(
    ("config", "policy", "message"),
    [
        (VDNConfig(), replace(POLICY, memory="gru"), r"memory. Set policy.memory=none, or use .* can: a2c, .* dqn, "),
        (DQNConfig(), replace(POLICY, critic="central"), r"no use for policy.critic=central. .*: a2c, .*ppo"),
        (LonerConfig(), PolicyConfig(head="values"), "algo=loner needs policy.head=logits"),
    ],
)
def test_a_network_that_does_not_fit_is_refused_with_those_that_can(config, policy, message):
    with pytest.raises(ValueError, match=message):
        config.refuse(policy)


def test_an_algorithm_of_a_user_inherits_what_it_does_not_declare():
    LonerConfig().refuse(PolicyConfig(memory="gru", critic="central", normalise=True))
    for game in GAMES.values():
        LonerConfig().refuse_game(game)


def test_teams_and_ranks_are_refused_by_who_cannot_train_them():
    team = replace_seats(GAMES["one choice"])
    PPOConfig().refuse_game(team, ranks=4)
    with pytest.raises(
        ValueError, match=r"algo=loner trains no seat of several agents, and 'one' has one of 2. .*: a2c, "
    ):
        LonerConfig().refuse_game(team)
    with pytest.raises(ValueError, match=r"among 4 ranks. Set launch.ranks=1, or .*: a2c, "):
        LonerConfig().refuse_game(GAMES["one choice"], ranks=4)


def replace_seats(spec):
    return EnvSpec(spec.name, ("a", "b"), (Seat((0, 1)),), spec.observation, actions=spec.actions)
