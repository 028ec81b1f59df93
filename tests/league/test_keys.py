import stat

import pytest

from league.wire.keys import KeysError, load_client_keys, load_server_keys, make_keys
from league.wire.messages import Role


@pytest.fixture
def folder(tmp_path):
    make_keys(tmp_path / "keys")
    return tmp_path / "keys"


def test_only_the_owner_can_enter_the_folder_and_read_the_files(folder):
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert {path.name for path in folder.iterdir()} == {"server.json", *(f"{role}.json" for role in Role)}


def test_the_server_knows_the_role_of_every_client_and_the_clients_know_the_server(folder):
    server = load_server_keys(folder)
    for role in Role:
        client = load_client_keys(folder, role)
        assert server.clients[client.public] == role
        assert client.server == server.public
    assert len(server.clients) == len(Role)


def test_making_keys_again_changes_nothing_and_adds_what_is_missing(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "viewer.json").unlink()
    make_keys(folder)
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.keys() == before.keys()
    assert {name for name in before if before[name] != after[name]} == {"viewer.json"}


def test_two_runs_have_different_keys(folder, tmp_path):
    make_keys(tmp_path / "other")
    assert load_server_keys(folder).clients.keys().isdisjoint(load_server_keys(tmp_path / "other").clients)


def test_lax_permissions_are_refused_with_the_command_that_mends_them(folder):
    (folder / "collector.json").chmod(0o640)
    with pytest.raises(KeysError, match=r"others may read .*collector.json; run: chmod 600"):
        load_client_keys(folder, Role.COLLECTOR)
    folder.chmod(0o750)
    for load in (make_keys, load_server_keys):
        with pytest.raises(KeysError, match="run: chmod 700"):
            load(folder)


def test_missing_damaged_and_renamed_files_are_told_apart(folder, tmp_path):
    with pytest.raises(KeysError, match="make_keys"):
        load_server_keys(tmp_path / "nowhere")
    (folder / "viewer.json").rename(folder / "operator.json")
    with pytest.raises(KeysError, match="holds the key of a viewer, not of a operator"):
        load_client_keys(folder, Role.OPERATOR)
    (folder / "collector.json").write_bytes(b"\xff{")
    with pytest.raises(KeysError, match="damaged"):
        load_client_keys(folder, Role.COLLECTOR)
    (folder / "learner.json").write_text('{"role":"learner","server":"short","public":"x","secret":"y"}')
    with pytest.raises(KeysError, match="not a CURVE key"):
        load_client_keys(folder, Role.LEARNER)


def test_a_lost_server_key_is_not_replaced_behind_the_clients_back(folder):
    (folder / "server.json").unlink()
    with pytest.raises(KeysError, match="of no use; delete"):
        make_keys(folder)


def test_secrets_never_show(folder):
    server, client = load_server_keys(folder), load_client_keys(folder, Role.VIEWER)
    assert server.secret not in repr(server)
    assert client.secret not in repr(client)
