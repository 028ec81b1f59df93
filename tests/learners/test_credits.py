from hypothesis import given
from hypothesis import strategies as st

from learners.credits import AHEAD, Credits


def test_a_lone_session_may_be_two_batches_ahead():
    credits = Credits(batch=100)
    credits.heard("a", b"1", sent=0, now=0.0, fed=False)
    assert credits.allowance("a", held=0, now=0.0) == 200
    credits.heard("a", b"1", sent=150, now=1.0, fed=True)
    assert credits.allowance("a", held=150, now=1.0) == 200
    assert credits.allowance("a", held=0, now=1.0) == 350


def test_the_share_is_divided_among_those_who_feed():
    credits = Credits(batch=100, recent=10.0)
    for name in "abcd":
        credits.heard(name, b"", sent=0, now=0.0, fed=False)
    assert credits.allowance("a", held=0, now=0.0) == 50
    credits.heard("a", b"", sent=50, now=20.0, fed=True)
    assert credits.feeding(now=20.0) == ["a"]
    assert credits.allowance("a", held=0, now=20.0) == 250
    assert credits.allowance("b", held=0, now=20.0) == 100  # as if it joined in


def test_a_restarted_learner_counts_from_what_it_is_told():
    credits = Credits(batch=100)
    credits.heard("a", b"", sent=1_000_000, now=0.0, fed=False)
    assert credits.allowance("a", held=0, now=0.0) == 1_000_200


def test_lost_segments_cost_no_credit():
    credits = Credits(batch=100)
    credits.heard("a", b"", sent=50, now=0.0, fed=True)
    credits.heard("a", b"", sent=150, now=0.0, fed=True)  # 50 decisions between them were lost
    assert credits.allowance("a", held=100, now=0.0) == 250


def test_only_silent_sessions_are_forgotten():
    credits = Credits(batch=100, recent=1.0)
    credits.heard("a", b"", sent=0, now=0.0, fed=False)
    credits.forget("a", now=3.0)
    assert "a" in credits.sessions
    credits.forget("a", now=7.0)
    assert "a" not in credits.sessions


@given(st.lists(st.integers(0, 500), min_size=1, max_size=8), st.integers(1, 1000))
def test_feeding_sessions_together_are_never_more_than_two_batches_ahead(sent, batch):
    credits = Credits(batch=batch)
    for number, decisions in enumerate(sent):
        credits.heard(str(number), b"", decisions, now=0.0, fed=True)
    ahead = sum(credits.allowance(str(n), held=0, now=0.0) - decisions for n, decisions in enumerate(sent))
    assert ahead <= AHEAD * batch
