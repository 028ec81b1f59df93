"""Leagues that imitate: from recorded games or from an expert to a player, and what is refused before they start."""

import dataclasses

import pytest
from msgspec.structs import replace
from packed import packed

from collectors.envs.config import EnvConfig
from launch.config.compose import compose
from launch.config.config import ConfigError, stored
from launch.config.data_sets import check_imitation, deciders_of
from launch.packing.game_export import export_games
from launch.packing.packing import pack
from launch.processes.inline import play
from launch.start import begin, rehearse
from league.errors import LudusError
from league.policies.layout import PolicyConfig
from league.spec import Seat
from league.store.game_file import read_games, write_games
from league.store.player_file import read_player
from league.store.snapshots import SnapshotStore
from learners.algorithms.bc_config import BCConfig
from learners.algorithms.dagger_config import DAggerConfig

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


@pytest.fixture(scope="module")
def games(played, tmp_path_factory):
    """Return the recorded games of a played league of tic-tac-toe."""
    return export_games(played[0], tmp_path_factory.mktemp("games"))[0]


def wanted(*overrides):
    """Return the config of a short league."""
    return compose(
        [
            "env=tic_tac_toe", "league=selfplay", "launch=inline", "policy.hidden=[8]", "algo.batch=256",
            "collector.slots=16", "learner.candidate_decisions=256", "league.budget.minutes=null",
            "league.budget.env_steps=1000", "league.evaluation.final_games=8", *overrides,
        ]
    )  # fmt: skip


def silent(line):
    pass


def started(config):
    with begin(config, allow=(), accept=False, notify=silent) as run:
        return run, play(stored(run), run)


@pytest.mark.slow
def test_a_clone_is_an_ordinary_player_to_start_from_and_to_be_reset_to(games, tmp_path):
    run, state = started(wanted("algo=bc", f"algo.data={games}", "name=clone"))
    assert state.candidates["main"].decisions > 0
    file = pack(run, "main", tmp_path / "clone.safetensors")
    config = wanted("name=next", f"league.players.main.weights={file}", f"league.promotion.reset={file}")
    _, after = started(config)
    assert after.initial["main"] == read_player(file).hash


@pytest.mark.slow
def test_a_run_keeps_its_teacher_and_its_expert(tmp_path):
    file = packed(tmp_path / "expert.safetensors", policy=PolicyConfig(hidden=[8]))
    known = read_player(file).hash
    for number, how in enumerate(
        [
            ["algo=dagger", f"algo.expert={file}"],
            ["algo=a2c", f"algo.magnet={file}", "algo.magnet_coef=0.1", "algo.magnet_divergence=forward"],
            ["algo=ppo", f"+league.players.main.algo={{magnet: '{file}', magnet_coef: 0.1}}"],
        ]
    ):
        with begin(wanted(*how, f"name=run{number}"), allow=(), accept=False, notify=silent) as run:
            moved = file.rename(tmp_path / "gone.safetensors")
            assert known in SnapshotStore(run.snapshots)
            state = play(stored(run), run)
            moved.rename(file)
        assert state.candidates["main"].decisions > 0


def test_a_bot_is_an_expert(tmp_path):
    _, state = started(wanted("algo=dagger", "algo.expert=random", "name=student"))
    assert state.candidates["main"].decisions > 0


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["algo=bc"], r"algo=bc needs algo\.data=FOLDER"),
        (["algo=bc", "algo.data=nowhere"], r"algo\.data: there is no nowhere"),
        (["algo=dagger"], r"algo=dagger needs algo\.expert"),
        (
            ["algo=dagger", "algo.expert=nobody"],
            r"algo\.expert=nobody: there is no such file, and unknown bot 'nobody'",
        ),
        (["algo=dagger", "algo.expert=one_ply"], r"algo\.expert=one_ply: there is no such file, and .*[Cc]onnect"),
        (["algo=ppo", "algo.magnet=zoo:connect_four/strong"], r"algo\.magnet: this player is for another environment"),
    ],
)
def test_who_cannot_be_imitated_is_refused_before_there_is_a_run(overrides, said):
    with (
        pytest.raises(LudusError, match=said) as caught,
        begin(wanted(*overrides, "name=none"), allow=(), accept=False, notify=silent),
    ):
        pass
    assert "\n" not in str(caught.value)


def checked(algo, env, spec):
    check_imitation(algo, spec, lambda data: deciders_of(data, env, spec, silent))


def test_games_of_another_environment_or_seat_layout_are_refused_with_the_difference(games, played):
    spec, here = played[1].env, EnvConfig(name="tic_tac_toe")
    with pytest.raises(ConfigError, match=r'env\.name is "tic_tac_toe" in the data and "connect_four" here'):
        checked(BCConfig(data=str(games)), EnvConfig(name="connect_four"), spec)
    together = replace(spec, seats=(Seat((0, 1), "both"),))
    with pytest.raises(LudusError, match=r"seats player\[0\] player\[1\] in the data, both\[0, 1\] here"):
        checked(BCConfig(data=str(games)), here, together)
    checked(DAggerConfig(expert="random", data=str(games)), here, spec)


def test_a_whole_data_set_is_read_before_there_is_a_run_once_for_all_players(games, tmp_path):
    good = next(read_games(games))
    for number in range(3):
        write_games(tmp_path / f"games-{number:05}.safetensors", good)
    rows = [f"+league.players.{name}={{kind: main, algo: {{lr: 0.002}}}}" for name in ("second", "third")]
    config, told = wanted("algo=bc", f"algo.data={tmp_path}", *rows), []
    rehearse(config, progress=told.append)
    assert told == [f"algo.data={tmp_path}: {n * len(good.action):,} decisions" for n in (1, 2, 3)]
    write_games(tmp_path / "games-00002.safetensors", dataclasses.replace(good, mask=good.mask[:, :4]))
    with pytest.raises(LudusError, match=r"games-00002\.safetensors .* the array mask is bool .*4\)") as caught:
        rehearse(config)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "whose"),
    [
        (["algo=bc", "algo.data={}", "algo.players=[nobody.*]"], ""),
        (["algo=dagger", "algo.expert=random", "algo.data={}", "algo.players=[nobody.*]"], ""),
        (["+league.players.main.algo={{name: bc, data: '{}', players: [nobody.*]}}"], "league.players.main: "),
        (["+league.kinds.main.algo={{name: bc, data: '{}', players: [nobody.*]}}"], "league.players.main: "),
    ],
)
def test_players_that_a_data_set_lacks_are_refused_whoever_imitates_them(games, overrides, whose):
    with pytest.raises(ConfigError) as caught:
        rehearse(wanted(*(one.format(games) for one in overrides)))
    said = str(caught.value)
    assert said.startswith(f"{whose}algo.data={games}: no decision there is of nobody.*; players are ")
    assert "\n" not in said
