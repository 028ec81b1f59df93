"""Players: the kind is a field, and a player that contradicts itself is refused."""

import msgspec
import pytest

from league.ids import Hash, PlayerId
from league.player import Player, Status


@pytest.mark.parametrize(
    ("player", "status", "label"),
    [
        (Player(id=PlayerId("x"), kind="main"), Status.LEARNING, "main"),
        (Player(id=PlayerId("x"), kind="sparring_partner"), Status.LEARNING, "sparring_partner"),
        (Player(id=PlayerId("x"), kind="main", snapshot=Hash("h")), Status.FROZEN, "frozen"),
        (Player(id=PlayerId("x"), kind="scripted", bot="random"), Status.SCRIPTED, "scripted"),
        (Player(id=PlayerId("x"), kind="mixture", members=(("main", 1.0),)), Status.MIXTURE, "mixture"),
        (Player(id=PlayerId("x"), kind="human"), Status.HUMAN, "human"),
    ],
)
def test_what_a_player_is_and_what_tables_call_it(player, status, label):
    assert (player.status, player.label) == (status, label)
    assert player.learning == (status == Status.LEARNING)


@pytest.mark.parametrize("name", ["main_exploiter_0", "frozen", "", "7", "main.0"])
def test_the_kind_does_not_come_from_the_name(name):
    assert Player(id=PlayerId(name), kind="main").kind == "main"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "frozen"}, "names its snapshot"),
        ({"kind": "scripted"}, "names its bot"),
        ({"kind": "mixture"}, "names its members"),
        ({"kind": "main", "members": (("main", 1.0),)}, "names its members"),
        ({"kind": "main", "bot": "random"}, "names its bot"),
        ({"kind": "main", "anchor": 0.0}, "cannot be an anchor"),
        ({"kind": "main", "rate": -1.0}, "rate"),
        ({"kind": "scripted", "bot": "random", "start": Hash("h")}, "only a learning player starts from a snapshot"),
        ({"kind": "human", "snapshot": Hash("h")}, "names no snapshot"),
        ({"kind": "scripted", "bot": "random", "snapshot": Hash("h")}, "names no snapshot"),
    ],
)
def test_a_player_that_contradicts_itself_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message) as caught:
        Player(id=PlayerId("culprit"), **wrong)
    assert "culprit" in str(caught.value)


def test_a_player_survives_json_and_unknown_fields_do_not_pass():
    player = Player(id=PlayerId("a"), kind="main", parent=PlayerId("m"), snapshot=Hash("h"), anchor=1.5)
    body = msgspec.json.encode(player)
    assert msgspec.json.decode(body, type=Player) == player
    with pytest.raises(msgspec.ValidationError, match="colour"):
        msgspec.json.decode(body.replace(b'"rate"', b'"colour"'), type=Player)


def test_a_contradiction_on_the_wire_is_refused_too():
    with pytest.raises(msgspec.ValidationError, match="names its bot"):
        msgspec.json.decode(b'{"id": "a", "kind": "scripted"}', type=Player)


def test_players_do_not_change():
    player = Player(id=PlayerId("a"), kind="main")
    with pytest.raises(AttributeError):
        player.rate = 2.0
