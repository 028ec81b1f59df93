"""The study of recipes (benchmarks.study): what it plays, how it compares, and what it writes."""

import json
import math

import pytest

import ludus
from benchmarks.study import play, write
from benchmarks.study_measures import duels_of, measure_all, nash_convs, run_of
from benchmarks.study_tables import Duel, Estimate, Row, common_decisions, harder, late, markdown, summarise
from benchmarks.study_trials import BASE, GAMES, LEARNERS, RECIPES, Trial, plan
from launch.config.compose import compose

PNG = b"\x89PNG"


def leagues(values, game="rps", name="late"):
    """Return figures by trial, from the value of each seed by recipe."""
    return {
        Trial(game, recipe, seed): {"decisions": 100.0, name: value}
        for recipe, found in values.items()
        for seed, value in enumerate(found)
    }


def row_of(rows, recipe, figure):
    (found,) = [row for row in rows if (row.recipe, row.figure) == (recipe, figure)]
    return found


@pytest.mark.parametrize(
    "trial",
    [
        *(Trial(game, "alphastar", 0) for game in GAMES),
        *(Trial("kuhn", recipe, 1) for recipe in RECIPES),
        *(Trial("disc", BASE, 2, learner) for learner in LEARNERS),
    ],
    ids=lambda trial: trial.name,
)
def test_every_league_of_the_study_composes(trial, tmp_path):
    config = compose(trial.overrides(tmp_path))
    assert (config.seed, config.name, config.launch.name) == (trial.seed, trial.name, "inline")
    assert config.league.budget.env_steps == GAMES[trial.game].env_steps
    assert config.algo.get("lr_schedule", "constant") == "constant"  # else snapshots on the way are no control
    assert config.algo.get("entropy_final") is None


@pytest.mark.parametrize("game", GAMES)
def test_recipes_of_a_game_differ_in_their_recipe_only(game, tmp_path):
    words = {recipe: Trial(game, recipe, 0).overrides(tmp_path) for recipe in RECIPES}
    left = {tuple(w for w in found if w not in RECIPES[r] and "name=" not in w) for r, found in words.items()}
    assert len(left) == 1


def test_a_plan_has_each_league_once_and_compared_ones_together():
    trials = plan(["rps", "kuhn"], ["selfplay", "pfsp"], ["plain", "regularised"], 3)
    assert len(set(trials)) == len(trials) == 24
    assert len({trial.name for trial in trials}) == 24
    assert [trial.recipe for trial in trials[:4]] == ["selfplay", "pfsp"] * 2


def test_the_late_figure_is_the_mean_of_the_last_quarter_up_to_a_number_of_decisions():
    curve = [(0, 9.0), (60, 5.0), (70, 1.0), (80, 2.0), (100, 3.0)]
    assert late(curve, until=100) == 2.5  # 80 and 100: 75 is where the last quarter begins
    assert late(curve, until=80) == 1.5  # 70 and 80, and nothing that came later
    assert late(curve, until=50) == 5.0  # nothing in the last quarter: the nearest one


def test_the_common_decisions_are_those_of_the_youngest_main_of_the_same_game_learner_and_seed():
    figures = {
        Trial("rps", "selfplay", 0): {"decisions": 500.0},
        Trial("rps", "alphastar", 0): {"decisions": 200.0},
        Trial("rps", "alphastar", 1): {"decisions": 100.0},
        Trial("rps", "alphastar", 0, "regularised"): {"decisions": 50.0},
        Trial("disc", "alphastar", 0): {"decisions": 10.0},
    }
    assert common_decisions(Trial("rps", "selfplay", 0), figures) == 200.0


def test_recipes_are_compared_seed_by_seed():
    rows = summarise(leagues({"selfplay": [1.0, 2.0, 3.0], "pfsp": [0.8, 1.9, 2.7]}))
    found = row_of(rows, "pfsp", "late")
    assert found.estimate.mean == pytest.approx(1.8)
    assert found.difference.mean == pytest.approx(-0.2)
    # the differences are -0.2, -0.1 and -0.3: t of 2 degrees of freedom is 4.303
    assert found.difference.reach == pytest.approx(4.3027 * 0.1 / math.sqrt(3), rel=1e-3)
    assert found.verdict == "not sure"
    assert row_of(rows, "selfplay", "late").difference is None


