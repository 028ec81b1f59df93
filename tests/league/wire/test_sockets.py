import contextlib
import itertools
import logging
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest
import zmq
from wire_peers import LOOPBACK, NAMES, PATIENCE, ask, credit, pull
from zmq.utils.monitor import recv_monitor_message

from league.wire import unread
from league.wire.codec import VERSION_FRAME, encode
from league.wire.keys import load_client_keys, load_server_keys, make_keys, renew_key, revoke_key
from league.wire.messages import WIRE_VERSION, Pull, Refused, Report, Role, Weights
from league.wire.sockets import REVOKED, PeerLimits, Sockets, new_pair

ROOT = Path(__file__).parents[3]
FAILED = (
    zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_DISCONNECTED
)


@pytest.fixture
def raw():
    """Opens DEALERs as somebody with another program would."""
    kept = []
    with zmq.Context() as context:

        def open_raw(address, pair=None, server_key=None, identity=None, queue=1000):
            opened = context.socket(zmq.DEALER)
            opened.linger, opened.sndhwm, opened.rcvhwm = 0, 0, queue
            if pair is not None:
                opened.curve_publickey, opened.curve_secretkey = (key.encode() for key in pair)
                opened.curve_serverkey = server_key.encode()
            if identity is not None:
                opened.routing_id = identity
            monitor = opened.get_monitor_socket(FAILED | zmq.EVENT_HANDSHAKE_SUCCEEDED)
            opened.connect(address)
            kept.append((opened, monitor))
            return opened, monitor

        yield open_raw
        context.destroy(linger=0)


def role_pair(keys, role):
    loaded = load_client_keys(keys, NAMES[role])
    return (loaded.public, loaded.secret), loaded.server


def serve_until(server, happened):
    """Receive until something happened; return all that arrived meanwhile."""
    arrived, deadline = [], time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        arrived += server.receive(0.01)
    return arrived


# --- who may come in ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", list(Role))
def test_each_key_proves_its_role_and_its_holder(sockets, server, keys, role):
    sockets.connect(server.address, load_client_keys(keys, NAMES[role])).send(pull())
    (incoming,) = server.receive(PATIENCE)
    assert (incoming.role, incoming.name, incoming.message) == (role, NAMES[role], pull())


@pytest.mark.parametrize("who", ["plain", "unknown_key", "wrong_server_key", "server_public_as_own"])
def test_a_peer_without_a_known_key_gets_nothing(server, honest, keys, raw, who):
    pair, server_key = role_pair(keys, Role.OPERATOR)
    credentials = {
        "plain": (),
        "unknown_key": (new_pair(), server_key),
        "wrong_server_key": (pair, new_pair()[0]),
        "server_public_as_own": (new_pair(), pair[0]),
    }[who]
    stranger, monitor = raw(server.address, *credentials)
    with contextlib.suppress(zmq.Again):  # libzmq gives up where the server wants CURVE and the client has none
        for number in range(1000):
            stranger.send_multipart(encode(pull(number)), zmq.NOBLOCK)
    arrived = serve_until(server, lambda: monitor.poll(0))
    assert recv_monitor_message(monitor)["event"] & FAILED
    arrived += [stranger for number in range(3) for stranger in ask(honest, server, number)]
    assert arrived == []
    assert stranger.poll(0) == 0


def test_keys_of_one_server_do_not_open_another(sockets, server, keys, tmp_path, raw):
    make_keys(tmp_path / "other")
    other = sockets.serve(LOOPBACK, load_server_keys(tmp_path / "other"))
    pair, _ = role_pair(keys, Role.OPERATOR)
    stranger, monitor = raw(other.address, pair, load_server_keys(tmp_path / "other").public)
    stranger.send_multipart(encode(pull()))
    assert serve_until(other, lambda: monitor.poll(0)) == []
    assert recv_monitor_message(monitor)["event"] & FAILED


def test_raw_bytes_on_the_port_disturb_nobody(server, honest):
    host, _, port = server.address.removeprefix("tcp://").rpartition(":")
    rng = np.random.default_rng(1)
    rubbish = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"", b"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f" + rng.bytes(500)]
    rubbish += [rng.bytes(int(rng.integers(1, 2000))) for _ in range(50)]
    for number, data in enumerate(rubbish):
        with socket.create_connection((host, int(port))) as stranger:
            stranger.sendall(data)
            assert ask(honest, server, number) == []


