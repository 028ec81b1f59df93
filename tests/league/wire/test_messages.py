"""Messages: each has a tag of its own, none can be changed, and the words on the wire stay."""

import msgspec
import pytest

from league.wire.messages import Done, Host, Message, Role, Verdict


def test_each_message_has_a_tag_of_its_own():
    tags = [kind.__struct_config__.tag for kind in Message.__args__]
    assert len(set(tags)) == len(tags)
    assert {kind.__struct_config__.tag_field for kind in Message.__args__} == {"kind"}


def test_a_message_is_plain_on_the_wire_cannot_be_changed_and_has_no_other_fields():
    done = Done(term=1, request=2)
    assert msgspec.to_builtins(done) == {"kind": "done", "term": 1, "request": 2, "error": ""}
    with pytest.raises(AttributeError, match="immutable"):
        done.term = 2
    with pytest.raises(msgspec.ValidationError, match="unknown field `more`"):
        msgspec.convert({"kind": "done", "term": 1, "request": 2, "more": 3}, Message)


def test_a_host_has_an_address_for_each_rank():
    assert Host(player="main", incarnation=0, address="tcp://a:1").addresses == ("tcp://a:1",)
    several = Host(player="main", incarnation=0, address="tcp://a:1", more=("tcp://b:2", "tcp://c:3"))
    assert several.addresses == ("tcp://a:1", "tcp://b:2", "tcp://c:3")


def test_the_words_for_roles_and_verdicts_stay():
    assert set(Role) == {"collector", "learner", "inference", "viewer", "tracker", "operator"}
    assert set(Verdict) == {"accepted", "duplicate", "superseded", "unknown"}
