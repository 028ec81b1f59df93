"""The suite within a time budget."""

import math
import time

import foreign_games
import pytest

from collectors.check import check
from collectors.conforming import conform
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.config import EnvConfig
from collectors.pace import Pace


def slow(slots):
    return adapt(lambda: foreign_games.Slow(ticks=10, seconds=0.002), slots)


def test_with_less_time_fewer_episodes_are_played():
    told = []
    findings = conform(slow, range(1, 65), 8, seconds=1.0, tell=told.append)
    assert 1 <= len(findings.complete) < 64
    assert findings.problems == ()
    assert told[0] == "an episode"
    assert len(conform(slow, range(1, 4), 2, seconds=math.inf).complete) == 3


def test_without_time_for_a_second_time_nothing_is_claimed():
    findings = conform(slow, range(1, 17), 8, seconds=0.0)
    assert findings.deterministic is None
    assert findings.notes


def test_a_single_episode_is_played_again_and_the_rest_is_noted(monkeypatch):
    monkeypatch.setattr(Pace, "afford", lambda *_: (1, 1))
    findings = conform(slow, range(1, 17), 8, seconds=60.0)
    assert (len(findings.complete), findings.deterministic) == (1, True)
    (note,) = findings.notes
    assert note.startswith("there was no time to compare episodes in different slots; ludus check-env --seconds")


@pytest.mark.slow
def test_a_game_of_a_millisecond_a_step_has_a_verdict_within_twenty_seconds():
    begin = time.process_time()
    env = EnvConfig(name="pettingzoo", id="foreign_games:Slow", kwargs={"ticks": 1000})
    report = check(env, allow=["foreign_games"])
    assert report.fit, report.lines()
    assert report.deterministic
    assert time.process_time() - begin < 20.0
