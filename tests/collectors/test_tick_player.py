"""Ticks in which a player breaks the rules."""

import pytest
from collector_world import World, evaluation, training

from collectors.envs.native.tic_tac_toe import TicTacToe
from league.ticket import Entry

LATE = """
import numpy as np

class Late:
    def __init__(self, spec): pass

    def act(self, observation, mask, rng):
        late = mask.sum(axis=1) <= 6  # the first moves are legal
        return np.where(late, (~mask).argmax(axis=1), mask.argmax(axis=1)), np.zeros(len(mask))

class Raises(Late):
    def act(self, observation, mask, rng):
        if (mask.sum(axis=1) <= 6).any(): raise KeyError("endgame")
        return mask.argmax(axis=1), np.zeros(len(mask))
"""


@pytest.mark.parametrize(("name", "reason"), [("Late", "which is illegal"), ("Raises", "act raised KeyError")])
@pytest.mark.parametrize("slots", [1, 4])
def test_a_bot_that_breaks_the_rules_late_is_a_fault_of_its_match(tmp_path, monkeypatch, name, reason, slots):
    (tmp_path / f"late_{slots}.py").write_text(LATE)
    monkeypatch.syspath_prepend(str(tmp_path))
    world = World(tmp_path, TicTacToe(slots=slots), allow=[f"late_{slots}"])
    cheat = Entry("ada", bot=f"late_{slots}:{name}")
    fair = [evaluation(number=number, episodes=2) for number in (2, 3)]
    world.begin(training(number=1, episodes=2, opponent=cheat), *fair)
    settled = {}
    while len(settled) < 3:
        report = world.play()
        settled |= {f.ticket: f.reason for f in report.faults} | {r.ticket: "" for r in report.results}
    assert settled[1].startswith(f"player ada: the bot 'late_{slots}:{name}': ")
    assert reason in settled[1]
    assert (settled[2], settled[3]) == ("", ""), "others play on"
    world.now += 10.0
    world.step(10)
    assert len(world.collector._seating.free) == slots
    assert world.heads == [], "nobody learns from a match that a player broke"
