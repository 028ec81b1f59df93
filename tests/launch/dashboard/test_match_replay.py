import json

import numpy as np
import pytest
from asgi_client import ask

from collectors.envs.config import EnvConfig, make_environment
from launch.dashboard.match_replay import LookedAt, ReplayOrder, replay_apart, replay_json
from launch.dashboard.match_search import MatchFilter, find_match, search_matches
from launch.viewers.view import ViewError


@pytest.fixture(scope="module")
def order(played):
    run, state = played
    one = search_matches(run, MatchFilter(player="main", purpose="evaluate"), None, 1, (0, 1))["matches"][0]
    found = find_match(run, one["ticket"], one["seq"])
    recorded = found.event.episodes[0]
    return ReplayOrder(
        run=str(run.root),
        ticket=found.ticket,
        attempt=found.event.attempt,
        episode=0,
        recorded=recorded,
        seed=state.seed,
    )


def test_a_replay_has_every_position_and_ends_as_recorded(order):
    found = replay_json(order)
    assert found["wrong"] == ""
    assert len(found["positions"]) == order.recorded.length + 1
    assert [len(one["board"]) for one in found["positions"]] == [3] * len(found["positions"])
    assert found["positions"][0]["moves"] == found["positions"][-1]["decisions"] == []


def test_probabilities_are_those_of_the_snapshot_and_the_move_is_among_them(order):
    for before, after in zip(*(replay_json(order)["positions"][i:] for i in (0, 1)), strict=False):
        (decision,), (move,) = before["decisions"], after["moves"]
        assert decision["chosen"] == move["action"]
        assert move["action"] in decision["legal"]
        if decision["player"] in ("main", "exploiter"):
            assert sum(decision["probabilities"]) == pytest.approx(1, abs=1e-3)
            assert -2 < decision["value"] < 2
            assert decision["probabilities"][decision["legal"].index(move["action"])] > 0


def test_another_outcome_is_reported(order):
    import msgspec

    other = msgspec.structs.replace(order.recorded, length=99)
    assert "length 99 became" in replay_json(msgspec.structs.replace(order, recorded=other))["wrong"]


def test_a_process_of_its_own_answers_the_same(order):
    assert json.loads(replay_apart(order)) == json.loads(json.dumps(replay_json(order)))


def test_what_cannot_be_replayed_is_explained(order):
    import msgspec

    with pytest.raises(ViewError, match=r"cannot be played again: .*were not recorded"):
        replay_apart(msgspec.structs.replace(order, recorded=msgspec.structs.replace(order.recorded, actions=b"")))


def test_the_site_replays(site, order):
    found = ask(site, "/api/runs/first/replay", query=f"match={order.ticket.number}.0").json
    assert found["match"] == f"{order.ticket.number}.0"
    answer = ask(site, "/api/runs/first/replay", query=f"match={order.ticket.number}.99")
    assert answer.status == 404
    assert "was not recorded; recorded are" in answer.json["problem"]
    assert ask(site, "/api/runs/first/replay", query="match=x").status == 404


def test_the_last_rows_are_kept():
    env = LookedAt(make_environment(EnvConfig(name="tic_tac_toe"), 1))
    env.start(np.arange(1), np.zeros(1, np.int64))
    assert env.rows() is env.last
    env.close()
