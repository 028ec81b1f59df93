"""Replay of whole lanes for networks with a memory: cells, draws and loss against slow loops, and that it learns."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_segments import ACTIONS, random_segments, slow_decisions, tails_of

from benchmarks.curves import Practice
from collectors.envs.native.recall import Recall
from league.policies.flat_policy import Lanes, Observed
from league.policies.layout import PolicyConfig, initial
from league.segment import CUT, TERMINATED
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.dqn import DQN, duel
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.values import minibatch
from learners.batcher import Batch
from learners.replay import Replay
from learners.steps import lanes_of

GRU = PolicyConfig(hidden=[8], memory="gru", memory_size=4, head="values", agent_id=True)
SPEC = EnvSpec(
    name="numbers",
    agents=("a", "b"),
    seats=(Seat(agents=(0, 1)),),
    observation=Array(shape=(1,), dtype="float32"),
    actions=ACTIONS,
)


def remembering(seed, **how):
    segments = random_segments(seed, **how)
    lanes, _, agents = segments.present.shape
    memory = np.random.default_rng(seed).standard_normal((lanes, agents, 4)).astype(np.float32)
    return replace(segments, memory=memory)


def slow_lanes(segments):
    """Return for each lane of each agent what is seen, decision by decision: (number, a decision, first of episode)."""
    found, tails = {}, tails_of(segments)
    lanes, ticks, agents = segments.present.shape
    for lane in range(lanes):
        for agent in range(agents):
            run, fresh = [], False
            for tick in range(ticks):
                at = (lane, tick, agent)
                if segments.present[at]:
                    run.append((float(segments.observation[at][0]), True, fresh))
                    fresh = segments.end[at] in (TERMINATED, CUT)
                    if segments.end[at] == CUT:
                        run.append((float(tails[at][0]), False, False))
            if run:
                found[run[0][0]] = (run, segments.memory[lane, agent], agent)
    return found


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), capacity=st.integers(40, 200))
def test_lanes_are_drawn_whole_with_what_came_of_each_decision(seed, n, capacity):
    replay, rng, number = Replay(capacity), np.random.default_rng(seed), 0
    runs, came = {}, {}
    for number in range(4):
        segments = remembering(seed + number)
        for array in (segments.observation, segments.tail_observation):
            array += np.sign(array) * 1000 * number
        steps = lanes_of(segments, n, 0.9)
        assert steps.decisions == segments.decisions
        replay.insert(steps)
        runs |= slow_lanes(segments)
        came |= slow_decisions(segments, n, 0.9)
    sample = replay.sample(12, rng)
    assert sample.decisions == sample.seen["learn"].sum()
    for i, first in enumerate(sample.seen["observation"][:, 0, 0].tolist()):
        run, memory, agent = runs[first]
        np.testing.assert_array_equal(sample.seen["memory"][i], memory)
        assert sample.seen["present"][i].sum() == len(run)
        for tick, (seen, decides, fresh) in enumerate(run):
            assert sample.seen["observation"][i, tick, 0] == seen
            assert sample.seen["learn"][i, tick] == decides
            assert sample.seen["restart"][i, tick] == fresh
            assert sample.seen["place"][i, tick] == agent
            if decides:
                reward, discount, after = came[seen]
                assert sample.reward[i, tick] == pytest.approx(reward, abs=1e-5)
                assert sample.discount[i, tick] == pytest.approx(discount)
                if after is not None:
                    then = tick + sample.seen["ahead"][i, tick]
                    assert sample.seen["observation"][i, then, 0] == after[0]
                    assert sample.seen["mask"][i, then].tolist() == after[1]


def step(network, seen, i, tick, memory):
    """Return what a network says of one tick, and what it remembers afterwards."""
    one = torch.ones(1, 1, 1, dtype=torch.bool)
    restart = seen["restart"][i, tick].view(1, 1, 1)
    told = Observed(
        seen["observation"][i, tick][None], seen["place"][i, tick][None].long(), None, Lanes(one, restart, memory)
    )
    each, value = network.policy.outputs(told)
    _, after = network.policy.logits(told)
    return duel(each, value, seen["mask"][i, tick][None])[0], after[:, None]


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("burn_in", [0, 2])
def test_the_loss_of_lanes_is_that_of_a_walk_through_each(double, burn_in):
    config = DQNConfig(batch=16, minibatch=16, warmup=16, n_step=2, double=double, burn_in=burn_in, peak=0.7)
    dqn = DQN(config, GRU, SPEC, initial(GRU, SPEC, 0))
    with torch.no_grad():  # so that memories matter, and the two networks differ
        for network, seed in ((dqn.network, 1), (dqn.target, 2)):
            generator = torch.Generator().manual_seed(seed)
            network.policy.flat.copy_(torch.randn(network.policy.flat.shape, generator=generator) * 0.7)
    replay = Replay(500)
    segments = remembering(5)
    segments.observation[:] = np.sin(segments.observation)
    replay.insert(lanes_of(segments, 2, 0.9))
    sample = replay.sample(5, np.random.default_rng(0))
    weight = np.random.default_rng(1).random(5).astype(np.float32)
    data = minibatch(sample, weight, torch.device("cpu"))
    total, count, errors = 0.0, 0, []
    for i in range(5):
        length = int(sample.seen["present"][i].sum())
        said = []
        for network in (dqn.network, dqn.target):
            memory, values = data.seen["memory"][i].view(1, 1, -1), []
            for tick in range(length):
                value, memory = step(network, data.seen, i, tick, memory)
                values.append(value.detach())
            said.append(values)
        warm, mine = burn_in, []
        for tick in range(length):
            if sample.seen["restart"][i, tick]:
                warm = 0
            if tick < warm or not sample.seen["learn"][i, tick]:
                continue
            then = tick + int(sample.seen["ahead"][i, tick])
            legal = [a for a in range(ACTIONS) if sample.seen["mask"][i, then, a]]
            best = max(legal, key=lambda a: float(said[0 if double else 1][then][a]))
            target = sample.reward[i, tick] + sample.discount[i, tick] * float(said[1][then][best])
            error = abs(float(said[0][tick][sample.action[i, tick]]) - target)
            total += weight[i] * (0.5 * error**2 if error <= 1 else error - 0.5)
            mine.append(error)
        count += len(mine)
        errors.append(0.7 * max(mine, default=0) + 0.3 * (np.mean(mine) if mine else 0))
    found = dqn.loss(data)
    assert float(found.loss.detach()) == pytest.approx(total / count, rel=1e-4)
    np.testing.assert_allclose(found.error.numpy(), errors, rtol=1e-4, atol=1e-5)


def test_minibatches_have_about_as_many_decisions_as_they_should():
    config = DQNConfig(batch=16, minibatch=32, replay=1000, warmup=16, samples_per_insert=4.0)
    dqn = DQN(config, GRU, SPEC, initial(GRU, SPEC, 0))
    rng = np.random.default_rng(0)
    for seed in range(6):
        segments = remembering(seed)
        metrics = dqn.update(Batch(segments, np.zeros(segments.decisions, np.int64), {}), rng)
        assert metrics["losses/rollbacks"] == 0
    assert metrics["reuse"] == pytest.approx(4.0, rel=0.25)
    assert metrics["replay"] == pytest.approx(dqn.decisions, rel=0.1)
    assert (dqn.replay.replay._tree._nodes > 0).any()


def test_a_team_that_replays_ticks_cannot_remember():
    from learners.algorithms.vdn_config import VDNConfig

    with pytest.raises(ValueError, match=r"algo=vdn trains no network with a memory.*policy\.memory=none.* dqn"):
        VDNConfig().refuse(GRU)
    DQNConfig().refuse(GRU)


@pytest.mark.slow
def test_only_a_memory_solves_recall_by_values():
    returns = {}
    algo = DQNConfig(
        batch=256, minibatch=256, replay=8000, warmup=1000, lr=4e-3, samples_per_insert=4.0, target_steps=40,
        n_step=3, epsilon_decisions=6000, epsilon_final=0.02, burn_in=1,
    )  # fmt: skip
    for memory in ("none", "gru"):
        policy = PolicyConfig(hidden=[16], memory=memory, memory_size=16, head="values")
        practice = Practice(Recall(slots=64, cues=2, blanks=2), policy, algo, seed=1, ticks=8)
        while practice.decisions < 14_000:
            practice.update()
        returns[memory] = practice.mean_return(250)
    assert returns["gru"] > 0.9
    assert returns["none"] < 0.65


@pytest.mark.slow
def test_r2d2_solves_recall_with_rescaled_values():
    algo = DQNConfig(
        batch=256, minibatch=256, replay=8000, warmup=1000, lr=4e-3, samples_per_insert=4.0, target_steps=40,
        n_step=3, rescale=True, priority=0.9, correction=0.6, epsilon=0.4, epsilon_final=0.4, epsilon_spread=7.0,
    )  # fmt: skip
    policy = PolicyConfig(hidden=[16], memory="lstm", memory_size=16, head="values")
    practice = Practice(Recall(slots=64, cues=2, blanks=2), policy, algo, seed=1, ticks=8)
    while practice.decisions < 14_000:
        practice.update()
    assert practice.mean_return(250) > 0.85
