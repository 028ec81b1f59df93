"""Addresses: which ones are safe, what clients are given, and the folder of an ipc address."""

import os
import socket
from pathlib import Path

import pytest
from wire_peers import NAMES, ask

from league.wire.addresses import LONGEST_PATH, AddressError, advertised, check_ipc, check_tcp, is_ipc
from league.wire.keys import load_client_keys, load_server_keys
from league.wire.messages import Role


def test_only_tcp_needs_keys():
    assert is_ipc("ipc:///run/x")
    assert not is_ipc("tcp://host:1")
    assert check_tcp("tcp://host:1", "keys") == "keys"
    assert check_ipc("ipc:///no/such/folder/x") == Path("/no/such/folder/x")


def test_port_0_becomes_a_real_one_and_the_host_stays_as_given(sockets, keys):
    server = sockets.serve("tcp://localhost:0", load_server_keys(keys))
    assert server.address.startswith("tcp://localhost:")
    assert int(server.address.rpartition(":")[2]) > 0
    assert ask(sockets.connect(server.address, load_client_keys(keys, NAMES[Role.VIEWER])), server, 1) == []
    assert advertised("tcp://*:0", "tcp://0.0.0.0:5") == f"tcp://{socket.gethostname()}:5"


def test_a_port_that_is_taken_is_told(sockets, server, keys):
    with pytest.raises(AddressError, match=r"cannot listen on .*Address already in use"):
        sockets.serve(server.address, load_server_keys(keys))


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("tcp://127.0.0.1:0", "needs keys: tcp is always encrypted"),
        ("tcp://127.0.0.1", "has no port"),
        ("udp://127.0.0.1:1", "is no address; use tcp://host:port or ipc:///path"),
        ("ipc://relative/path", "needs an absolute path"),
        ("ipc:///" + "x" * LONGEST_PATH, "has 108 bytes, 107 are allowed; use a shorter folder"),
    ],
)
def test_unsafe_addresses_are_refused_at_both_ends(sockets, address, reason):
    for use in (sockets.serve, sockets.connect):
        with pytest.raises(AddressError, match=reason):
            use(address)


def test_the_longest_ipc_path_works(sockets, tmp_path):
    folder = tmp_path / "f"
    name = "x" * (LONGEST_PATH - len(os.fsencode(folder)) - 1)
    server = sockets.serve(f"ipc://{folder}/{name}")
    assert ask(sockets.connect(server.address), server, 1) == []


def test_ipc_makes_its_folder_private_and_refuses_one_that_others_may_enter(sockets, tmp_path):
    server = sockets.serve(f"ipc://{tmp_path}/new/x")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    (tmp_path / "new").chmod(0o755)
    for use in (sockets.serve, sockets.connect):
        with pytest.raises(AddressError, match=r"others may enter the folder .*; run: chmod 700"):
            use(server.address)
