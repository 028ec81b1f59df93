import json
import struct

import pytest
from asgi_client import ask

from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.site import STATIC, make_site
from launch.viewers.explaining import explain_json
from launch.viewers.payoff_matrix import payoff_json
from launch.viewers.tables import standings_json, status_json
from launch.viewers.view import find_player, read_offline


def test_the_runs_are_those_of_the_command(site):
    (card,) = ask(site, "/api/runs").json
    assert (card["name"], card["state"]) == ("first", "over")
    assert card["best"]["player"]


def test_status_and_league(site, played):
    found = ask(site, "/api/runs/first/league").json
    printed = json.loads(json.dumps(status_json(read_offline(played[0]))))
    assert printed.items() <= found["status"].items()
    assert found["league"]["game"] == "tic_tac_toe"
    assert found["league"]["mains"] == ["main"]


def test_standings_are_those_of_the_command(site, state):
    found = ask(site, "/api/runs/first/standings").json
    for row, printed in zip(found["rows"], json.loads(json.dumps(standings_json(state))), strict=True):
        assert printed.items() <= row.items()
    assert ask(site, "/api/runs/first/standings", query=f"since={found['version']}").json["rows"] == []


def test_an_answer_that_the_browser_has_is_not_sent_again(site):
    for path in ("/api/runs/first/standings", "/api/runs/first/payoff"):
        first = ask(site, path)
        again = ask(site, path, [("if-none-match", first.headers["etag"])])
        assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("order", ["rating", "kind", "cluster"])
def test_the_payoff_has_a_byte_for_each_cell(site, state, order):
    body = ask(site, "/api/runs/first/payoff", query=f"order={order}").body
    (length,) = struct.unpack("<I", body[:4])
    header = json.loads(body[4 : 4 + length])
    assert sorted(header["players"]) == sorted(payoff_json(state)["evaluate"]["players"])
    assert len(body) == 4 + length + len(header["players"]) ** 2


def test_a_cell_and_why(site, state, played):
    found = ask(site, "/api/runs/first/cell", query="player=main&opponent=random").json
    table = payoff_json(state)["evaluate"]
    i, j = (table["players"].index(name) for name in ("main", "random"))
    assert found["cell"] == json.loads(json.dumps(table["cells"][i][j]))
    view = read_offline(played[0])
    printed = explain_json(view, find_player(view.state, "main"))
    assert json.loads(json.dumps(printed)).items() <= ask(site, "/api/runs/first/why", query="player=main").json.items()


def test_curves_have_the_points_of_the_trackers(site, history):
    names = ask(site, "/api/runs/first/curves").json["names"]
    assert {"elo/main", "elo/main_low", "charts/episodic_length"} <= set(names)
    found = ask(site, "/api/runs/first/curves", query="name=elo/main&name=nothing").json
    assert list(found["series"]) == ["elo/main"]
    points = found["series"]["elo/main"]
    assert len(points["values"]) == len(points["matches"]) > 1
    assert ask(site, "/api/runs/first/curves", query=f"name=elo/main&since={found['next']}").json["series"] == {
        "elo/main": {"matches": [], "env_steps": [], "values": []}
    }


def test_the_tree_names_parents(site, state):
    players = {one["player"]: one for one in ask(site, "/api/runs/first/tree").json["players"]}
    assert set(players) == {player.id for player in state.population}
    assert any(one["parent"] == "main" and one["match"] > 0 for one in players.values())


@pytest.mark.parametrize(
    ("path", "query", "status", "says"),
    [
        ("/api/runs/second/league", "", 404, "there is no run 'second' here; there are: first"),
        ("/api/runs/..%2Ffirst/league", "", 404, "there is no run"),
        ("/api/runs/first/cell", "player=man&opponent=random", 404, "did you mean 'main'?"),
        ("/api/runs/first/why", "player=", 404, "there is no player ''"),
        ("/api/runs/first/payoff", "order=size", 400, "order is one of rating, kind, cluster"),
        ("/api/runs/first/standings", "since=-1", 400, "since is a number"),
        ("/nothing", "", 404, "Not Found"),
    ],
)
def test_what_cannot_be_answered_is_explained(site, path, query, status, says):
    answer = ask(site, path, query=query)
    assert (answer.status, answer.json["problem"][: len(says)] == says or says in answer.json["problem"]) == (
        status,
        True,
    )


def test_the_stream_begins_with_the_status(site):
    answer = ask(site, "/api/runs/first/stream", most=2)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert b"event: status" in answer.body
    assert b'"phase":"over"' in answer.body


def test_a_run_that_was_never_started_is_a_clear_answer(run):
    run.ledger.unlink()
    runs = Runs(only=run)
    answer = ask(make_site(runs), "/api/runs/first/league")
    assert answer.status == 202
    runs.close()


def test_pages_load_nothing_from_elsewhere_and_have_no_inline_script():
    for path in STATIC.rglob("*"):
        if path.suffix in (".html", ".js", ".css") and "vendor" not in path.parts:
            text = path.read_text().replace("http://www.w3.org/2000/svg", "")
            assert "http://" not in text, path
            assert "https://" not in text, path
    page = (STATIC / "index.html").read_text()
    assert page.count("<script") == page.count("<script src=") == 3
    assert "onclick" not in page
