"""The conformance suite itself must be able to fail."""

from functools import partial

import numpy as np
import odd_envs as odd
import pytest

from collectors.conformance import RuleChecker
from collectors.conforming import conform
from collectors.envs.adapters import reference_tests as official
from collectors.envs.adapters.pettingzoo import adapt, builder
from collectors.envs.native.connect_four import ConnectFour


class Meddler:
    """Passes an environment on, with one thing changed."""

    def __init__(self, inner, **changes):
        self.inner, self.changes = inner, changes
        self.spec, self.slots = inner.spec, inner.slots

    def start(self, slots, seeds):
        self.inner.start(slots, seeds)

    def rows(self):
        rows = self.inner.rows()
        return self.changes.get("rows", lambda given: given)(rows)

    def step(self, actions):
        return self.changes.get("ends", lambda given: given)(self.inner.step(actions))

    def render(self, slot):
        return self.inner.render(slot)

    def close(self):
        self.inner.close()


def replace(thing, **changes):
    fields = {name: getattr(thing, name) for name in thing.__dataclass_fields__}
    return type(thing)(**{**fields, **changes})


MEDDLING = {
    "not every agent that acted had its END row": {
        "ends": lambda ends: replace(
            ends, slot=ends.slot[::2], agent=ends.agent[::2], reward=ends.reward[::2],
            truncated=ends.truncated[::2], observation=ends.observation[::2],
        )
    },
    "got two END rows": {
        "ends": lambda ends: replace(ends, **{
            name: np.repeat(getattr(ends, name), 2, axis=0)
            for name in ("slot", "agent", "reward", "truncated", "observation")
        })
    },
    "first flag": {"rows": lambda rows: replace(rows, first=~rows.first)},
    "not what the spec says": {"rows": lambda rows: replace(rows, mask=rows.mask.astype(np.int8))},
    "do not add up": {"ends": lambda ends: replace(ends, reward=np.abs(ends.reward))},
}  # fmt: skip


@pytest.mark.parametrize("what", MEDDLING)
def test_the_suite_finds_what_is_wrong(what):
    def build(slots):
        return Meddler(ConnectFour(slots), **MEDDLING[what])

    reference = partial(official.returns, builder("classic/connect_four_v3"))
    problems = conform(build, range(3), 2, reference if what == "do not add up" else None).problems
    assert any(what in problem.what for problem in problems)


def test_the_suite_finds_an_empty_mask():
    meddler = Meddler(ConnectFour(1), rows=lambda rows: replace(rows, mask=rows.mask & rows.first[:, None]))
    referee = RuleChecker(meddler)
    with pytest.raises(ValueError, match="illegal"):  # nothing legal is left, and column 0 fills up
        referee.play(range(1))
    assert "the mask of agent 'player_0' is empty" in referee.problems


def test_the_suite_finds_chance_that_ignores_the_seed():
    findings = conform(lambda slots: adapt(odd.GlobalDice, slots), range(3), 2)
    assert not findings.deterministic
    assert "same seed" in findings.problems[0].what


def test_the_suite_finds_slots_that_share_state():
    class Shared(odd.OddAec):
        resets = 0

        def reset(self, seed=None, options=None):
            super().reset(seed, options)
            Shared.resets = 0

        def observe(self, agent):
            Shared.resets += 1
            return np.array([self.moves, Shared.resets], np.float32)

    findings = conform(lambda slots: adapt(Shared, slots), range(4), 2)
    assert any("alone" in problem.what for problem in findings.problems)


def test_the_suite_finds_a_reset_that_forgets_something():
    class Leaky(odd.OddAec):
        episodes = 0

        def reset(self, seed=None, options=None):
            super().reset(seed, options)
            self.episodes += 1

        def observe(self, agent):
            return np.array([self.moves, self.episodes], np.float32)

    findings = conform(lambda slots: adapt(Leaky, slots), range(4), 2)
    (problem,) = findings.problems
    assert "played before" in problem.what
    assert "env.fresh=true" in problem.remedy
    assert conform(lambda slots: adapt(Leaky, slots, fresh=True), range(4), 2).problems == ()
