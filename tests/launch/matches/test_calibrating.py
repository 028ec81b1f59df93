"""Calibration: known answers, the precision that was asked for, the shipped anchors, and what is refused."""

import json

import numpy as np
import pytest

from collectors.envs.config import EnvConfig
from launch.cli import main
from launch.config.compose import compose
from launch.matches.calibrating import Calibrated, Precision, calibrate, calibration_lines, elo_reach
from launch.matches.stopping import elo_of
from league.errors import InputError


def test_the_interval_of_elo_is_that_of_the_score_times_the_slope():
    """Known answer: a score of .5 in pairs of independent games; 1 % of a score is 6.95 Elo there."""
    scores = np.array([0.0, 0.5, 0.5, 1.0] * 10_000)
    assert elo_reach(scores) == pytest.approx(1.96 * (0.125 / 40_000) ** 0.5 * 694.9, rel=1e-3)
    assert elo_reach(np.ones(100)) == np.inf


def test_the_anchor_that_is_shipped_is_what_calibration_finds(figure):
    """One_ply against random in connect four: the setting lies in the interval, three times as wide to be safe."""
    shipped = compose(["experiment=connect_four"]).league.players["one_ply"].anchor
    found = calibrate(EnvConfig(name="connect_four"), ["random", "one_ply"], Precision(half_width=30.0, seed=4))[1]
    assert found.half_width <= 30
    assert shipped == pytest.approx(found.elo, abs=1.5 * found.half_width)
    assert found.elo == pytest.approx(elo_of(found.score))
    figure(f"one_ply is {found.elo:.0f} ±{found.half_width:.0f} after {found.games} games; shipped is {shipped:g}")


def test_the_same_seed_is_the_same_table_and_it_is_written_to_a_file(tmp_path, capsys):
    command = ["calibrate", "connect_four", "random", "one_ply", "--half-width", "60", "--json"]
    assert main([*command, "--out", str(tmp_path / "anchors.json")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "anchors.json").read_text()) == told
    assert [row["bot"] for row in told] == ["random", "one_ply"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out) == told


def test_the_order_of_bots_only_turns_the_sign():
    env, precision = EnvConfig(name="connect_four"), Precision(half_width=60.0)
    assert calibrate(env, ["one_ply", "random"], precision)[1].elo < -450


def test_the_table_names_the_settings():
    rows = [
        Calibrated(bot="random", elo=0.0, half_width=0.0),
        Calibrated(bot="one_ply", elo=560.4, half_width=4.9, against="random", score=0.9612, games=130_000),
    ]
    assert calibration_lines(rows) == [
        "random       0",
        "one_ply    560 ±4.9  96.12% against random, 130,000 games",
        "in a league: league.players.random.anchor=0 league.players.one_ply.anchor=560",
    ]


def test_a_bot_that_always_wins_needs_another_one_between():
    with pytest.raises(InputError, match=r"one won all 6 games\. Name a bot between them"):
        calibrate(EnvConfig(name="connect_four"), ["random", "one_ply"], Precision(games=6, seed=1))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["connect_four", "random"], "at least two different bots"),
        (["connect_four", "random", "random"], "at least two different bots"),
        (["connect_four", "random", "one_ply", "--half-width", "0"], "must be positive"),
        (["connect_four", "random", "two_ply"], "one_ply"),
        (["tic_tac_toe", "random", "one_ply"], "connect four only"),
        (["simple_spread", "random", "one_ply"], "nobody is beaten"),
        (["simple_tag", "random", "one_ply"], "different roles"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(words, reason, capsys):
    assert main(["calibrate", *words]) != 0
    assert reason in capsys.readouterr().err
