"""Every pair of Server and Client of league.wire.ports, be it sockets or memory, behaves the same."""

from contextlib import ExitStack

import numpy as np
import pytest

from league.wire.codec import WireError
from league.wire.in_memory import Exchange
from league.wire.keys import load_client_keys, load_server_keys, make_keys
from league.wire.messages import Credit, Follow, Pull, Role, Weights
from league.wire.sockets import Sockets

PATIENCE = 20.0  # an upper bound for what takes milliseconds


class Wire:
    """One kind of wire: opens servers and clients, and closes them with the test."""

    def __init__(self, kind, folder, stack):
        self.kind, self.folder = kind, folder
        self.exchange = Exchange()
        self.server_side = stack.enter_context(Sockets())
        self.client_side = stack.enter_context(Sockets())
        if kind == "tcp":
            make_keys(folder / "keys", {"collector-0": Role.COLLECTOR})

    def server(self, address=None):
        if self.kind == "memory":
            return self.exchange.server("coordinator")
        if self.kind == "ipc":
            return self.server_side.serve(f"ipc://{self.folder}/ipc/coordinator")
        return self.server_side.serve(address or "tcp://127.0.0.1:0", load_server_keys(self.folder / "keys"))

    def stop(self, server):
        """End as a process ends: when this returns the address is free again."""
        server.close()
        self.server_side.close()

    def client(self, address):
        if self.kind == "memory":
            return self.exchange.client(address)
        keys = load_client_keys(self.folder / "keys", "collector-0") if self.kind == "tcp" else None
        return self.client_side.connect(address, keys)


@pytest.fixture(params=["memory", "ipc", "tcp"])
def wire(request, tmp_path):
    with ExitStack() as stack:
        yield Wire(request.param, tmp_path, stack)


def pull(version):
    return Pull(name="c", session="s", player="main", incarnation=0, version=version)


def credit(allowance):
    return Credit(player="main", incarnation=0, version=0, allowance=allowance)


def collect(end, count):
    """Receive until `count` messages are there."""
    found = []
    while len(found) < count:
        batch = end.receive(PATIENCE)
        assert batch, f"only {len(found)} of {count} arrived"
        found += batch
    return found


def test_a_request_arrives_and_its_answer_comes_back(wire):
    server = wire.server()
    client = wire.client(server.address)
    assert client.send(pull(3))
    (incoming,) = collect(server, 1)
    assert incoming.message == pull(3)
    assert incoming.role == (Role.COLLECTOR if wire.kind == "tcp" else None)
    assert server.send(incoming.peer, credit(5))
    assert collect(client, 1) == [(credit(5), {})]


def test_the_order_of_one_peer_is_kept_and_limit_is_obeyed(wire):
    server = wire.server()
    client = wire.client(server.address)
    assert all(client.send(pull(version)) for version in range(50))
    found = []
    while len(found) < 50:
        batch = server.receive(PATIENCE, limit=7)
        assert 1 <= len(batch) <= 7
        found += batch
    assert [incoming.message.version for incoming in found] == list(range(50))


def test_each_client_gets_its_own_answer(wire):
    server = wire.server()
    clients = [wire.client(server.address) for _ in range(3)]
    for version, client in enumerate(clients):
        client.send(pull(version))
    for incoming in collect(server, 3):
        server.send(incoming.peer, credit(incoming.message.version))
    for version, client in enumerate(clients):
        assert collect(client, 1) == [(credit(version), {})]


def test_arrays_arrive_equal_read_only_and_unshared(wire):
    server = wire.server()
    client = wire.client(server.address)
    client.send(pull(0))
    (incoming,) = collect(server, 1)
    flat = np.arange(100_000, dtype=np.float32)
    sent = flat.copy()
    server.send(incoming.peer, Weights(player="main", incarnation=0, version=1), {"flat": flat})
    flat[:] = -1  # the learner goes on training
    ((message, arrays),) = collect(client, 1)
    assert message.version == 1
    np.testing.assert_array_equal(arrays["flat"], sent, strict=True)
    assert not arrays["flat"].flags.writeable


def test_nothing_there_is_an_empty_list(wire):
    server = wire.server()
    client = wire.client(server.address)
    assert server.receive(0.0) == []
    assert client.receive(0.0) == []


def test_an_unknown_peer_cannot_be_sent_to(wire):
    assert wire.server().send(b"nobody", credit(1)) is False


def test_a_closed_client_cannot_be_sent_to(wire):
    server = wire.server()
    client = wire.client(server.address)
    client.send(pull(0))
    (incoming,) = collect(server, 1)
    client.close()
    for _ in range(1000):  # a socket learns of it a little later
        if not server.send(incoming.peer, credit(1)):
            return
        server.receive(0.01)
    pytest.fail("the server never noticed that its client is gone")


def test_clients_find_a_server_that_comes_back(wire):
    first = wire.server()
    client = wire.client(first.address)
    client.send(pull(0))
    collect(first, 1)
    wire.stop(first)
    second = wire.server(first.address)
    for _ in range(1000):  # as every client does: ask again until there is an answer
        client.send(pull(1))
        batch = second.receive(0.05)
        if batch:
            break
    assert batch[0].message == pull(1)
    assert second.send(batch[0].peer, credit(9))
    assert collect(client, 1) == [(credit(9), {})]


def test_a_message_that_must_not_travel_is_the_senders_error(wire):
    server = wire.server()
    client = wire.client(server.address)
    with pytest.raises(WireError, match="holds NaN"):
        client.send(Follow(request=1, since=0), {"x": np.array([np.nan])})
    client.send(pull(1))
    assert [incoming.message for incoming in collect(server, 1)] == [pull(1)]


def test_who_never_reads_is_told_by_false_in_the_end(wire):
    server = wire.server()
    client = wire.client(server.address)
    client.send(pull(0))
    (incoming,) = collect(server, 1)
    block = {"flat": np.zeros(50_000, np.float32)} if wire.kind != "memory" else None
    assert any(not server.send(incoming.peer, credit(i), block) for i in range(20_000))
