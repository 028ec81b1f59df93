import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from league.segment import CONTINUES, CUT, TERMINATED
from learners.returns import Trajectories


def slow(reward, value, tail, end, present, gamma, lambda_):
    """One agent of one lane at a time, forwards, straight from the definition."""
    advantage = np.zeros_like(value)
    for lane in range(value.shape[0]):
        for agent in range(value.shape[2]):
            ticks = [t for t in range(value.shape[1]) if present[lane, t, agent]]
            for start in range(len(ticks)):
                total, weight = 0.0, 1.0
                for place in range(start, len(ticks)):
                    here = (lane, ticks[place], agent)
                    if end[here] == TERMINATED:
                        following = 0.0
                    elif end[here] == CUT:
                        following = tail[here]
                    else:
                        following = value[lane, ticks[place + 1], agent]
                    total += weight * (reward[here] + gamma * following - value[here])
                    weight *= gamma * lambda_
                    if end[here] != CONTINUES:
                        break
                advantage[lane, ticks[start], agent] = total
    return advantage


def streams(game):
    """Yield the decisions of one agent of one lane after the other, as lists of (place, reward, value, tail, end)."""
    reward, value, tail, end, present = game
    for lane, agent in np.ndindex(value.shape[0], value.shape[2]):
        ticks = [t for t in range(value.shape[1]) if present[lane, t, agent]]
        yield [((lane, t, agent), reward[lane, t, agent], value[lane, t, agent], tail[lane, t, agent],
                end[lane, t, agent]) for t in ticks]  # fmt: skip


def trajectories_of(game):
    reward, value, tail, end, present = map(torch.from_numpy, game)
    return Trajectories(reward, end, present, tail), value


def worth(stream, i, values):
    """What follows decision i: nothing, its tail, or the worth of the next one."""
    _, _, _, tail, end = stream[i]
    return 0.0 if end == TERMINATED else tail if end == CUT else values[i + 1]


