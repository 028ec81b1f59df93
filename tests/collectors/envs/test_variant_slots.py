"""An environment in several variants, in one batch of slots."""

import numpy as np
import pytest
from sized_env import SizedRace

from collectors.conforming import conform
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.config import EnvConfig, VariantConfig, make_environment, planned, variants_of
from collectors.envs.variant_slots import VariantError, VariantSlots
from league.variants import spin, variant_number

ALLOW = ("sized_env",)


def race(**variants):
    rows = {name: VariantConfig(weight=kwargs.pop("weight", 1.0), kwargs=kwargs) for name, kwargs in variants.items()}
    return EnvConfig(name="pettingzoo", id="sized_env:SizedRace", variants=rows)


def small_and_large():
    return race(small={"size": 2, "runners": 2, "weight": 2.0}, large={"size": 4, "runners": 3})


def test_variants_obey_all_rules_of_environments():
    made = planned(small_and_large(), ALLOW)
    findings = conform(made.build, range(1, 40), 6, made.returns)
    assert findings.problems == ()
    assert findings.deterministic


def test_the_spec_has_room_for_every_variant():
    spec = make_environment(small_and_large(), 2, ALLOW).spec
    assert spec.agents == ("runner_0", "runner_1", "runner_2")
    assert (spec.observation.shape, spec.actions) == ((4, 2), 4)
    assert [(variant.name, round(variant.share, 2)) for variant in spec.variants] == [("small", 0.67), ("large", 0.33)]


def play(env, seeds, rng):
    """Play an episode with each seed; return rewards by (seed, agent), and whether each agent took part."""
    found = {}
    for seed in seeds:
        env.start(np.array([0]), np.array([seed]))
        over = False
        while not over:
            rows = env.rows()
            for agent, reward, seen in zip(rows.agent, rows.reward, rows.observation, strict=True):
                found.setdefault((seed, env.spec.agents[agent]), []).append((float(reward), float(seen.sum())))
            ends = env.step(rng(len(rows), seed))
            over = bool(len(ends.over))
            for agent, reward in zip(ends.agent, ends.reward, strict=True):
                found[seed, env.spec.agents[agent]].append((float(reward), 0.0))
    return found


def test_each_episode_equals_that_of_its_variant_alone():
    config = small_and_large()
    env, variants = make_environment(config, 1, ALLOW), variants_of(config)
    alone = [adapt(lambda: SizedRace(2, 2), 1), adapt(lambda: SizedRace(4, 3), 1)]
    seeds = range(1000, 40_000_000, 1_234_567)
    chosen = [variant_number(seed, variants) for seed in seeds]
    assert set(chosen) == {0, 1}

    def acts(count, seed):
        return np.random.default_rng(seed).integers(2, size=count).astype(np.int32)

    together = play(env, seeds, acts)
    apart = {
        key: value
        for number in (0, 1)
        for key, value in play(
            alone[number], [s for s, c in zip(seeds, chosen, strict=True) if c == number], acts
        ).items()
    }
    assert together == apart


def test_agents_that_a_variant_lacks_are_absent():
    env = make_environment(small_and_large(), 8, ALLOW)
    variants = env.spec.variants
    env.start(np.arange(8), np.arange(8) * 9973)
    numbers = [variant_number(int(seed), variants) for seed in np.arange(8) * 9973]
    for _ in range(3):
        rows = env.rows()
        ends = env.step(np.zeros(len(rows), np.int32))
    assert sorted(ends.over.tolist()) == list(range(8))
    for slot, present in zip(ends.over.tolist(), ends.present.tolist(), strict=True):
        assert present == ([True, True, False] if numbers[slot] == 0 else [True, True, True])


def test_options_that_a_variant_lacks_are_masked():
    env = make_environment(small_and_large(), 8, ALLOW)
    env.start(np.arange(8), np.arange(8) * 9973)
    rows = env.rows()
    small = np.array([variant_number(int(slot) * 9973, env.spec.variants) == 0 for slot in rows.slot])
    assert rows.mask[small].tolist() == [[True, True, False, False]] * int(small.sum())
    assert rows.mask[~small].all()
    assert not rows.observation[small][:, 2:].any()


def test_a_slot_shows_the_name_of_its_variant():
    env = make_environment(small_and_large(), 1, ALLOW)
    env.start(np.array([0]), np.array([env.spec.variants[1].begin]))
    assert env.render(0).startswith("large\n")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"size": 2, "dtype": "int8"}, "has observations of int8"),
        ({"runners": 1, "size": 3}, ""),
    ],
)
def test_variants_that_do_not_fit(other, words):
    config = race(one={"size": 3, "runners": 2}, other=other)
    if words:
        with pytest.raises(VariantError, match=words):
            make_environment(config, 1, ALLOW)
    else:
        assert len(make_environment(config, 1, ALLOW).spec.agents) == 2


def test_an_agent_that_the_largest_lacks_is_named():
    class Other(SizedRace):
        def __init__(self):
            super().__init__(runners=1)
            self.possible_agents = ["stranger_0"]

    envs = [adapt(lambda: SizedRace(runners=2), 1), adapt(Other, 1)]
    with pytest.raises(VariantError, match=r"'stranger_0', which the largest variant, two, lacks"):
        VariantSlots(spin({"two": 1.0, "odd": 1.0}), envs)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("inf"), float("nan")])
def test_weights_are_positive(weight):
    with pytest.raises(ValueError, match="must be a number above 0"):
        VariantConfig(weight=weight)


def test_too_many_variants_and_wrong_names_are_refused():
    with pytest.raises(ValueError, match="at most 64"):
        EnvConfig(variants={f"v{i}": VariantConfig() for i in range(65)})
    with pytest.raises(ValueError, match="is no name"):
        EnvConfig(variants={"a b": VariantConfig()})
