"""N of M slots are built, and about so many seconds are left."""

import sys

import far_games
import pytest
from sized_env import SizedRace

from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.build_pace import BuildPace
from collectors.envs.config import EnvConfig, VariantConfig, make_environment


def test_the_rest_takes_as_long_as_what_is_built():
    told, now = [], [0.0]
    pace = BuildPace(4, lambda *one: told.append(one), clock=lambda: now[0])
    for took in (0.0, 3.0, 3.0, 3.0):  # the first was built before, to read its spaces
        now[0] += took
        pace.built()
    assert told == [(1, 4, 0.0), (2, 4, 6.0), (3, 4, 3.0), (4, 4, 0.0)]
    assert pace.seconds == 3.0


def test_every_slot_is_built_once_and_plays():
    made, told = [], []
    env = adapt(lambda: made.append(1) or SizedRace(), 5, name="race")
    env.build_slots(lambda built, slots, left: told.append((built, slots)))
    assert (len(made), told[-1]) == (5, (5, 5))
    env.start([0, 4], [1, 2])
    assert len(made) == 5


def test_a_slot_that_cannot_be_built_is_a_fault_of_that_slot_when_it_is_started():
    made = []

    def build():
        made.append(1)
        if len(made) == 2:
            raise OSError("no licence")
        return SizedRace()

    env = adapt(build, 2, name="race")
    env.build_slots(lambda *_: None)
    env.start([0, 1], [1, 2])
    assert len(env.rows()) == 4, "the second attempt worked"


@pytest.mark.parametrize("python", ["", sys.executable])
def test_variants_and_other_pythons_are_built_too(python, monkeypatch):
    monkeypatch.chdir(far_games.HERE)
    rows = {name: VariantConfig(kwargs={"size": size}) for name, size in (("small", 2), ("large", 3))}
    config = EnvConfig(name="pettingzoo", id="sized_env:SizedRace", variants=rows, python=python)
    env, told = make_environment(config, 3, ("sized_env", python)), []
    try:
        assert env.build_slots(lambda built, slots, left: told.append((built, slots))) >= 0
        assert told[-1] == (6, 6)
    finally:
        env.close()
