"""Players: the kind is a field, and a player that contradicts itself is refused."""

import msgspec
import pytest

from league.ids import Hash, PlayerId
from league.player import EXPLOITERS, LEARNING, Kind, Player


def test_only_learning_kinds_learn():
    assert {kind for kind in Kind if Player(id=PlayerId("x"), kind=kind, **needed(kind)).learning} == LEARNING
    assert EXPLOITERS < LEARNING


def needed(kind):
    return {Kind.FROZEN: {"snapshot": Hash("h")}, Kind.SCRIPTED: {"bot": "random"}}.get(kind, {})


@pytest.mark.parametrize("name", ["main_exploiter_0", "frozen", "", "7", "main.0"])
def test_the_kind_does_not_come_from_the_name(name):
    assert Player(id=PlayerId(name), kind=Kind.MAIN).kind == Kind.MAIN


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": Kind.FROZEN}, "names its snapshot"),
        ({"kind": Kind.MAIN, "snapshot": Hash("h")}, "names its snapshot"),
        ({"kind": Kind.SCRIPTED}, "names its bot"),
        ({"kind": Kind.MAIN, "bot": "random"}, "names its bot"),
        ({"kind": Kind.MAIN, "anchor": 0.0}, "cannot be an anchor"),
        ({"kind": Kind.MAIN, "rate": -1.0}, "rate"),
    ],
)
def test_a_player_that_contradicts_itself_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message) as caught:
        Player(id=PlayerId("culprit"), **wrong)
    assert "culprit" in str(caught.value)


def test_a_player_survives_json_and_unknown_fields_do_not_pass():
    player = Player(id=PlayerId("a"), kind=Kind.FROZEN, parent=PlayerId("m"), snapshot=Hash("h"), anchor=1.5)
    body = msgspec.json.encode(player)
    assert msgspec.json.decode(body, type=Player) == player
    with pytest.raises(msgspec.ValidationError, match="colour"):
        msgspec.json.decode(body.replace(b'"rate"', b'"colour"'), type=Player)


def test_a_contradiction_on_the_wire_is_refused_too():
    with pytest.raises(msgspec.ValidationError, match="names its bot"):
        msgspec.json.decode(b'{"id": "a", "kind": "scripted"}', type=Player)


def test_players_do_not_change():
    player = Player(id=PlayerId("a"), kind=Kind.MAIN)
    with pytest.raises(AttributeError):
        player.rate = 2.0
