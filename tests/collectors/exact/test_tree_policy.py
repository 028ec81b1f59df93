from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_games import KUHN, LEDUC, random_network, random_policy, spiel_tree

from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.enumerating import enumerate_game
from collectors.exact.best_response import exploitability, profile_value
from collectors.exact.tree_policy import TreePolicyError, mixed, policy_of, uniform
from collectors.players.bots import OnePlyBot, RandomBot
from league.policies.layout import PolicyConfig, describe
from league.policies.numpy_actor import NumpyActor

RPS = EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 3})


def test_random_play_is_uniform_over_legal_actions():
    tree = spiel_tree("leduc_poker")
    policy = policy_of(RandomBot(random_network(LEDUC, np.random.default_rng(0))[1]), tree.sets)
    assert (policy == uniform(tree.sets)).all()


@pytest.mark.parametrize("settings", [{}, {"memory": "gru"}, {"memory": "lstm"}, {"head": "values", "epsilon": 0.2}])
def test_a_network_plays_in_collectors_as_its_policy_says(settings):
    rng = np.random.default_rng(3)
    actor, _ = random_network(KUHN, rng, **settings)
    tree = spiel_tree("kuhn_poker")
    policy = policy_of(actor, tree.sets)
    env = make_environment(KUHN, 512)
    env.start(np.arange(512), rng.integers(0, 2**31, 512))
    memory, counts = np.zeros((512, 2, actor.memory), np.float32), defaultdict(lambda: np.zeros(2))
    while len(rows := env.rows()):
        mine = memory[rows.slot, rows.agent]
        actions, _ = actor.act(rows.observation, rows.mask, rng, np.zeros(len(rows), np.intp), mine)
        memory[rows.slot, rows.agent] = mine
        for agent, seen, action in zip(rows.agent, rows.observation, actions, strict=True):
            counts[int(agent), seen.tobytes()][action] += 1
        env.step(actions)
    for row, seat, seen in zip(policy, tree.sets.seat, tree.sets.observation, strict=True):
        count = counts[int(seat), seen.tobytes()]
        if count.sum() > 50:
            assert count / count.sum() == pytest.approx(row, abs=4 * 0.5 / count.sum() ** 0.5)
    assert len(counts) <= len(tree.sets)


@pytest.mark.parametrize("settings", [{}, {"memory": "lstm"}])
def test_a_network_without_finite_outputs_has_no_exact_figure(settings):
    env = make_environment(KUHN, 1)
    policy = PolicyConfig(hidden=[8], activation="relu", **settings)
    flat = np.full(describe(policy, env.spec).size, 3e38, np.float32)
    with pytest.raises(TreePolicyError, match="gives NaN or infinity"):
        policy_of(NumpyActor(policy, env.spec, flat), spiel_tree("kuhn_poker").sets)


def test_a_greedy_network_plays_one_action():
    actor, _ = random_network(KUHN, np.random.default_rng(0))
    actor.greedy = True
    assert sorted(set(policy_of(actor, spiel_tree("kuhn_poker").sets).reshape(-1).tolist())) == [0, 1]


def test_a_bot_without_probabilities_is_refused():
    bot = OnePlyBot(make_environment(EnvConfig(name="connect_four"), 1).spec)
    with pytest.raises(TreePolicyError, match=r"OnePlyBot does not say with which probabilities it acts.*ludus probe"):
        policy_of(bot, spiel_tree("kuhn_poker").sets)


@given(st.integers(0, 2**32), st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_a_mixture_earns_the_weighted_mean_of_what_its_members_earn(seed, weight):
    tree, rng = spiel_tree("kuhn_poker"), np.random.default_rng(seed)
    first, second, other = (random_policy(tree, rng) for _ in range(3))
    both = mixed(tree.sets, [first, second], [weight, 1 - weight])
    for seat in (0, 1):
        mine = (tree.sets.seat == seat)[:, None]
        values = [profile_value(tree, np.where(mine, policy, other)) for policy in (first, second, both)]
        assert values[2] == pytest.approx(weight * values[0] + (1 - weight) * values[1])


def test_a_mixture_of_two_orders_is_not_the_average_of_action_probabilities():
    tree = enumerate_game(EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 2}), whole=True)
    rock, paper = (np.tile(np.eye(3)[action], (len(tree.sets), 1)) for action in (0, 1))
    both = mixed(tree.sets, [rock, paper], [0.5, 0.5])
    # After the first round the responder knows which member plays: it gains in the second round whatever happens.
    assert exploitability(tree, both).responses == pytest.approx((1.5, 1.5))
    assert exploitability(tree, (rock + paper) / 2).responses == pytest.approx((1.0, 1.0))


def test_a_mixture_of_one_is_that_one():
    tree = spiel_tree("kuhn_poker")
    assert mixed(tree.sets, [uniform(tree.sets)], [1.0]) is not None
    assert mixed(tree.sets, [uniform(tree.sets)] * 3, [0.2, 0.3, 0.5]) == pytest.approx(uniform(tree.sets))


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([0.5, 0.6], "add up to 1"),
        ([1.5, -0.5], "not be negative"),
        ([1.0], "as many weights"),
        ([np.nan, 1], "add up"),
    ],
)
def test_weights_that_are_no_mixture_are_refused(weights, reason):
    tree = spiel_tree("kuhn_poker")
    with pytest.raises(TreePolicyError, match=reason):
        mixed(tree.sets, [uniform(tree.sets)] * 2, weights)


def test_merged_positions_cannot_carry_what_depends_on_the_whole_episode():
    sets = enumerate_game(RPS, whole=False).sets
    with pytest.raises(TreePolicyError, match="which member of a mixture plays"):
        mixed(sets, [uniform(sets)] * 2, [0.5, 0.5])
    actor, _ = random_network(RPS, np.random.default_rng(0), memory="gru")
    with pytest.raises(TreePolicyError, match="a player with a memory"):
        policy_of(actor, sets)
    whole = enumerate_game(RPS, whole=True)
    assert exploitability(whole, policy_of(actor, whole.sets)).nash_conv > 0
