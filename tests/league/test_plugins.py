"""Names become code in one place, and only code that somebody allowed."""

import pytest

from league.plugins import BUILTIN, GROUPS, TRUSTED, PluginError, allowed_packages, names, resolve

BOTS = "ludus.bots"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package of a user, installed with an entry point."""

    def install(package, entry_points=""):
        (tmp_path / f"{package}.py").write_text("class Bot:\n    pass\n")
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def test_every_group_has_names_of_our_own():
    for group in GROUPS:
        assert set(BUILTIN[group]) <= set(names(group))
        for target in BUILTIN[group].values():
            assert target.split(".")[0] in TRUSTED


def test_a_class_of_ours_can_be_named_in_full():
    assert resolve(BOTS, "league.player:Player").__name__ == "Player"


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(PluginError, match=r"unknown bot 'randon'\. Did you mean 'random'") as caught:
        resolve(BOTS, "randon")
    assert "one_ply" in str(caught.value)


def test_an_unknown_name_like_nothing_gets_the_list():
    with pytest.raises(PluginError, match="Known: ") as caught:
        resolve("ludus.algorithms", "zzz")
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize("target", ["os:system", "subprocess:Popen", "builtins:eval", "leaguepirate.x:Y"])
def test_code_that_nobody_allowed_is_refused_with_the_remedy(target):
    with pytest.raises(PluginError, match="--allow " + target.split(":")[0].split(".")[0]):
        resolve(BOTS, target)


def test_the_command_line_can_allow_a_package(installed):
    installed("stranger_a")
    with pytest.raises(PluginError, match="not allowed"):
        resolve(BOTS, "stranger_a:Bot")
    assert resolve(BOTS, "stranger_a:Bot", allow=["stranger_a"]).__name__ == "Bot"


def test_a_package_with_an_entry_point_is_allowed_and_adds_a_name(installed):
    installed("stranger_b", "[ludus.bots]\nmine = stranger_b:Bot\n")
    assert "mine" in names(BOTS)
    assert "mine" not in names("ludus.environments")
    assert "stranger_b" in allowed_packages()
    assert resolve(BOTS, "mine").__name__ == "Bot"


def test_an_entry_point_cannot_take_a_name_of_ours(installed):
    installed("stranger_c", "[ludus.bots]\nrandom = stranger_c:Bot\n")
    assert resolve(BOTS, "random").__module__ == "collectors.players.bots"


def test_code_that_is_not_there_is_named():
    with pytest.raises(PluginError, match=r"cannot load 'league\.player:Nobody'"):
        resolve(BOTS, "league.player:Nobody")
    with pytest.raises(PluginError, match=r"cannot load 'league\.nowhere:X'"):
        resolve(BOTS, "league.nowhere:X")
