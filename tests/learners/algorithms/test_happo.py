"""HAPPO: what each agent learns from, against a slow loop written from its paper."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from paper_losses import ENTROPY

from league.policies.layout import PolicyConfig, initial
from league.segment import CONTINUES, CUT, TERMINATED, Segments
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.happo import HAPPO, mean_of, of_seat
from learners.algorithms.happo_config import HAPPOConfig
from learners.algorithms.ppo import PPO
from learners.batcher import Batch
from learners.returns import Trajectories

AGENTS, LANES, TICKS, OPTIONS = 3, 4, 5, 4
SPEC = EnvSpec("team", ("a", "b", "c"), (Seat((0, 1, 2)),), Array((OPTIONS,), "float32"), OPTIONS)


def team_segments(seed=0):
    """Return segments of a team; one agent of one lane is absent at times."""
    rng = np.random.default_rng(seed)
    shape = (LANES, TICKS, AGENTS)
    present = np.ones(shape, bool)
    present[0, 2, 1] = present[1, :, 2] = False
    end = np.full(shape, CONTINUES, np.uint8)
    end[:, -1], end[0, -1] = TERMINATED, CUT
    tails = np.arange(AGENTS, dtype=np.int32)
    return Segments(
        player="hero", incarnation=0,
        observation=rng.standard_normal((*shape, OPTIONS)).astype(np.float32),
        mask=np.ones((*shape, OPTIONS), bool),
        action=rng.integers(0, OPTIONS, shape).astype(np.int32),
        log_prob=np.full(shape, -math.log(OPTIONS), np.float32),
        reward=rng.standard_normal(shape).astype(np.float32) * present,
        end=end * present, present=present,
        length=np.full(LANES, TICKS, np.int32), version=np.zeros(LANES, np.int32),
        tail_lane=0 * tails, tail_tick=0 * tails + TICKS - 1, tail_agent=tails,
        tail_observation=rng.standard_normal((AGENTS, OPTIONS)).astype(np.float32),
        tail_mask=np.ones((AGENTS, OPTIONS), bool),
    )  # fmt: skip


class Watched(HAPPO):
    """Keeps what each agent learned from, and the weights before and after."""

    def _compute_gradient(self, minibatch, entropy_coef):
        self.parts.append((minibatch, self.flat()))
        return super()._compute_gradient(minibatch, entropy_coef)


def made(kind=Watched, policy=None, **changes):
    config = HAPPOConfig(
        **{"epochs": 1, "minibatch": 1000, "lr": 3e-2, "normalise_advantages": False, "normalise_values": False}
        | changes
    )
    policy = policy or PolicyConfig(hidden=[16], agent_id=True, critic="central")
    algorithm = kind(config, policy, SPEC, initial(policy, SPEC, 0))
    algorithm.parts = []
    return algorithm


def batch_of(segments):
    return Batch(segments, np.zeros(segments.decisions, np.int64), {})


def log_prob(algorithm, flat, data, b):
    """Return the log-probability of decision b under some weights."""
    algorithm.policy.write(flat)
    actions, _ = algorithm.policy(data.seen, data.mask)
    return actions.log_probs[b].tolist()[int(data.action[b])]


def test_each_agent_learns_from_the_advantage_times_what_the_others_changed():
    algorithm, segments = made(), team_segments()
    data = algorithm.prepare(segments)
    advantage = {}
    for (lane, tick, agent), one in zip(np.argwhere(segments.present), data.advantage.tolist(), strict=True):
        advantage[lane, tick, agent] = one
    algorithm.update(batch_of(segments), np.random.default_rng(0))
    weights = [flat for _, flat in algorithm.parts] + [algorithm.flat()]
    order = [int(part.place[0]) for part, _ in algorithm.parts]
    assert sorted(order) == [0, 1, 2]
    with torch.no_grad():
        for turn, agent in enumerate(order):
            where = [tuple(at) for at in np.argwhere(segments.present) if at[2] == agent]
            found = _in_order(algorithm.parts[turn][0], data, agent)
            for at, learned in zip(where, found, strict=True):
                factor = 1.0
                for before, other in enumerate(order[:turn]):
                    place = (at[0], at[1], other)
                    if place not in advantage:
                        continue  # it did not decide in that tick
                    b = list(map(tuple, np.argwhere(segments.present))).index(place)
                    after = log_prob(algorithm, weights[before + 1], data, b)
                    factor *= math.exp(after - float(data.old_log_prob[b]))
                assert learned == pytest.approx(factor * advantage[at], abs=1e-5)
    assert abs(factor - 1) > 1e-3, "the agents before did change something"


def _in_order(part, data, agent):
    """Return the advantages of a minibatch in the order of its decisions in the batch: it is shuffled."""
    mine = (data.place == agent).nonzero().squeeze(1)
    rows = [tuple(row) for row in part.observation.tolist()]
    return [float(part.advantage[rows.index(tuple(data.observation[b].tolist()))]) for b in mine]


def test_the_loss_of_an_agent_is_that_of_ppo_with_these_advantages():
    algorithm = made(kind=HAPPO, value_coef=0.7, clip=0.1)
    data = algorithm.prepare(team_segments())
    data = replace(data, old_log_prob=data.old_log_prob + 0.3 * torch.randn(len(data)))
    with torch.no_grad():
        actions, value = algorithm.policy(data.seen, data.mask)
        loss, _ = algorithm.loss(actions, value, data, ENTROPY)
    total = 0.0
    for b in range(len(data)):
        ratio, row = math.exp(float(actions.log_prob(data.action)[b] - data.old_log_prob[b])), actions.log_probs[b]
        gain = float(data.advantage[b])
        total -= min(ratio * gain, min(max(ratio, 0.9), 1.1) * gain)
        total += 0.7 * 0.5 * float(value[b] - data.target[b]) ** 2 + ENTROPY * float((row.exp() * row).sum())
    assert float(loss) == pytest.approx(total / len(data), abs=1e-5)


def test_the_seat_has_one_advantage_in_each_tick():
    algorithm, segments = made(gae_lambda=1.0), team_segments()
    data = algorithm.prepare(segments)
    spread = np.full(segments.present.shape, np.nan)
    spread[segments.present] = data.advantage.numpy()
    np.testing.assert_allclose(np.nanstd(spread, axis=2), 0, atol=1e-6)
    number, present = torch.tensor([[[1.0, 2.0, 9.0]]]), torch.tensor([[[True, True, False]]])
    assert mean_of(number, present).tolist() == [[[1.5]]]


def test_what_a_team_earns_after_the_death_of_an_agent_counts_for_it():
    """Agent 1 dies in the first tick; agent 0 earns 10 in the third."""
    present = torch.tensor([[[True, True], [True, False], [True, False]]])
    end = torch.tensor([[[CONTINUES, TERMINATED], [CONTINUES, 0], [TERMINATED, 0]]])
    reward = torch.tensor([[[0.0, 0.0], [0.0, 0.0], [10.0, 0.0]]])
    seat = of_seat(Trajectories(reward, end, present, torch.zeros(1, 3, 2)))
    assert seat.lambda_returns(torch.zeros(1, 3, 1), gamma=1.0, lambda_=1.0).flatten().tolist() == [10.0, 10.0, 10.0]
    assert seat.end.flatten().tolist() == [CONTINUES, CONTINUES, TERMINATED]


def test_with_one_agent_it_is_ppo():
    spec = EnvSpec("alone", ("a",), (Seat((0,)),), Array((OPTIONS,), "float32"), OPTIONS)
    policy = PolicyConfig(hidden=[16])
    segments = team_segments()
    one = {name: array[:, :, :1] for name, array in segments.arrays().items() if array.ndim > 2 and "tail" not in name}
    one |= {name: array[:1] for name, array in segments.arrays().items() if name.startswith("tail_")}
    segments, found = replace(segments, **one), []
    for kind in (PPO, HAPPO):
        algorithm = kind(HAPPOConfig(minibatch=8), policy, spec, initial(policy, spec, 0))
        rng = np.random.default_rng(0)
        if kind is PPO:
            rng.permutation(1)  # HAPPO sampled an order
        algorithm.update(batch_of(segments), rng)
        found.append(algorithm.flat())
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_agents_with_a_memory_take_turns_too():
    policy = PolicyConfig(hidden=[16], memory="gru", memory_size=8, agent_id=True)
    algorithm = made(policy=policy, minibatch=20)
    metrics = algorithm.update(batch_of(team_segments()), np.random.default_rng(0))
    assert metrics["losses/rollbacks"] == 0
    assert metrics["losses/gradient_steps"] == len(algorithm.parts) == 3
    assert {len(set(part.place.tolist())) for part, _ in algorithm.parts} == {1}
    assert metrics["losses/compounding"] > 1
