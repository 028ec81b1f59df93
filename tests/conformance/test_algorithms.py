"""Every learning algorithm passes this suite, for every kind of action."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from game_data import games_of, write_data

from league.plugins import BUILTIN
from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.segment import TERMINATED, Segments
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.a2c_config import A2CConfig
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.appo_config import APPOConfig
from learners.algorithms.bc_config import BCConfig
from learners.algorithms.c51_config import C51Config
from learners.algorithms.dagger import DAgger
from learners.algorithms.dagger_config import DAggerConfig
from learners.algorithms.ddpg_config import DDPGConfig
from learners.algorithms.discrete_sac_config import DiscreteSACConfig
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.happo_config import HAPPOConfig
from learners.algorithms.impala_config import IMPALAConfig
from learners.algorithms.mmd_config import MMDConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.algorithms.qmix_config import QMIXConfig
from learners.algorithms.qplex_config import QPLEXConfig
from learners.algorithms.qr_dqn_config import QRDQNConfig
from learners.algorithms.rainbow_config import RainbowConfig
from learners.algorithms.rnad_config import RNADConfig
from learners.algorithms.sac_config import SACConfig
from learners.algorithms.td3_config import TD3Config
from learners.algorithms.upgo_config import UPGOConfig
from learners.algorithms.vdn_config import VDNConfig
from learners.algorithms.vpg_config import VPGConfig
from learners.batcher import Batcher
from learners.expert import Expert

HINTS = 3
POLICY = PolicyConfig(hidden=[16])
CONFIGS = {
    "a2c": A2CConfig(batch=256, lr=3e-2),
    "appo": APPOConfig(batch=256, minibatch=64, lr=3e-3, epochs=3),
    "bc": BCConfig(data="games", lessons=192, minibatch=64, lr=1e-2),
    "dagger": DAggerConfig(expert="expert", capacity=256, lessons=192, minibatch=64, lr=1e-2),
    "happo": HAPPOConfig(batch=256, minibatch=64, lr=3e-3, epochs=3),
    "impala": IMPALAConfig(batch=256, minibatch=64, lr=1e-2),
    "mmd": MMDConfig(batch=256, minibatch=64, lr=3e-3, epochs=3, magnet_coef=0.02),
    "ppo": PPOConfig(batch=256, minibatch=64, lr=3e-3, epochs=3),
    "rnad": RNADConfig(batch=256, minibatch=64, lr=3e-3, epochs=3, eta=0.02),
    "upgo": UPGOConfig(batch=256, minibatch=64, lr=1e-2),
    "vpg": VPGConfig(batch=256, lr=3e-2),
}
# As a replay is not part of a state, these hold one batch only: of decisions, or of what two agents do together.
REPLAY = {"minibatch": 64, "warmup": 64, "lr": 3e-3, "epsilon_decisions": 512}
CONFIGS |= {
    "dqn": DQNConfig(batch=256, replay=256, **REPLAY),
    "vdn": VDNConfig(batch=128, replay=128, **REPLAY),
    "qmix": QMIXConfig(batch=128, replay=128, **REPLAY),
    "qplex": QPLEXConfig(batch=128, replay=128, **REPLAY),
    "c51": C51Config(batch=256, replay=256, **REPLAY),
    "qr_dqn": QRDQNConfig(batch=256, replay=256, **REPLAY),
    "rainbow": RainbowConfig(batch=256, replay=256, **REPLAY),
}
HEADS = {"c51": {"support": [-1.0, 2.0]}, "rainbow": {"support": [-1.0, 2.0], "duelling": True, "noisy": 0.5}}


# Off-policy actor-critics.
OFF_POLICY = {"batch": 256, "replay": 256, "minibatch": 64, "warmup": 64, "lr": 1e-2, "samples_per_insert": 4.0}
CONFIGS |= {
    "ddpg": DDPGConfig(**OFF_POLICY, noise_final=0.3, noise_decisions=512),
    "td3": TD3Config(**OFF_POLICY, noise_final=0.3, noise_decisions=512),
    "sac": SACConfig(**OFF_POLICY, temperature=0.1),
    "discrete_sac": DiscreteSACConfig(**OFF_POLICY, target_entropy=0.1),
}


def spec_of(actions, choices=(), continuous=0):
    return EnvSpec(
        name="hints",
        agents=("a", "b"),
        seats=(Seat(agents=(0, 1)),),
        observation=Array(shape=(HINTS,), dtype="float32"),
        actions=actions,
        choices=choices,
        continuous=continuous,
    )


SPECS = {
    "single": spec_of(3),
    "choices": spec_of(8, (3, 2, 3)),
    "numbers": spec_of(0, (), 2),
    "mixed": spec_of(5, (3, 2), 1),
}


@dataclass(frozen=True)
class Case:
    """An algorithm, and a game of hints: each choice should equal the hint, each number lie near to its target."""

    name: str
    spec: EnvSpec

    def make(self, flat):
        config = CONFIGS[self.name]
        if isinstance(config, DAggerConfig):
            return DAgger(config, self.policy, self.spec, flat, expert=Expert("expert", Follower(self), self.spec))
        if isinstance(config, BCConfig):
            config = replace(config, data=right_games(self))
        return make_algorithm(config, self.policy, self.spec, flat)

    @property
    def policy(self):
        algo = CONFIGS[self.name]
        deviation = "state" if algo.own_critics and algo.head == "logits" else "constant"
        made = replace(POLICY, head=algo.head, critic="none" if algo.own_critics else "shared", deviation=deviation)
        return replace(made, **HEADS.get(self.name, {}))

    def fresh(self):
        return initial(self.policy, self.spec, 0)

    def rewards(self, action, hint):
        """Return the mean over parts of how right each is."""
        vectors = action.reshape(*hint.shape, self.spec.parts)
        right = [vectors[..., i] == hint % options for i, options in enumerate(self.spec.heads)]
        target = (hint - 1) * 0.5
        near = [1 - np.abs(vectors[..., i] - target) for i in range(len(right), self.spec.parts)]
        return np.mean([*right, *near], axis=0).astype(np.float32)

    def segments(self, flat, seed=0, lanes=32, ticks=4) -> Segments:
        rng = np.random.default_rng(seed)
        shape = (lanes, ticks, 2)
        hint = rng.integers(0, HINTS, shape)
        observation = np.eye(HINTS, dtype=np.float32)[hint]
        mask = np.ones((*shape, self.spec.actions), dtype=bool)
        actor = NumpyActor(self.policy, self.spec, flat)
        rows = observation.reshape(-1, HINTS), mask.reshape(hint.size, self.spec.actions)
        action, log_prob = actor.act(*rows, rng)
        none = np.zeros(0, dtype=np.int32)
        return Segments(
            player="hero",
            incarnation=0,
            observation=observation,
            mask=mask,
            action=action.reshape(*shape, *self.spec.action.shape),
            log_prob=log_prob.reshape(shape),
            reward=self.rewards(action, hint),
            end=np.full(shape, TERMINATED, dtype=np.uint8),
            present=np.ones(shape, dtype=bool),
            length=np.full(lanes, ticks, dtype=np.int32),
            version=np.zeros(lanes, dtype=np.int32),
            tail_lane=none,
            tail_tick=none,
            tail_agent=none,
            tail_observation=np.zeros((0, HINTS), dtype=np.float32),
            tail_mask=np.zeros((0, self.spec.actions), dtype=bool),
        )

    def batch(self, flat, seed=0):
        return batch(self.segments(flat, seed))


@dataclass(frozen=True)
class Follower:
    """An expert: it does what the hint says."""

    case: Case

    def act(self, observation, mask, rng):
        hint, spec = observation.argmax(axis=1), self.case.spec
        choices = [hint % options for options in spec.heads]
        parts = np.stack([*choices, *[(hint - 1) * 0.5] * spec.continuous], axis=1)
        return parts.reshape(-1, *spec.action.shape).astype(spec.action.dtype), np.zeros(len(hint), np.float32)


@cache
def right_games(case):
    """Return a data set of an expert's games; the folder lives as long as this process."""
    segments = case.segments(case.fresh(), seed=77)
    action, _ = Follower(case).act(segments.observation[segments.present], None, None)
    return write_data(
        Path(FOLDER.name) / f"{case.name}-{case.spec.signature}", games_of(segments, case.spec, action=action)
    )


