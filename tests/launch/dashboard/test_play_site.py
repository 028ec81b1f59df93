import json

import pytest
from asgi_client import ask

from launch.dashboard.entrance import Entrance, Pass, own_names
from launch.dashboard.play_site import PLAYING, make_play_site
from launch.dashboard.play_table import PlayTable

OWN = Pass("secret-of-the-test")
COOKIE = ("cookie", f"{OWN.cookie}={OWN.token}")
HERE = ("origin", "http://127.0.0.1:8420")


@pytest.fixture
def app(played):
    table = PlayTable(played[0])
    yield Entrance(make_play_site(table, "main", "ada"), OWN, own_names("127.0.0.1"), PLAYING)
    table.leave()


def post(app, path, plain, headers=(COOKIE, HERE)):
    return ask(app, path, headers, method="POST", body=json.dumps(plain).encode())


def test_a_game_begins_and_moves_are_made(app):
    found = ask(app, "/api/players", [COOKIE]).json
    assert (found["opponent"], found["name"]) == ("main", "ada")
    view = post(app, "/api/begin", {"opponent": "random"}).json
    assert view["legal"] == list(range(9))
    view = post(app, "/api/move", {"action": 4}).json
    assert 4 not in view["legal"]
    assert ask(app, "/api/game", [COOKIE]).json["board"] == view["board"]
    assert post(app, "/api/undo", {}).json["legal"] == list(range(9))
    assert ask(app, "/api/considered", [COOKIE]).json == {"chances": {}, "value": None}


@pytest.mark.parametrize(
    ("path", "plain", "says"),
    [
        ("/api/move", {"action": 3}, "3 is no legal move now"),
        ("/api/move", {"action": "x"}, "Expected `int`"),
        ("/api/undo", {}, "nothing to take back"),
        ("/api/begin", {"opponent": "nobody"}, "nobody"),
    ],
)
def test_what_is_not_possible_is_explained(app, path, plain, says):
    answer = post(app, path, plain)
    assert answer.status == 409
    assert says in answer.json["problem"]


@pytest.mark.parametrize("headers", [[], [COOKIE], [HERE], [COOKIE, ("origin", "http://evil.example")]])
def test_nobody_else_makes_moves(app, headers):
    assert post(app, "/api/begin", {"opponent": "random"}, headers).status == 403


def test_a_long_request_is_refused(app):
    assert post(app, "/api/begin", {"opponent": "x" * 5000}).status == 413
