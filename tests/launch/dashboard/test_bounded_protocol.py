import socket
import threading
import urllib.request

import pytest

from launch.dashboard import bounded_protocol
from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.serving import ServerPlace, serve


@pytest.fixture
def address(tmp_path, patiently):
    stop, lines = threading.Event(), []
    thread = threading.Thread(target=serve, args=(Runs(folder=tmp_path), ServerPlace(), lines.append, stop.is_set))
    thread.start()
    yield patiently(lambda: lines and lines[0].removeprefix("dashboard: "), 10, "the address")
    stop.set()
    thread.join(15)


def half_requests(address, count):
    """Return connections that begin a request and do not complete it."""
    host, _, port = address.split("/")[2].partition(":")
    opened = [socket.create_connection((host, int(port))) for _ in range(count)]
    for one in opened:
        one.settimeout(10)
        one.sendall(b"GET / HTTP/1.1\r\n")
    return opened


def visit(address):
    """Open the page as a browser does, which keeps the cookie."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(address, timeout=10) as answer:
        return answer.status


def ended(one):
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


def test_connections_without_a_request_leave_room_for_others(address, monkeypatch):
    monkeypatch.setattr(bounded_protocol, "CONNECTIONS", 8)
    monkeypatch.setattr(bounded_protocol, "REQUEST_SECONDS", 100.0)
    opened = half_requests(address, 20)
    assert all(ended(one) for one in opened[:8])  # the oldest make room
    assert visit(address) == 200
    for one in opened:
        one.close()


def test_a_request_that_does_not_become_complete_is_ended(address, monkeypatch):
    monkeypatch.setattr(bounded_protocol, "REQUEST_SECONDS", 0.3)
    opened = half_requests(address, 3)
    assert all(ended(one) for one in opened)
    for one in opened:
        one.close()
    assert visit(address) == 200
