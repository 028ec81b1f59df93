"""Every environment passes one suite, whatever it is made of."""

import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import odd_envs as odd
import pytest

from collectors.conformance import RuleChecker
from collectors.conforming import conform
from collectors.envs.adapters import reference_tests as official
from collectors.envs.adapters.pettingzoo import adapt, builder, make
from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.particles import SimpleSpread, SimpleTag
from collectors.envs.native.rock_paper_scissors import RockPaperScissors
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.envs.other_python.far_environment import FarEnvironment
from collectors.envs.other_python.far_order import FarOrder, opening_of
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
PGX = {
    "tic_tac_toe": {},
    "connect_four": {},
    "othello": {},
    "go_9x9": {"max_steps": 60},  # truncated
    "backgammon": {},  # dice
    "leduc_holdem": {},  # an agent may win before it acts
    "sparrow_mahjong": {},  # three agents
}  # each is compiled, which takes seconds


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


@pytest.mark.slow
@pytest.mark.parametrize("id", PGX)
def test_pgx(id):
    made = plan("pgx", {"id": id, "kwargs": PGX[id]})
    passes(made.build, made.returns, seeds=[1, 2, 3, 4, 5, 2**40 + 1], slots=3)


@pytest.mark.parametrize("name", ODD)
def test_odd_but_lawful(name):
    build = ODD[name]
    passes(lambda slots: adapt(build, slots), partial(official.returns, build))


# --- the same in another Python: `env.python` ---


def elsewhere(id, slots, **kwargs):
    """Return an environment whose games play in another process of this Python, with modules of tests/support."""
    opening = {**opening_of(id, kwargs, [], allow=["odd_envs"]), "paths": [str(Path(odd.__file__).parent)]}
    return FarEnvironment(FarOrder(sys.executable, id, opening), slots)


def sometimes_slow(names, fast):
    return [pytest.param(name, marks=[pytest.mark.slow] * (name not in fast)) for name in names]


@pytest.mark.parametrize("name", sometimes_slow(ODD, fast=["births"]))
def test_odd_but_lawful_elsewhere(name):
    id = f"odd_envs:{ODD[name].__name__}"
    mine = passes(partial(elsewhere, id), partial(official.returns, ODD[name]), range(1, 6))
    assert mine == RuleChecker(adapt(ODD[name], 3, name=id)).play(range(1, 6))


@pytest.mark.parametrize("id", sometimes_slow(ZOO, fast=["classic/tictactoe_v3"]))
def test_pettingzoo_elsewhere(id):
    kwargs = ZOO[id]
    mine = passes(
        lambda slots: elsewhere(id, slots, **kwargs), partial(official.returns, builder(id, kwargs)), range(1, 6)
    )
    assert mine == RuleChecker(make(3, id=id, kwargs=kwargs)).play(range(1, 6))


@pytest.mark.parametrize("how", sometimes_slow(odd.HOW, fast=["nan"]))
def test_what_breaks_in_one_slot_elsewhere_stays_there(how):
    with closing(elsewhere("odd_envs:Broken", 3, how=how)) as env:
        episodes = RuleChecker(env).play(range(2, 12))
    here = RuleChecker(adapt(partial(odd.Broken, how), 3, name="odd_envs:Broken")).play(range(2, 12))
    assert episodes == here, "also in the words of each fault"


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
