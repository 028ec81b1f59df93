"""What all trials of a study have in common."""

import pytest

from launch.config.config import ConfigError
from launch.sweeps.study_settings import StudySettings
from launch.sweeps.study_space import spaces_of
from launch.sweeps.study_terms import agree, terms_of
from launch.sweeps.studying import open_study


def terms(*swept, direction="maximize", objective="", common=("env=tic_tac_toe",)):
    return terms_of(direction, objective, spaces_of(swept), common)


def test_spelling_order_and_onlookers_make_no_other_study():
    one = terms("algo.epochs=range(1,3)", "algo.lr=interval(1e-4,1)", common=["env=tic_tac_toe", "seed=1"])
    common = ["seed=1", "track=csv", "+track.notes=x", "dashboard=true", "env=tic_tac_toe"]
    assert terms("algo.lr=interval(0.0001, 1.0)", "algo.epochs=choice(1,2)", common=common) == one
    assert one == [
        "algo.epochs=1,2", "algo.lr=interval(0.0001,1.0)", "env=tic_tac_toe", "hydra.sweeper.direction=maximize",
        "seed=1",
    ]  # fmt: skip


def test_a_study_keeps_its_terms_and_says_which_words_differ(tmp_path):
    agree(open_study(StudySettings(), tmp_path), terms("algo.epochs=1,2"))
    again = open_study(StudySettings(), tmp_path)
    agree(again, terms("algo.epochs=1,2"))
    with pytest.raises(ConfigError, match=r"begun with algo\.epochs=1,2 and without algo\.epochs=1,2,3: "):
        agree(again, terms("algo.epochs=1,2,3"))
    with pytest.raises(ConfigError, match=r"begun without hydra\.sweeper\.objective=return/main_own: .* another hydra"):
        agree(again, terms("algo.epochs=1,2", objective="return/main_own"))


def test_a_study_whose_terms_nobody_knows_is_not_continued(tmp_path):
    older = open_study(StudySettings(), tmp_path)
    older.ask()
    with pytest.raises(ConfigError, match=r"an older Ludus began it: choose another hydra\.sweeper\.study_name"):
        agree(older, terms("algo.epochs=1,2"))