FOLDER = TemporaryDirectory()
EVOLVING = {"es"}  # they learn from returns of episodes, not from segments: tests/learners/algorithms/test_es.py
CASES = [(name, spec) for name in sorted(BUILTIN["ludus.algorithms"].keys() - EVOLVING) for spec in SPECS]


CASES = [(name, spec) for name, spec in CASES if SPECS[spec].action_kind in CONFIGS[name].actions]
# "mixed" has all kinds of parts.
TELLING = [(name, spec) for name, spec in CASES if spec in ("single", "mixed") or CONFIGS[name].own_critics]
POISONED = [(name, spec) for name, spec in TELLING if name != "bc"]  # which learns nothing from what it plays


@pytest.fixture(params=CASES, ids="-".join)
def case(request):
    torch.set_num_threads(1)
    name, spec = request.param
    return Case(name, SPECS[spec])


def batch(parts):
    batcher = Batcher(incarnation=0, batch=parts.decisions, max_lag=0)
    batcher.add(parts, "session", version=0)
    return batcher.take(version=0)


def test_an_update_changes_the_weights_and_gives_way(case):
    flat = case.fresh()
    algorithm, calls = case.make(flat), []
    metrics = algorithm.update(case.batch(flat), np.random.default_rng(0), lambda: calls.append(1))
    assert not np.array_equal(algorithm.flat(), flat)
    assert calls
    assert metrics["losses/rollbacks"] == 0
    assert np.isfinite(list(metrics.values())).all()