def test_nobody_takes_the_place_of_another_peer(server, honest, keys, raw):
    honest.send(pull(1))
    (incoming,) = server.receive(PATIENCE)
    impostor, monitor = raw(server.address, *role_pair(keys, Role.VIEWER), identity=incoming.peer)
    impostor.send_multipart(encode(pull(666)))
    arrived = serve_until(server, lambda: monitor.poll(0))
    assert recv_monitor_message(monitor)["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED
    for number in range(10):
        arrived += ask(honest, server, number)
    assert server.send(incoming.peer, credit(99))
    assert honest.receive(PATIENCE) == [(credit(99), {})]
    assert impostor.poll(0) == 0
    assert all(found.peer != incoming.peer for found in arrived)


FIRST_PEER = """
import sys
from league.wire.messages import Follow
from league.wire.sockets import Sockets
with Sockets() as sockets:
    server = sockets.serve(sys.argv[1])
    client = sockets.connect(server.address)
    client.send(Follow(request=1, since=0))
    print(server.receive(20.0)[0].peer.hex())
"""


def test_the_first_id_of_a_server_cannot_be_foretold(tmp_path):
    """Whoever claims the next id beforehand makes libzmq abort, so it must not be the same in each process."""
    command = [sys.executable, "-c", FIRST_PEER, f"ipc://{tmp_path}/folder/x"]
    found = {subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout for _ in range(3)}
    assert len(found) == 3


def test_a_claim_of_the_next_id_without_a_key_harms_nobody(sockets, server, honest, keys, raw):
    honest.send(pull())
    (incoming,) = server.receive(PATIENCE)
    following = b"\0" + (int.from_bytes(incoming.peer[1:], "big") + 1 & 0xFFFFFFFF).to_bytes(4, "big")
    _, server_key = role_pair(keys, Role.COLLECTOR)
    stranger, monitor = raw(server.address, new_pair(), server_key, identity=following)
    stranger.send_multipart(encode(pull(666)))
    assert serve_until(server, lambda: monitor.poll(0)) == []
    newcomer = sockets.connect(server.address, load_client_keys(keys, "learner-0"))
    assert ask(newcomer, server, 1) == []
    assert ask(honest, server, 2) == []


# --- bad messages -------------------------------------------------------------------------------------------


def test_thousands_of_mutated_messages_do_not_keep_an_honest_client_from_being_served(server, honest, keys, raw):
    rng = np.random.default_rng(7)
    message = Report(request=1, name="c", session="s", metrics={"wait": 0.5})
    original = [bytes(frame) for frame in encode(message, {"x": np.ones(8, np.float32)})]
    attackers = [raw(server.address, *role_pair(keys, Role.COLLECTOR))[0] for _ in range(20)]
    sent = 0
    for number in range(150):
        for attacker in attackers:
            frames = [bytearray(frame) for frame in original[: int(rng.integers(1, 5))]]
            victim = frames[int(rng.integers(0, len(frames)))]
            victim[int(rng.integers(0, len(victim)))] ^= int(rng.integers(1, 256))
            try:
                attacker.send_multipart(frames, zmq.NOBLOCK)
                sent += 1
            except zmq.Again:  # the server reads an attacker no faster than anybody else
                continue
        ask(honest, server, number)
    print(f"{sent} bad messages sent, {server.patience.total} dropped, 150 honest requests answered")
    assert server.patience.total > 1000


def test_a_peer_that_used_up_its_budget_is_not_read_any_more(server, honest, keys, raw, caplog):
    attacker, _ = raw(server.address, *role_pair(keys, Role.COLLECTOR))
    with caplog.at_level(logging.WARNING):
        attacker.send_multipart([VERSION_FRAME, b"rubbish"])
        attacker.send_multipart(encode(pull(1)))
        (incoming,) = server.receive(PATIENCE)
        assert incoming.message == pull(1)  # one bad message is forgiven
        for _ in range(99):
            attacker.send_multipart([VERSION_FRAME, b"rubbish"])
        serve_until(server, lambda: server.patience.lost(incoming.peer))
    attacker.send_multipart(encode(pull(2)))
    assert [found for number in range(20) for found in ask(honest, server, number)] == []
    assert server.patience.offences == {incoming.peer: 100}
    assert caplog.text.count("dropped a bad message") == 1


def test_another_wire_version_is_answered_with_refused_and_told_once(sockets, keys, raw, caplog):
    told = []
    server = sockets.serve(LOOPBACK, load_server_keys(keys), on_refusal=lambda peer, reason: told.append(reason))
    old, _ = raw(server.address, *role_pair(keys, Role.COLLECTOR))
    with caplog.at_level(logging.ERROR):
        for _ in range(5):
            old.send_multipart([b"ludus/999", b"whatever that version says"])
        serve_until(server, lambda: server.patience.total == 5)
    assert old.poll(PATIENCE * 1000)
    version, head = old.recv_multipart()
    assert version == b"ludus/%d" % WIRE_VERSION
    answer = msgspec.msgpack.decode(head, type=Refused)
    assert told == [answer.reason]
    assert "speaks wire version 999" in answer.reason
    assert caplog.text.count("refused peer") == 1
    assert not old.poll(0)


def test_a_client_learns_once_that_the_server_speaks_another_version(sockets, tmp_path):
    address = f"ipc://{tmp_path}/old"
    tmp_path.chmod(0o700)
    with zmq.Context() as context, context.socket(zmq.ROUTER) as old:
        old.linger = 0
        old.bind(address)
        client = sockets.connect(address)
        client.send(pull())
        peer, *_ = old.recv_multipart()
        for _ in range(3):
            old.send_multipart([peer, b"ludus/999", b"whatever"])
        old.send_multipart([peer, *encode(credit())])
        found = []
        while credit() not in found:
            found += [message for message, _ in client.receive(PATIENCE)]
    assert len(found) == 2
    assert "speaks wire version 999" in found[0].reason
    assert client.dropped == 3


def test_an_oversize_message_never_arrives_and_its_sender_can_go_on(server, keys):
    with Sockets(max_message=1 << 26) as large:
        client = large.connect(server.address, load_client_keys(keys, "learner-0"))
        flat = np.zeros(500_000, np.float32)
        assert client.send(Weights(player="main", incarnation=0, version=1), {"flat": flat})
        arrived, deadline = [], time.monotonic() + PATIENCE
        while not arrived and time.monotonic() < deadline:
            client.send(pull())
            arrived = server.receive(0.05)
        assert {type(incoming.message) for incoming in arrived} == {Pull}


def test_a_message_of_too_many_frames_is_dropped(server, honest, keys, raw):
    attacker, _ = raw(server.address, *role_pair(keys, Role.COLLECTOR))
    attacker.send_multipart([*encode(pull(666)), *[b""] * 5000])
    assert serve_until(server, lambda: server.patience.total == 1) == []
    assert ask(honest, server, 1) == []


# --- peers that are slow or gone ----------------------------------------------------------------------------


def test_a_peer_that_does_not_read_is_told_by_false_and_others_are_served(server, honest, keys, raw):
    slow, _ = raw(server.address, *role_pair(keys, Role.COLLECTOR), queue=1)
    slow.send_multipart(encode(pull(7)))
    (incoming,) = server.receive(PATIENCE)
    block = {"flat": np.zeros(100_000, np.float32)}
    sent = next(number for number in itertools.count() if not server.send(incoming.peer, credit(), block))
    print(f"a peer that does not read was cut off after {sent} messages")
    for number in range(20):
        assert ask(honest, server, number) == []
        server.send(incoming.peer, credit(), block)


def test_a_flood_is_read_but_only_a_share_of_it_is_taken(sockets, keys, raw):
    server = sockets.serve(LOOPBACK, load_server_keys(keys), limits=PeerLimits(share=5))
    honest = sockets.connect(server.address, load_client_keys(keys, NAMES[Role.COLLECTOR]))
    flood, _ = raw(server.address, *role_pair(keys, Role.COLLECTOR))
    for version in range(500):
        flood.send_multipart(encode(pull(version)))
    honest.send(pull(-1))
    taken, deadline = Counter(), time.monotonic() + PATIENCE
    while server.dropped + taken.total() < 501:
        assert time.monotonic() < deadline
        batch = server.receive(0.1, limit=20)
        most = Counter(incoming.peer for incoming in batch).most_common(1)
        assert not most or most[0][1] <= 5
        taken.update(incoming.message.version == -1 for incoming in batch)
    assert taken[True] == 1, "the honest one was read"
    assert server.dropped > 0


def shake_hands(end, path):
    """Become a peer without libzmq, on a bare ipc connection."""
    end.connect(str(path))
    end.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x01NULL" + bytes(48))
    end.recv(64, socket.MSG_WAITALL)
    ready = b"\x05READY\x0bSocket-Type" + (6).to_bytes(4) + b"DEALER"
    end.sendall(bytes([4, len(ready)]) + ready)
    end.recv(1000)


@pytest.mark.slow
def test_a_peer_that_talks_and_reads_a_few_bytes_at_a_time_is_cut_off(sockets, tmp_path, monkeypatch):
    """What it says counts as an answer to a PING, and over ipc the kernel has no timeout."""
    monkeypatch.setattr(unread, "TAKEN", 1.0)
    monkeypatch.setattr(unread, "SLOWEST", 1 << 24)
    server = sockets.serve(f"ipc://{tmp_path}/folder/x", limits=PeerLimits(share=8, unread=1))
    honest = sockets.connect(server.address)
    version, head = (bytes(frame) for frame in encode(pull()))
    word = bytes([1, len(version)]) + version + bytes([0, len(head)]) + head
    with socket.socket(socket.AF_UNIX) as end:
        shake_hands(end, tmp_path / "folder" / "x")
        end.sendall(word)
        (incoming,) = server.receive(PATIENCE)
        assert server.send(incoming.peer, credit(), {"flat": np.zeros(1 << 18, np.float32)})

        def trickle():
            """Say something and read a little, until that is not possible any more."""
            try:
                end.sendall(word)
                end.recv(64)
            except (BrokenPipeError, ConnectionResetError):
                return True
            return ask(honest, server, 1) is None

        serve_until(server, trickle)
    serve_until(server, lambda: not server.send(incoming.peer, credit()))
    assert ask(honest, server, 9999) == [], "who reads its answers stays"


FLOODED = """
import sys
import time
from league.wire.sockets import PeerLimits, Sockets
with Sockets() as sockets:
    server = sockets.serve(sys.argv[1], limits=PeerLimits(share=8))
    print("ready", flush=True)
    sys.stdin.readline()
    time.sleep(0.5)  # libzmq notices that the peer is gone
    while server.receive(0.5):
        pass
"""


def test_a_peer_that_closes_amid_its_flood_does_not_end_the_process(tmp_path):
    """libzmq 4.3.5 answers a PING of a peer that is gone with an assertion, if it had stopped reading that peer."""
    path = tmp_path / "ipc" / "server"
    command = [sys.executable, "-c", FLOODED, f"ipc://{path}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:
        assert process.stdout.readline() == "ready\n"
        with socket.socket(socket.AF_UNIX) as end:
            shake_hands(end, path)
            message, ping = b"\x00\x10" + bytes(16), b"\x04\x07\x04PING" + bytes(2)
            end.sendall(message * 150 + (message + ping) * 1000)
        _, errors = process.communicate("go\n", timeout=60)
    assert process.returncode == 0, errors


def test_closing_does_not_wait_for_what_was_not_delivered(keys, tmp_path):
    start = time.monotonic()
    with Sockets() as sockets:
        server = sockets.serve(LOOPBACK, load_server_keys(keys))
        nowhere = sockets.connect(f"ipc://{tmp_path}/nowhere/x")
        unanswered = sockets.connect(server.address, load_client_keys(keys, "collector-0"))
        for number in range(50):
            nowhere.send(pull(number))
            unanswered.send(pull(number))
    assert time.monotonic() - start < PATIENCE, "a socket that lingers waits for ever"


def test_sending_without_a_server_fills_a_bounded_queue(sockets, tmp_path):
    client = sockets.connect(f"ipc://{tmp_path}/nowhere/x")
    assert [client.send(pull()) for _ in range(30)].count(True) == 20


def test_a_client_can_be_redirected(sockets, keys):
    loaded, mine = load_server_keys(keys), load_client_keys(keys, "collector-0")
    first, second = sockets.serve(LOOPBACK, loaded), sockets.serve(LOOPBACK, loaded)
    client = sockets.connect(first.address, mine)
    assert ask(client, first, 1) == []
    client.redirect(first.address, mine)  # no change: the connection stays
    assert ask(client, first, 2) == []
    client.redirect(second.address, mine)
    assert ask(client, second, 3) == []
    assert first.receive(0.0) == []


# --- keys that are revoked ----------------------------------------------------------------------------------


def test_a_revoked_key_is_neither_read_nor_sent_to(sockets, server, honest, keys):
    client = sockets.connect(server.address, load_client_keys(keys, "learner-0"))
    client.send(pull(1))
    (first,) = server.receive(PATIENCE)
    assert server.send(first.peer, credit())
    assert client.receive(PATIENCE) == [(credit(), {})]
    revoke_key(keys, "learner-0")
    refusals = []

    def refused():
        client.send(pull(2))
        refusals.extend(message for message, _ in client.receive(0))
        return refusals and refusals[-1] == Refused(reason=REVOKED)

    serve_until(server, refused)
    assert not server.send(first.peer, credit()), "weights do not go there, either"
    client.send(pull(3))
    assert ask(honest, server, 4) == [], "and nothing of it is read"


def test_a_new_key_is_admitted_at_once(sockets, server, keys):
    server.receive(0)
    renew_key(keys, "collector-0")
    sockets.connect(server.address, load_client_keys(keys, "collector-0")).send(pull())
    (incoming,) = server.receive(PATIENCE)
    assert incoming.name == "collector-0"


def test_a_list_that_cannot_be_read_changes_nothing(server, honest, keys, caplog):
    (keys / "admitted.json").write_bytes(b"{")
    serve_until(server, lambda: "cannot be read" in caplog.text)
    assert ask(honest, server, 1) == []