@pytest.mark.parametrize(
    ("values", "verdict", "games"),
    [
        ([0.50, 1.51, 2.49], "surely harder", ["rps"]),
        ([1.50, 2.51, 3.49], "surely easier", []),
        ([0.00, 2.00, 4.00], "not sure", []),
    ],
)
def test_a_recipe_is_surely_harder_to_exploit_only_where_the_interval_excludes_zero(values, verdict, games):
    rows = summarise(leagues({"selfplay": [1.0, 2.0, 3.0], "fsp": values}))
    assert row_of(rows, "fsp", "late").verdict == verdict
    assert harder(rows) == {("plain", "fsp"): games}


def test_one_seed_is_never_sure():
    rows = summarise(leagues({"selfplay": [2.0], "pfsp": [0.0]}))
    assert row_of(rows, "pfsp", "late").difference == Estimate(-2.0, None, (-2.0,))
    assert row_of(rows, "pfsp", "late").verdict == "not sure"


@pytest.mark.parametrize(("value", "sign"), [(0.004, 0), (-0.004, 0), (0.006, 1), (-0.006, -1)])
def test_a_negligible_difference_is_none_however_sure_it_is(value, sign):
    assert Estimate.of([value] * 3).sign == sign


def test_without_self_play_nothing_is_compared():
    assert row_of(summarise(leagues({"pfsp": [1.0, 2.0]})), "pfsp", "late").difference is None


def test_tables_show_intervals_and_what_is_sure():
    rows = summarise(leagues({"selfplay": [0.9, 0.9], "pfsp": [0.5, 0.5]}, "connect_four", "probe"))
    duel = Duel("connect_four", "plain", "selfplay", "pfsp", "score", 0.5, Estimate.of([0.7, 0.7]))
    even = Duel("rps", "plain", "selfplay", "pfsp", "a game", 0.0, Estimate.of([-0.1, 0.2]))
    text = markdown(rows, [duel, even])
    assert "| recipe | decisions of the main | probe |" in text
    assert "| `selfplay` | 100 | 90 ±0 % |" in text
    assert "| `pfsp` | 100 | 50 ±0 %; **-40 ±0 %** |" in text
    assert "| connect_four | plain | `selfplay` | `pfsp` | **70 ±0 %** |" in text
    assert "| rps | plain | `selfplay` | `pfsp` | 0.05 ±1.91 a game |" in text


def test_what_is_written_has_all_figures(tmp_path):
    figures = leagues({"selfplay": [1.0, 2.0], "pfsp": [0.5, 1.0]})
    for values in figures.values():
        values["equal_late"] = values["late"]
    rows = summarise(figures)
    write(tmp_path, figures, rows, [])
    found = json.loads((tmp_path / "study.json").read_text())
    assert found["figures"]["rps-plain-pfsp-1"]["late"] == 1.0
    assert {row["verdict"] for row in found["rows"] if row["recipe"] == "pfsp"} == {"not sure"}
    assert (tmp_path / "study.md").read_text() == markdown(rows, [])
    assert (tmp_path / "study.png").read_bytes().startswith(PNG)


class NoRunner:
    """A runner that must not have anything to do."""

    def run(self, commands):
        assert commands == {}


@pytest.mark.slow
def test_leagues_are_measured_and_not_played_again(tmp_path):
    trials = plan(["disc"], ["selfplay", "alphastar"], ["plain"], 1)
    for trial in trials:
        ludus.run(trial.overrides(tmp_path, env_steps=25_000))
    play(trials, tmp_path, 25_000, NoRunner())
    figures = measure_all(trials, tmp_path, probe_steps=0)
    first, second = (figures[trial] for trial in trials)
    assert first["decisions"] > second["decisions"] > 0  # exploiters take their share
    curve = nash_convs(run_of(trials[1], tmp_path))
    assert [decisions for decisions, _ in curve] == sorted({decisions for decisions, _ in curve})
    assert (
        second["last"]
        == curve[-1][1]
        == pytest.approx(ludus.open(str(tmp_path / trials[1].name)).exploit().figures.nash_conv)
    )
    assert second["equal_late"] == second["late"]  # the youngest main is compared as it is
    assert 0 <= first["nash"] <= 2
    (duel,) = duels_of(trials, tmp_path, games=2)
    assert (duel.first, duel.second) == ("selfplay", "alphastar")
    assert -1 <= duel.estimate.mean <= 1
    assert isinstance(summarise(figures)[0], Row)
