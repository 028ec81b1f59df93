"""A server on loopback whose keys are known, and an honest client."""

import pytest
from wire_peers import LOOPBACK, PROCESSES

from league.wire.keys import load_client_keys, load_server_keys, make_keys
from league.wire.sockets import Sockets


@pytest.fixture
def keys(tmp_path):
    make_keys(tmp_path / "keys", PROCESSES)
    return tmp_path / "keys"


@pytest.fixture
def sockets():
    with Sockets(high_water=20) as opened:
        yield opened


@pytest.fixture
def server(sockets, keys):
    return sockets.serve(LOOPBACK, load_server_keys(keys))


@pytest.fixture
def honest(sockets, server, keys):
    return sockets.connect(server.address, load_client_keys(keys, "collector-0"))
