import http.client
import random
import threading

import pytest
from asgi_client import ask
from starlette.responses import PlainTextResponse

from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.entrance import Entrance, Pass, Visit, is_loopback, own_names, refusal
from launch.dashboard.serving import ServerPlace, serve

OWN = Pass("secret-of-the-test")
COOKIE = ("cookie", f"{OWN.cookie}={OWN.token}")
NAMES = own_names("127.0.0.1")


async def inner(scope, receive, send):
    await PlainTextResponse("numbers")(scope, receive, send)


@pytest.fixture
def app():
    return Entrance(inner, OWN, NAMES)


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(app):
    answer = ask(app, "/", query=f"token={OWN.token}")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert OWN.cookie in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert ask(app, "/anything", [COOKIE]).body == b"numbers"


@pytest.mark.parametrize("query", ["", "token=", "token=wrong", "token=%C3%A4", f"token={OWN.token}&token=x"])
def test_without_the_token_nothing_is_shown(app, query):
    answer = ask(app, "/", query=query)
    assert answer.status == 403
    assert b"ludus dashboard" in answer.body


def test_the_token_opens_only_the_first_page(app):
    assert ask(app, "/api/runs", query=f"token={OWN.token}").status == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8420", "localhost:1", "LOCALHOST", "[::1]:8420"])
def test_names_of_this_machine_are_let_in_at_any_port(app, host):
    assert ask(app, "/", [("host", host), COOKIE]).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example", "localhost/x", "a:b"]
)
def test_other_names_are_refused_even_with_the_token(app, host):
    assert ask(app, "/", [("host", host), COOKIE]).status == 403


def test_two_hosts_are_refused(app):
    assert ask(app, "/", [("host", "localhost"), ("host", "evil.example"), COOKIE]).status == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8420", "http://127.0.0.1:9999"])
def test_other_origins_are_refused_even_with_the_token(app, origin):
    assert ask(app, "/", [("origin", origin), COOKIE]).status == 403


def test_our_own_pages_may_ask(app):
    assert ask(app, "/", [("origin", "http://127.0.0.1:8420"), ("sec-fetch-site", "same-origin"), COOKIE]).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_that_browsers_send_for_other_sites_are_refused(app, site):
    assert ask(app, "/", [("sec-fetch-site", site), COOKIE]).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_everything_is_only_read(app, method):
    assert ask(app, "/", [COOKIE], method=method).status == 403


def test_every_answer_forbids_inline_script_and_frames(app):
    for headers in ([COOKIE], []):
        answer = ask(app, "/", headers)
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_the_address_at_which_a_request_arrived_is_a_name_of_this_server():
    visit = Visit(method="GET", host="10.1.2.3:8420", local="10.1.2.3")
    assert refusal(visit, own_names("0.0.0.0")) == ""
    assert refusal(visit, own_names("127.0.0.1")) == ""
    assert refusal(Visit(method="GET", host="10.1.2.4", local="10.1.2.3"), own_names("0.0.0.0"))


def test_loopback_is_known():
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "127.3.2.1", "0.0.0.0", "login.cluster")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def foreign(rng, port):
    """Return the path and the headers of a request that must not be answered."""
    kind = rng.choice(["host", "origin", "none", "wrong", "late"])
    path = rng.choice(["/", "/api/runs", "/api/runs/first/standings", "/static/app.js"])
    headers = {"Host": f"127.0.0.1:{port}"}
    if kind == "host":
        headers["Host"] = rng.choice(["evil.example", f"evil.example:{port}", "127.0.0.2", "x.localhost"])
    elif kind == "origin":
        headers["Origin"] = rng.choice(["http://evil.example", "null", f"http://localhost:{port}", "file://"])
    elif kind == "wrong":
        headers["Cookie"] = f"ludus-{rng.randbytes(6).hex()}={rng.randbytes(24).hex()}"
    elif kind == "late":
        path += f"?token={rng.randbytes(24).hex()}"
    return kind, path, headers


def test_of_a_thousand_foreign_requests_none_is_answered(played, figure, patiently):
    lines, stop = [], threading.Event()
    arguments = (Runs(only=played[0]), ServerPlace(port=0), lines.append, stop.is_set)
    server = threading.Thread(target=serve, args=arguments, daemon=True)
    server.start()
    address = patiently(lambda: lines and lines[0], 10, "the address")
    port, token = int(address.split(":")[3].split("/")[0]), address.split("token=")[1]
    connection, rng, answered = http.client.HTTPConnection("127.0.0.1", port), random.Random(1), 0
    cookie = f"{Pass(token).cookie}={token}"
    for _ in range(1000):
        kind, path, headers = foreign(rng, port)
        if kind in ("host", "origin"):
            headers["Cookie"] = cookie  # a browser would send it
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        answered += answer.status != 403 or b"first" in body
    assert answered == 0
    connection.request("GET", "/api/runs", headers={"Cookie": cookie})
    assert connection.getresponse().status == 200
    connection.close()
    stop.set()
    server.join(10)
    assert not server.is_alive()
    figure(f"1,000 requests with foreign Host, foreign Origin or no token: {answered} answered")


@pytest.mark.parametrize("foreign", ['prefs={"a":1}', "foo[bar]=1", "a b=1", "x", f"{OWN.cookie}=planted", "é=1"])
def test_cookies_of_other_servers_lock_nobody_out(app, foreign):
    """Servers at other ports of a host share its cookies."""
    assert ask(app, "/anything", [("cookie", f"{foreign}; {COOKIE[1]}")]).status == 200
    assert ask(app, "/anything", [("cookie", foreign)]).status == 403
