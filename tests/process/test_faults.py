"""An environment that raises, hangs and crashes hurts only its own matches."""

import pytest

from launch.verify.verify import verify
from launch.viewers.view import read_offline

FAULTY = [
    "env=pettingzoo",
    "env.id=faulty_env:env",
    "--allow",
    "faulty_env",
    "policy.hidden=[8]",
    "collector.slots=4",
    "collector.hang_seconds=2",
    "launch.collectors=2",
    "league.lease.seconds=4",
    "league.budget.minutes=30",
    "algo.batch=512",
]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def test_the_league_goes_on(start, patiently):
    league = start(*FAULTY, "env.kwargs={raises: 0.002, hangs: 0.0003, crashes: 0.0003}", "league.lease.attempts=20")
    logs = [league.run.log("collector", i) for i in range(2)]

    def told(text):
        return any(text in log.read_text(errors="replace") for log in logs if log.exists())

    for text in ("the faulty game raises", "the environment faulty_env:env hangs", "Segmentation fault"):
        patiently(lambda text=text: told(text), 100, f"{text!r} in a collector's log")
    for text in ("faulty_env:env hung", "faulty_env:env most likely crashed it (see: ludus check-env"):
        patiently(lambda text=text: text in league.log.read_text(), 20, f"{text!r} on the terminal")
    before = league.results()
    patiently(lambda: league.results() > before + 20, 60, "play going on")
    assert league.interrupt() == 130
    assert verify(league.run) == 0
    assert read_offline(league.run).state.env_steps > 0
    assert "in step" in "".join(log.read_text(errors="replace") for log in logs), "the stack tells where it hung"


def test_a_game_that_always_breaks_ends_the_league_with_the_reason(start):
    league = start(*FAULTY, "env.kwargs={raises: 1.0}", "league.lease.give_up=5")
    assert league.process.wait(120) == 1
    state = read_offline(league.run).state
    assert state.voids >= 5, "the first steps of each process go well, so a ticket or two may have passed before"
    told = " ".join(league.log.read_text().split())  # long lines are wrapped
    assert "tickets in a row were void, the last one because of: faulty_env:env: " in told
    assert "is void, nobody wins it: faulty_env:env: " in told
    assert "See: ludus check-env faulty_env:env" in told
    assert "as it was told" in league.run.log("coordinator", 0).read_text()
