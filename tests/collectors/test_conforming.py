"""The suite within a time budget."""

import math
import time

import foreign_games
import pytest
from odd_envs import OddParallel

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


class Counting(OddParallel):
    """Breaks in its seventh episode, counted over all objects; later episodes are those of `luck`."""

    def __init__(self, begun, luck=0):
        super().__init__()
        self.begun, self.luck_then = begun, luck

    def reset(self, seed=None, options=None):
        self.begun.append(seed)
        if len(self.begun) == 7:
            raise RuntimeError("worn out")
        return super().reset(seed + (self.luck_then if len(self.begun) > 7 else 0), options)


def counting(luck):
    begun = []
    return conform(lambda slots: adapt(lambda: Counting(begun, luck), slots), range(1, 6), 1)


def test_a_fault_of_a_later_pass_is_reported_and_not_taken_for_another_seed():
    findings = counting(luck=0)
    (problem,) = findings.problems
    assert "reset raised RuntimeError: worn out" in problem.what
    assert findings.deterministic is None


def test_rows_that_differ_beside_a_fault_are_reported_with_it():
    findings = counting(luck=1)
    assert ["worn out" in one.what or "gave different rows" in one.what for one in findings.problems] == [True, True]
    assert findings.deterministic is False


@pytest.mark.slow
def test_a_game_of_a_millisecond_a_step_has_a_verdict_within_twenty_seconds():
    begin = time.process_time()
    env = EnvConfig(name="pettingzoo", id="foreign_games:Slow", kwargs={"ticks": 1000})
    report = check(env, allow=["foreign_games"])
    assert report.fit, report.lines()
    assert report.deterministic
    assert time.process_time() - begin < 20.0
