"""Recipes that could not work are refused before there is a run, in one line that says what to do."""

import pytest
from shipped_kinds import RECIPES, shipped_kinds

from league.errors import InputError
from league.kinds import KindConfig
from league.recipe_check import check_recipe, rehearse_rules
from league.rulebook import LeagueConfig, PlayerConfig

ALL = ("main", "main_exploiter", "league_exploiter")


def recipe(kinds=ALL, **rows):
    config = LeagueConfig(players={kind: PlayerConfig(kind=kind) for kind in kinds}, kinds=shipped_kinds() | rows)
    config.players["random"] = PlayerConfig(kind="scripted", bot="random", anchor=0.0)
    return config


@pytest.mark.parametrize("name", sorted(path.stem for path in RECIPES.glob("*.yaml")))
def test_shipped_kinds_fit_together(name):
    rows = shipped_kinds(name)
    check_recipe(LeagueConfig(players={kind: PlayerConfig(kind=kind) for kind in rows}, kinds=rows))


def test_a_fourth_kind_is_a_row():
    row = KindConfig(matchmaking={"name": "pfsp", "pool": ["main_exploiter"]}, promotion={"reset": "main"})
    check_recipe(recipe((*ALL, "veteran"), veteran=row))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"matchmaking": {"rivals": ["mian"]}}, "matchmaking.rivals: unknown kind 'mian'; did you mean 'main'"),
        ({"matchmaking": {"pool": ["frozn"]}}, "matchmaking.pool: unknown kind 'frozn'; did you mean 'frozen'"),
        ({"promotion": {"targets": ["pol"]}}, "promotion.targets: unknown kind 'pol'; did you mean 'pool'"),
        ({"promotion": {"reset": "nevr"}}, "promotion.reset: unknown kind 'nevr'; did you mean 'never'"),
        ({"matchmaking": {"rivals": ["absent"]}}, "can never meet: nobody in league.players is of the kind 'absent'"),
        ({"matchmaking": {"pool": ["absent"]}}, "can never meet"),
        ({"promotion": {"targets": ["absent"]}}, "can never meet"),
        ({"promotion": {"min_games": 100}}, "can never fire: min_games is 100, but .* fewer than 100 games"),
        (
            {"promotion": {"quarry": True}},
            "quarry: the quarry is a past of a kind among promotion.targets, and they name",
        ),
        ({"promotion": {"reset": "absent"}}, "no other player of the kind 'absent' to take weights from"),
        ({"promotion": {"reset": "main"}, "policy": {"hidden": [8]}}, "odd cannot take the weights of main, whose"),
        ({"promotion": {"reset": "odd"}}, "no other player of the kind 'odd'"),
    ],
)
def test_what_could_not_work_is_refused(row, message):
    config = recipe((*ALL, "odd"), odd=KindConfig(**row), absent=KindConfig())
    with pytest.raises(InputError, match=rf"^league\.kinds\.odd\..*{message}"):
        check_recipe(config)


def test_a_league_whose_exploiters_have_nobody_to_exploit_is_refused():
    with pytest.raises(InputError, match=r"league\.kinds\.main_exploiter\.matchmaking.rivals: they can never meet"):
        check_recipe(recipe(("main_exploiter",)))


def test_rows_that_nobody_uses_need_no_company():
    check_recipe(recipe(("main",)))


@pytest.mark.parametrize("name", ["pool", "never", "initial", "scripted", "human", "frozen", "", "x" * 65])
def test_some_words_name_no_kind(name):
    with pytest.raises(InputError, match="this is no name for a kind"):
        check_recipe(recipe(**{name: KindConfig()}))


def test_the_rules_of_every_shipped_kind_answer_on_a_new_league():
    rehearse_rules(recipe())
    rehearse_rules(recipe(), ["fox", "hound"])


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of matchmakers, good and bad."""
    (tmp_path / "my_matchmakers.py").write_text(
        "from league.matchmaking.choice import Choice\n"
        "def half(player, population, payoff, config, roles):\n"
        "    return [Choice(player.id, True, 0.5, 'self-play')]\n"
        "def crash(player, population, payoff, config, roles):\n"
        "    return config.settings['missing']\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(RECIPES.parents[1] / "examples")
    return lambda name: recipe(("main",), main=KindConfig(matchmaking={"name": name}))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_matchmakers:half", "returned probabilities that sum to 0.5; they must sum to 1"),
        ("my_matchmakers:crash", r"one of its rules fails on a new league: KeyError\('missing'\)"),
        ("my_matchmakers:absent", "cannot load 'my_matchmakers:absent'"),
        ("alfastar", "unknown matchmaker 'alfastar'. Did you mean 'alphastar'"),
    ],
)
def test_a_matchmaker_that_does_not_work_is_refused_before_the_run_exists(mine, name, message):
    with pytest.raises(InputError, match=rf"^league\.kinds\.main: .*{message}"):
        rehearse_rules(mine(name), (), ["my_matchmakers"])


def test_a_matchmaker_of_ones_own_has_to_be_allowed(mine):
    rehearse_rules(mine("own_matchmaker:nearest"), ["player", "player"], ["own_matchmaker"])
    with pytest.raises(InputError, match="--allow own_matchmaker"):
        rehearse_rules(mine("own_matchmaker:nearest"))
