"""Who may come in: keys that are none, the answer to a handshake, and patience that ends."""

import pytest

from league.wire.admission import ClientKeys, Holder, Patience, ServerKeys, answer_handshake
from league.wire.messages import Role

KEY, OTHER = "k" * 40, "o" * 40
DOORS = {b"coordinator": {b"raw key": KEY}}


def request(domain=b"coordinator", version=b"1.0", mechanism=b"CURVE", credentials=(b"raw key",)):
    return [version, b"7", domain, b"10.0.0.1", b"", mechanism, *credentials]


def test_a_known_key_is_its_own_user_id():
    assert answer_handshake(request(), DOORS) == [b"1.0", b"7", b"200", b"OK", KEY.encode(), b""]


@pytest.mark.parametrize(
    "wrong",
    [
        {"domain": b"learner"},
        {"version": b"2.0"},
        {"mechanism": b"NULL"},
        {"credentials": ()},
        {"credentials": (b"another key",)},
        {"credentials": (b"raw key", b"raw key")},
    ],
)
def test_anything_else_is_refused(wrong):
    assert answer_handshake(request(**wrong), DOORS) == [b"1.0", b"7", b"400", b"unknown key", b"", b""]


@pytest.mark.parametrize("bad", ["", "k" * 39, "k" * 41, "k" * 39 + " ", "k" * 39 + "ü"])
def test_what_cannot_be_a_key_is_refused_and_not_shown(bad):
    holder = Holder("collector-0", Role.COLLECTOR)
    for make in (
        lambda: ServerKeys(public=bad, secret=KEY, clients={}),
        lambda: ServerKeys(public=KEY, secret=bad, clients={}),
        lambda: ServerKeys(public=KEY, secret=KEY, clients={bad: holder}),
        lambda: ClientKeys(server=bad, public=KEY, secret=KEY),
        lambda: ClientKeys(server=KEY, public=bad, secret=KEY),
        lambda: ClientKeys(server=KEY, public=KEY, secret=bad),
    ):
        with pytest.raises(ValueError, match=r"key is not a CURVE key \(40 characters of Z85\)$"):
            make()


def test_a_secret_is_not_part_of_the_text_of_keys():
    assert OTHER not in repr(ServerKeys(public=KEY, secret=OTHER, clients={}))
    assert OTHER not in repr(ClientKeys(server=KEY, public=KEY, secret=OTHER))


def test_patience_ends_for_one_peer_and_forgets_the_oldest():
    patience = Patience(budget=2, remembered=2)
    assert [patience.offend(b"a"), patience.lost(b"a"), patience.offend(b"a"), patience.lost(b"a")] == [
        1,
        False,
        2,
        True,
    ]
    assert not patience.lost(b"b")
    for peer in (b"b", b"c"):
        patience.offend(peer)
    assert list(patience.offences) == [b"b", b"c"]
    assert patience.total == 4
