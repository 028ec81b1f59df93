import pytest
from packed import packed

from collectors.envs.config import EnvConfig
from launch.tournaments.entrants import TournamentError, common_environment, find_entrants


@pytest.fixture
def file(tmp_path):
    return packed(tmp_path / "main.safetensors")


def test_files_players_of_runs_and_bots_take_part_under_names_of_their_own(played, file):
    run, state = played
    found = find_entrants([str(file), f"{run.root}/main", f"{run.root}/main.0", "random", str(file)])
    assert [one.name for one in found] == ["main", "first_main", "first_main_0", "random", "main_2"]
    assert found[1].snapshot == state.candidates["main"].snapshot
    assert common_environment(found).name == "tic_tac_toe"


def test_what_is_none_of_these_is_refused(tmp_path):
    with pytest.raises(TournamentError, match=r"there is no file and no bot 'mian\.safetensors'"):
        find_entrants(["mian.safetensors"])
    with pytest.raises(TournamentError, match="neither a file nor a player of a run"):
        find_entrants(["nowhere/main"])


def test_all_must_be_of_one_game(tmp_path, file):
    with pytest.raises(TournamentError, match="say which one with --env"):
        common_environment(find_entrants(["random", "one_ply"]))
    other = packed(tmp_path / "four.safetensors", "connect_four")
    with pytest.raises(TournamentError, match=r'env.name is "connect_four" .*four.safetensors and "tic_tac_toe"'):
        common_environment(find_entrants([str(file), str(other)]))
    with pytest.raises(TournamentError, match="not for the same game as --env"):
        common_environment(find_entrants([str(file)]), EnvConfig(name="connect_four"))
