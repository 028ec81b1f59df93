import pytest

from league.wire.in_memory import Exchange
from league.wire.messages import Command, Done


def command(request):
    return Command(request=request, action="pause")


def test_messages_come_in_the_order_of_sending_whoever_sent_them():
    exchange = Exchange()
    server = exchange.server("coordinator")
    clients = [exchange.client(server.address) for _ in range(3)]
    for request in range(9):
        clients[(request * 2) % 3].send(command(request))
    assert [incoming.message.request for incoming in server.receive(0.0)] == list(range(9))


def test_receiving_never_waits_whatever_the_timeout():
    exchange = Exchange()
    server = exchange.server("coordinator")
    client = exchange.client(server.address)
    assert server.receive(timeout=1e9) == []
    assert client.receive(timeout=1e9) == []


def test_peers_are_numbered_so_that_two_runs_are_alike():
    def peers():
        exchange = Exchange()
        server = exchange.server("coordinator")
        for client in [exchange.client(server.address) for _ in range(3)]:
            client.send(command(1))
        return [incoming.peer for incoming in server.receive(0.0)]

    assert peers() == peers() == [b"client-1", b"client-2", b"client-3"]


def test_without_a_server_sending_is_false():
    assert Exchange().client("memory://coordinator").send(command(1)) is False


def test_a_second_server_of_the_same_name_is_refused():
    exchange = Exchange()
    exchange.server("coordinator")
    with pytest.raises(ValueError, match="already a server at memory://coordinator"):
        exchange.server("coordinator")


def test_queues_are_bounded_in_both_directions():
    exchange = Exchange(high_water=2)
    server = exchange.server("coordinator")
    client = exchange.client(server.address)
    assert [client.send(command(i)) for i in range(3)] == [True, True, False]
    (peer, *_) = {incoming.peer for incoming in server.receive(0.0)}
    assert [server.send(peer, Done(term=1, request=i)) for i in range(3)] == [True, True, False]
    assert [message.request for message, _ in client.receive(0.0)] == [0, 1]


def test_a_server_cannot_send_to_the_client_of_another():
    exchange = Exchange()
    first, second = exchange.server("one"), exchange.server("two")
    exchange.client(first.address).send(command(1))
    (incoming,) = first.receive(0.0)
    assert second.send(incoming.peer, Done(term=1, request=1)) is False
