import stat

import pytest

from league.wire.keys import (
    COMMANDS,
    KeysError,
    list_keys,
    load_client_keys,
    load_server_keys,
    make_keys,
    renew_key,
    revoke_key,
)
from league.wire.messages import Role

PROCESSES = {"collector-0": Role.COLLECTOR, "collector-1": Role.COLLECTOR, "learner-0": Role.LEARNER}
HOLDERS = COMMANDS | PROCESSES


@pytest.fixture
def folder(tmp_path):
    make_keys(tmp_path / "keys", PROCESSES)
    return tmp_path / "keys"


def states(folder):
    return {key.name: key.revoked for key in list_keys(folder)}


def test_only_the_owner_can_enter_the_folder_and_read_the_files(folder):
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    files = {path.name for path in folder.iterdir()}
    assert files == {"server.json", "admitted.json", *(f"{name}.json" for name in HOLDERS)}


def test_each_process_has_a_key_of_its_own_and_the_server_knows_whose_it_is(folder):
    server = load_server_keys(folder)
    clients = {name: load_client_keys(folder, name) for name in HOLDERS}
    for name, client in clients.items():
        assert (server.clients[client.public].name, server.clients[client.public].role) == (name, HOLDERS[name])
        assert client.server == server.public
    assert len(server.clients) == len({client.secret for client in clients.values()}) == len(HOLDERS)


def test_the_list_that_servers_read_holds_no_secret(folder):
    listed = (folder / "admitted.json").read_text()
    for name in HOLDERS:
        assert load_client_keys(folder, name).secret not in listed


def test_a_process_needs_no_file_but_its_own(folder, tmp_path):
    alone = tmp_path / "alone"
    alone.mkdir(mode=0o700)
    (folder / "collector-1.json").rename(alone / "collector-1.json")
    assert load_client_keys(alone, "collector-1").public


def test_making_keys_again_changes_nothing_and_adds_what_is_missing(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    make_keys(folder, PROCESSES)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (folder / "viewer.json").unlink()
    make_keys(folder, {"collector-2": Role.COLLECTOR})
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.keys() == before.keys() | {"collector-2.json"}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"viewer.json", "admitted.json"}
    assert load_client_keys(folder, "viewer").public in load_server_keys(folder).clients


def test_a_revoked_key_is_admitted_no_more_and_is_not_made_again_by_a_resume(folder):
    old = load_client_keys(folder, "collector-0").public
    revoke_key(folder, "collector-0")
    assert old not in load_server_keys(folder).clients
    assert states(folder)["collector-0"]
    make_keys(folder, PROCESSES)
    assert states(folder)["collector-0"], "a resume of the league does not let it in again"
    with pytest.raises(KeysError, match=r"no key of 'collector-0' .* it was revoked, .* new collector-0"):
        load_client_keys(folder, "collector-0")
    assert load_client_keys(folder, "collector-1").public in load_server_keys(folder).clients


@pytest.mark.parametrize("revoked", [False, True])
def test_a_new_key_takes_the_place_of_the_old_one(folder, revoked):
    old = load_client_keys(folder, "collector-0").public
    if revoked:
        revoke_key(folder, "collector-0")
    renew_key(folder, "collector-0")
    new = load_client_keys(folder, "collector-0").public
    clients = load_server_keys(folder).clients
    assert (old in clients, new in clients, states(folder)["collector-0"]) == (False, True, False)
    assert [key.name for key in list_keys(folder)].count("collector-0") == 1


def test_a_server_hears_of_changes_once(folder):
    renew = load_server_keys(folder).renew
    assert renew() is None
    revoke_key(folder, "collector-1")
    assert {holder.name for holder in renew().values()} == HOLDERS.keys() - {"collector-1"}
    assert renew() is None


@pytest.mark.parametrize("change", [revoke_key, renew_key])
def test_an_unknown_name_is_answered_with_those_that_there_are(folder, change):
    with pytest.raises(KeysError, match=r"no key of '\.\./x'; there are viewer, operator, human, collector-0"):
        change(folder, "../x")


def test_two_runs_have_different_keys(folder, tmp_path):
    make_keys(tmp_path / "other", PROCESSES)
    assert load_server_keys(folder).clients.keys().isdisjoint(load_server_keys(tmp_path / "other").clients)


def test_lax_permissions_are_refused_with_the_command_that_mends_them(folder):
    (folder / "collector-0.json").chmod(0o640)
    with pytest.raises(KeysError, match=r"others may read .*collector-0.json; run: chmod 600"):
        load_client_keys(folder, "collector-0")
    (folder / "admitted.json").chmod(0o660)
    with pytest.raises(KeysError, match=r"others may read .*admitted.json; run: chmod 600"):
        load_server_keys(folder)
    folder.chmod(0o750)
    for load in (make_keys, load_server_keys, list_keys):
        with pytest.raises(KeysError, match="run: chmod 700"):
            load(folder)


def test_missing_damaged_and_renamed_files_are_told_apart(folder, tmp_path):
    with pytest.raises(KeysError, match="make_keys"):
        load_server_keys(tmp_path / "nowhere")
    (folder / "viewer.json").rename(folder / "operator.json")
    with pytest.raises(KeysError, match="holds the key of 'viewer', not of 'operator'"):
        load_client_keys(folder, "operator")
    (folder / "collector-0.json").write_bytes(b"\xff{")
    with pytest.raises(KeysError, match="damaged"):
        load_client_keys(folder, "collector-0")
    (folder / "learner-0.json").write_text(
        '{"name":"learner-0","role":"learner","server":"short","public":"x","secret":"y"}'
    )
    with pytest.raises(KeysError, match="not a CURVE key"):
        load_client_keys(folder, "learner-0")


def test_a_lost_server_key_is_not_replaced_behind_the_clients_back(folder):
    (folder / "server.json").unlink()
    with pytest.raises(KeysError, match="of no use; delete"):
        make_keys(folder)


def test_secrets_never_show(folder):
    server, client = load_server_keys(folder), load_client_keys(folder, "viewer")
    assert server.secret not in repr(server)
    assert client.secret not in repr(client)
