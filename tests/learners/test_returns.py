import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from league.segment import CONTINUES, CUT, TERMINATED
from learners.returns import generalised_advantages


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
    fast = generalised_advantages(*map(torch.from_numpy, game), discount=discount)
    np.testing.assert_allclose(fast.numpy(), slow(*game, *discount), atol=1e-10)


def test_a_decision_is_followed_by_the_agents_next_present_one():
    present = torch.tensor([True, False, True]).reshape(1, 3, 1)
    value = torch.tensor([1.0, 100.0, 2.0]).reshape(1, 3, 1)
    end = torch.tensor([CONTINUES, CUT, TERMINATED], dtype=torch.uint8).reshape(1, 3, 1)
    reward = torch.tensor([0.0, 50.0, 4.0]).reshape(1, 3, 1)
    tail = torch.full((1, 3, 1), 1000.0)
    advantage = generalised_advantages(reward, value, tail, end, present, discount=(0.5, 0.5))
    # last: 4 - 2 = 2; first: 0 + 0.5 * 2 - 1 + 0.25 * 2 = 0.5
    assert advantage.flatten().tolist() == [0.5, 0.0, 2.0]