def test_the_same_rng_gives_the_same_weights(case):
    flat = case.fresh()
    results = []
    for seed in (0, 0, 1):
        algorithm = case.make(flat)
        algorithm.update(case.batch(flat), np.random.default_rng(seed))
        results.append(algorithm.flat())
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_it_goes_on_from_its_state_as_if_nothing_had_happened(case):
    flat = case.fresh()
    algorithm = case.make(flat)
    algorithm.update(case.batch(flat), np.random.default_rng(0))
    other = case.make(flat)
    other.restore(algorithm.state())
    following = case.batch(algorithm.flat(), seed=1)
    for one in (algorithm, other):
        one.update(following, np.random.default_rng(1))
    np.testing.assert_array_equal(algorithm.flat(), other.flat())


def test_state_and_weights_are_copies(case):
    flat = case.fresh()
    algorithm = case.make(flat)
    state, weights = algorithm.state(), algorithm.flat()
    kept = {name: array.copy() for name, array in state.items()}
    algorithm.update(case.batch(flat), np.random.default_rng(0))
    for name, array in state.items():
        np.testing.assert_array_equal(array, kept[name])
    np.testing.assert_array_equal(weights, flat)
    np.testing.assert_array_equal(case.fresh(), flat)


@pytest.mark.slow
@pytest.mark.parametrize("field", ["reward", "observation", "log_prob"])
@pytest.mark.parametrize("case", POISONED, ids="-".join, indirect=True)
def test_nothing_that_is_not_finite_gets_into_the_weights(case, field):
    flat = case.fresh()
    algorithm, rng = case.make(flat), np.random.default_rng(0)
    algorithm.update(case.batch(flat), rng)
    for poison in (np.nan, np.inf, 3e38):
        before = algorithm.state()
        bad = case.segments(algorithm.flat(), seed=1)
        spoilt = getattr(bad, field).copy()
        spoilt[0, 0, 0] = -poison if field == "log_prob" else poison
        metrics = algorithm.update(batch(replace(bad, **{field: spoilt})), rng)
        assert np.isfinite(list(metrics.values())).all(), poison
        assert np.isfinite(algorithm.flat()).all(), poison
        if metrics["losses/rollbacks"]:
            for name, array in algorithm.state().items():
                np.testing.assert_array_equal(array, before[name], err_msg=f"{name} after {poison}")
        else:
            assert np.isfinite(poison)
        assert algorithm.update(case.batch(algorithm.flat(), seed=2), rng)["losses/rollbacks"] == 0, poison


@pytest.mark.slow
def test_it_learns(case):
    algorithm, rng = case.make(case.fresh()), np.random.default_rng(0)
    first = case.segments(algorithm.flat(), seed=1000).reward.mean()
    for seed in range(12):
        algorithm.update(case.batch(algorithm.flat(), seed), rng)
    gained = case.segments(algorithm.flat(), seed=1000).reward.mean() - first
    assert gained > (0.25 if not case.spec.continuous else 0.1)