@st.composite
def games(draw):
    shape = tuple(draw(st.integers(1, most)) for most in (3, 7, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    present = rng.random(shape) < draw(st.sampled_from([0.3, 0.7, 1.0]))
    end = rng.choice([CONTINUES, CONTINUES, TERMINATED, CUT], shape).astype(np.uint8)
    for lane, agent in np.ndindex(shape[0], shape[2]):
        ticks = np.flatnonzero(present[lane, :, agent])
        if len(ticks) and end[lane, ticks[-1], agent] == CONTINUES:
            end[lane, ticks[-1], agent] = CUT
    reward, value, tail = (rng.standard_normal(shape) for _ in range(3))
    return reward, value, tail, end, present


@settings(max_examples=200, deadline=None)
@given(games(), st.sampled_from([(0.99, 0.95), (1.0, 1.0), (0.9, 0.0)]))
def test_advantages_equal_the_definition(game, discount):
    trajectories, value = trajectories_of(game)
    fast = trajectories.advantages(value, *discount)
    np.testing.assert_allclose(fast.numpy(), slow(*game, *discount), atol=1e-10)


def test_a_decision_is_followed_by_the_agents_next_present_one():
    present = torch.tensor([True, False, True]).reshape(1, 3, 1)
    value = torch.tensor([1.0, 100.0, 2.0]).reshape(1, 3, 1)
    end = torch.tensor([CONTINUES, CUT, TERMINATED], dtype=torch.uint8).reshape(1, 3, 1)
    reward = torch.tensor([0.0, 50.0, 4.0]).reshape(1, 3, 1)
    tail = torch.full((1, 3, 1), 1000.0)
    advantage = Trajectories(reward, end, present, tail).advantages(value, gamma=0.5, lambda_=0.5)
    # last: 4 - 2 = 2; first: 0 + 0.5 * 2 - 1 + 0.25 * 2 = 0.5
    assert advantage.flatten().tolist() == [0.5, 0.0, 2.0]


GAMMAS = st.sampled_from([1.0, 0.9])


@settings(max_examples=100, deadline=None)
@given(games(), GAMMAS, st.integers(0, 4))
def test_n_step_returns_equal_the_definition(game, gamma, steps):
    trajectories, value = trajectories_of(game)
    fast = trajectories.n_step_returns(value, gamma, steps).numpy()
    slowly = np.zeros_like(fast)
    for stream in streams(game):
        for i, (place, *_) in enumerate(stream):
            total, weight, j = 0.0, 1.0, i
            for _ in range(steps):
                _, reward, _, tail, end = stream[j]
                total, weight = total + weight * reward, weight * gamma
                if end != CONTINUES:
                    total += weight * (tail if end == CUT else 0.0)
                    break
                j += 1
            else:
                total += weight * stream[j][2]
            slowly[place] = total
    np.testing.assert_allclose(fast, slowly, atol=1e-10)


@settings(max_examples=100, deadline=None)
@given(games(), GAMMAS)
def test_lambda_returns_lie_between_one_step_and_all_rewards(game, gamma):
    trajectories, value = trajectories_of(game)
    np.testing.assert_allclose(
        trajectories.lambda_returns(value, gamma, 0.0), trajectories.n_step_returns(value, gamma, 1)
    )
    np.testing.assert_allclose(
        trajectories.lambda_returns(value, gamma, 1.0),
        trajectories.n_step_returns(value, gamma, value.shape[1]),
        atol=1e-10,
    )


@settings(max_examples=100, deadline=None)
@given(games(), GAMMAS, st.sampled_from([(1.0, 1.0, 1.0), (0.9, 2.0, 0.5)]), st.integers(0, 99))
def test_vtrace_equals_the_definition(game, gamma, settings_, seed):
    """Remark 1 of the paper: vs = V + rho * delta + gamma * c * (vs' - V'), one decision at a time."""
    lambda_, rho_max, c_max = settings_
    log_ratio = np.random.default_rng(seed).normal(0, 1, game[0].shape)
    trajectories, value = trajectories_of(game)
    target, advantage = trajectories.vtrace(value, torch.from_numpy(log_ratio), gamma, lambda_, rho_max, c_max)
    slow_target, slow_advantage = np.zeros_like(game[0]), np.zeros_like(game[0])
    for stream in streams(game):
        values = [value for _, _, value, _, _ in stream]
        targets = [0.0] * len(stream)
        for i in reversed(range(len(stream))):
            place, reward, own, _, end = stream[i]
            ratio = np.exp(log_ratio[place])
            delta = min(rho_max, ratio) * (reward + gamma * worth(stream, i, values) - own)
            later = targets[i + 1] - values[i + 1] if end == CONTINUES else 0.0
            targets[i] = own + delta + gamma * lambda_ * min(c_max, ratio) * later
            slow_target[place] = targets[i]
            slow_advantage[place] = min(rho_max, ratio) * (reward + gamma * worth(stream, i, targets) - own)
    np.testing.assert_allclose(target, slow_target, atol=1e-9)
    np.testing.assert_allclose(advantage, slow_advantage, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(games(), GAMMAS)
def test_vtrace_without_lag_is_the_return_of_all_rewards(game, gamma):
    trajectories, value = trajectories_of(game)
    target, _ = trajectories.vtrace(value, torch.zeros_like(value), gamma)
    np.testing.assert_allclose(target, trajectories.lambda_returns(value, gamma, 1.0), atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(games(), GAMMAS, st.sampled_from([1.0, 0.7]), st.integers(0, 99))
def test_retrace_equals_the_definition(game, gamma, lambda_, seed):
    rng = np.random.default_rng(seed)
    log_ratio, expected = rng.normal(0, 1, game[0].shape), rng.normal(0, 1, game[0].shape)
    trajectories, q = trajectories_of(game)
    fast = trajectories.retrace(q, torch.from_numpy(expected), torch.from_numpy(log_ratio), gamma, lambda_).numpy()
    slowly = np.zeros_like(fast)
    for stream in streams(game):
        for i in range(len(stream)):
            total, weight = stream[i][2], 1.0
            for j in range(i, len(stream)):
                place, reward, own, _, end = stream[j]
                if j > i:
                    weight *= gamma * lambda_ * min(1.0, np.exp(log_ratio[place]))
                total += weight * (reward + gamma * worth(stream, j, [expected[p] for p, *_ in stream]) - own)
                if end != CONTINUES:
                    break
            slowly[stream[i][0]] = total
    np.testing.assert_allclose(fast, slowly, atol=1e-9)
