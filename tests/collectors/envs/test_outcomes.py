"""Outcomes: the environment's winner, the user's function, the order of returns; draws, sides, rubbish."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.outcomes import rank_alone, rank_sides, team_spirit
from league.spec import EnvSpec

values = st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=6)


@settings(deadline=None)
@given(values, st.data())
def test_seats_of_a_side_share_its_rank_and_the_best_side_has_0(totals, data):
    sides = data.draw(st.lists(st.integers(0, 2), min_size=len(totals), max_size=len(totals)))
    ranks = rank_sides(np.array([totals]), [1] * len(totals), sides)[0].tolist()
    assert all(len({r for r, s in zip(ranks, sides, strict=True) if s == side}) == 1 for side in sides)
    means = {s: np.mean([t for t, where in zip(totals, sides, strict=True) if where == s]) for s in sides}
    assert all(rank == sum(m > means[side] for m in means.values()) for rank, side in zip(ranks, sides, strict=True))


@settings(deadline=None)
@given(values)
def test_everybody_alone_is_a_side_of_one(totals):
    each = np.array([totals])
    assert rank_sides(each, [1] * len(totals), range(len(totals))).tolist() == rank_alone(each).tolist()


def test_a_team_is_as_good_as_its_agents_on_average():
    env = make_environment(EnvConfig(name="pettingzoo", id="mpe2/simple_tag_v3"), 1)
    spec: EnvSpec = env.spec
    env.close()
    sizes = [len(seat.agents) for seat in spec.seats]
    assert sizes == [3, 1]
    assert rank_sides(np.array([[3.0, 2.0]]), sizes, spec.sides).tolist() == [[1, 0]]


@settings(deadline=None)
@given(values, st.floats(0, 1, width=32), st.data())
def test_team_spirit_keeps_what_the_team_earned(rewards, spirit, data):
    team = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(rewards), max_size=len(rewards))))
    reward = np.array(rewards, np.float32)
    mixed = team_spirit(reward, team, spirit)
    for one in set(team.tolist()):
        assert mixed[team == one].sum() == pytest.approx(reward[team == one].sum(), abs=1e-4)
    assert team_spirit(reward, team, 0.0).tolist() == rewards
