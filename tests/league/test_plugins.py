"""Names become code in one place, and only code that somebody allowed."""

import sys

import pytest

from league.plugins import BUILTIN, GROUPS, OURS, PluginError, load, names, package_of, resolve

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
            assert package_of(target) in OURS
            assert load(target)


@pytest.mark.parametrize("package", sorted(OURS))
def test_code_of_ours_has_only_its_registered_names(package):
    with pytest.raises(PluginError, match=r"code of Ludus itself.*The bots of Ludus: random, one_ply"):
        resolve(BOTS, f"{package}.player:Player", allow=[package])


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


def test_an_entry_point_adds_a_name_and_allows_nothing_else(installed):
    installed("stranger_b", "[ludus.bots]\nmine = stranger_b:Bot\n")
    assert "mine" in names(BOTS)
    assert "mine" not in names("ludus.environments")
    assert resolve(BOTS, "mine").__name__ == resolve(BOTS, "stranger_b:Bot").__name__ == "Bot"
    for group, target in ((BOTS, "stranger_b:Other"), ("ludus.environments", "stranger_b:Bot")):
        with pytest.raises(PluginError, match="--allow stranger_b"):
            resolve(group, target)


def test_an_entry_point_cannot_take_a_name_of_ours(installed):
    installed("stranger_c", "[ludus.bots]\nrandom = stranger_c:Bot\n")
    assert resolve(BOTS, "random").__module__ == "collectors.players.bots"


def test_code_that_is_not_there_is_named(installed):
    installed("stranger_d")
    with pytest.raises(PluginError, match=r"cannot load 'stranger_d:Nobody'"):
        resolve(BOTS, "stranger_d:Nobody", allow=["stranger_d"])
    with pytest.raises(PluginError, match=r"cannot load 'nowhere\.at_all:X'"):
        resolve(BOTS, "nowhere.at_all:X", allow=["nowhere"])


def test_nothing_is_imported_before_it_is_allowed(installed):
    installed("stranger_e")
    with pytest.raises(PluginError, match="not allowed"):
        resolve(BOTS, "stranger_e:Bot")
    assert "stranger_e" not in sys.modules


@pytest.mark.parametrize(
    "target", ["a.b:c.d", "a:b:c", ":x", "a:", "a..b:c", "a b:c", "../a:b", "a.b:c()", "ä:b", "a:b\n"]
)
def test_a_target_has_one_module_and_one_name(target):
    with pytest.raises(PluginError, match=r"write package\.module:name"):
        resolve(BOTS, target, allow=["a", "ä"])
