"""Every environment passes one suite, whatever it is made of."""

from functools import partial

import numpy as np
import odd_envs as odd
import pytest

from collectors.conformance import RuleChecker, conform
from collectors.envs.adapters import reference_tests as official
from collectors.envs.adapters.pettingzoo import adapt, builder, make
from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.particles import SimpleSpread, SimpleTag
from collectors.envs.native.rock_paper_scissors import RockPaperScissors
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.envs.plan import plan

NATIVE = {
    "connect_four": (ConnectFour, "classic/connect_four_v3"),
    "tic_tac_toe": (TicTacToe, "classic/tictactoe_v3"),
    "rock_paper_scissors": (RockPaperScissors, "classic/rps_v2"),
    "simple_spread": (SimpleSpread, "mpe2/simple_spread_v3"),
    "simple_tag": (SimpleTag, "mpe2/simple_tag_v3"),
}
ZOO = {
    "classic/connect_four_v3": {},
    "classic/tictactoe_v3": {},
    "classic/rps_v2": {},
    "mpe2/simple_spread_v3": {"max_cycles": 8},
    "mpe2/simple_tag_v3": {"max_cycles": 8},
    "butterfly/knights_archers_zombies_v11": {"max_cycles": 60},
}
ODD = {
    "deaths": odd.deaths,
    "cut_early": odd.cut_early,
    "mixed_ending": odd.mixed_ending,
    "both_flags": odd.both_flags,
    "births": odd.births,
    "dies_before_it_acts": odd.dies_before_it_acts,
    "mask_in_info": odd.MaskInInfo,
    "composite": odd.Composite,
    "continuous": odd.continuous,
    "many_choices": odd.many_choices,
    "parallel": odd.OddParallel,
    "parallel_deaths": odd.parallel_deaths,
    "parallel_births": odd.parallel_births,
}


DOORS = {
    "tic_tac_toe": ("openspiel", {}),
    "leduc_poker": ("openspiel", {"players": 3}),
    "goofspiel(num_cards=4,imp_info=true)": ("openspiel", {}),
    "tiny_hanabi": ("openspiel", {}),
    "CartPole-v1": ("gymnasium", {}),
    "Pendulum-v1": ("gymnasium", {"max_episode_steps": 20}),
    "Blackjack-v1": ("gymnasium", {}),
    "ALE/Pong-v5": ("atari", {"max_num_frames_per_episode": 300}),
}


def passes(build, reference, seeds=range(1, 10), slots=4):
    findings = conform(build, seeds, slots, reference)
    assert findings.problems == ()
    assert findings.deterministic
    assert all(episode.complete and episode.acts for episode in findings.transcripts)
    return findings.transcripts


@pytest.mark.parametrize("name", NATIVE)
def test_native(name):
    build, id = NATIVE[name]
    passes(build, partial(official.returns, builder(id)), seeds=range(1, 40), slots=8)


@pytest.mark.parametrize("id", ZOO)
def test_pettingzoo(id):
    kwargs = ZOO[id]
    passes(partial(make, id=id, kwargs=kwargs), partial(official.returns, builder(id, kwargs)), range(1, 6))


@pytest.mark.parametrize("id", [pytest.param(id, marks=[pytest.mark.slow] * (id[:3] == "ALE")) for id in DOORS])
def test_doors(id):
    door, kwargs = DOORS[id]
    made = plan(door, {"id": id, "kwargs": kwargs})
    passes(made.build, made.returns, seeds=range(1, 6), slots=3)


@pytest.mark.parametrize("name", ODD)
def test_odd_but_lawful(name):
    build = ODD[name]
    passes(lambda slots: adapt(build, slots), partial(official.returns, build))


def test_an_ending_that_keeps_its_agents_listed_still_ends():
    build = odd.parallel_mixed
    for episode in passes(lambda slots: adapt(build, slots), None):
        assert len(episode.ticks) == 3
        assert {agent: end[1] for agent, end in episode.ends.items()} == {0: False, 1: True, 2: True}


@pytest.mark.parametrize("name", NATIVE)
def test_native_and_adapter_tell_the_same_story(name):
    build, id = NATIVE[name]
    native, zoo = RuleChecker(build(3)).play(range(20)), RuleChecker(make(3, id)).play(range(20))
    assert native == zoo
    assert build(1).spec.signature == make(1, id).spec.signature
    assert build(1).spec.agents == make(1, id).spec.agents
    assert build(1).spec.roles == make(1, id).spec.roles


@pytest.mark.parametrize("how", odd.HOW)
def test_what_breaks_in_one_slot_stays_there(how):
    env = adapt(partial(odd.Broken, how), slots=3)
    episodes = RuleChecker(env).play(range(2, 12))
    alone = RuleChecker(adapt(partial(odd.Broken, "not"), slots=3)).play(range(2, 12))
    for episode, lawful in zip(episodes, alone, strict=True):
        if episode.seed % 2:
            assert episode.fault
            assert not episode.complete
            assert not episode.ends
        else:
            assert episode == lawful


# --- the suite itself must be able to fail ---


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
