"""Learning from real play: the parts of collectors and learners together, without a league."""

import numpy as np
import pytest
import torch
from practising import ALGO, ratio_of, shaken

from benchmarks.curves import Practice
from benchmarks.scoring import score_against
from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.native.particles import SimpleSpread
from collectors.envs.native.recall import Recall
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.envs.rows import Ends, Rows
from collectors.players.bots import RandomBot
from league.policies.layout import PolicyConfig, describe
from league.policies.numpy_actor import NumpyActor
from league.spec import Array, EnvSpec, Seat
from learners.algorithms.a2c_config import A2CConfig
from learners.algorithms.appo_config import APPOConfig
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.impala_config import IMPALAConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.algorithms.upgo_config import UPGOConfig
from learners.algorithms.vpg_config import VPGConfig
from learners.decisions import seen_in


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["gru", "lstm"])
@pytest.mark.parametrize("ticks", [5, 31])
def test_the_learner_recalls_what_the_collector_remembered(memory, ticks):
    """Segments begin in the middle of episodes of 8 steps, and hold parts of one (5) or of several (31)."""
    policy = PolicyConfig(hidden=[16], memory=memory, memory_size=8)
    practice = shaken(Practice(Recall(slots=32), policy, ALGO, ticks=ticks))
    for _ in range(2):
        ratio = ratio_of(practice)
        assert float((ratio - 1).abs().max()) < 1e-4
    segments = practice.collect().segments
    assert segments.memory.any()
    segments.memory[:] = 0
    data = practice.algorithm.prepare(segments)
    with torch.no_grad():
        wrong = (practice.algorithm.policy(data.seen, data.mask)[0].log_prob(data.action) - data.old_log_prob).exp()
    assert float((wrong - 1).abs().max()) > 0.1, "a memory that is lost is noticed"


@pytest.mark.slow
def test_values_of_tails_use_the_memory_at_the_cut():
    """Memory depends on cue and step only: a tail is worth what the same step is worth in a whole episode."""
    policy = PolicyConfig(hidden=[16], memory="gru", memory_size=8)
    worth = {}
    for ticks in (8, 5):
        practice = shaken(Practice(Recall(slots=32), policy, PPOConfig(batch=128, minibatch=64), ticks=ticks))
        segments, algorithm = practice.collect().segments, practice.algorithm
        begins = segments.observation[:, 0, 0, :4].any(axis=1)
        cue = segments.observation[:, 0, 0, :4].argmax(axis=1)
        with torch.no_grad():
            value, memory = algorithm.policy.values(algorithm.prepare(segments).seen)
            tails = algorithm._tail_values(segments, memory).numpy()
            forgotten = algorithm._tail_values(segments, torch.zeros_like(memory)).numpy()
        if ticks == 8:
            values = np.zeros(segments.present.shape, np.float32)
            values[segments.present] = value.numpy()
            worth = {int(c): values[lane, 5, 0] for lane, c in enumerate(cue) if begins[lane]}
    assert len(worth) == 4
    assert begins.sum() > 10
    expected = [worth[int(c)] for c in cue[begins]]
    np.testing.assert_allclose(tails[begins, 4, 0], expected, atol=1e-5)
    assert np.abs(forgotten[begins, 4, 0] - expected).max() > 0.05


@pytest.mark.slow
def test_only_a_memory_solves_recall():
    returns = {}
    for memory in ("none", "gru"):
        policy = PolicyConfig(hidden=[16], memory=memory, memory_size=16)
        practice = Practice(Recall(slots=64, cues=2, blanks=2), policy, ALGO, seed=1, ticks=8)
        while practice.decisions < 12_000:
            practice.update()
        returns[memory] = practice.mean_return(250)
    assert returns["gru"] > 0.9
    assert returns["none"] < 0.6


class Parts:
    """A team of two in which each agent sees a bit of its own. Agent a should choose 0 and agent b should choose 1.

    Both see the same, so only an id tells them apart. The bits of both pay ten each, whatever the agents do: an
    agent can foresee its own bit's part of the reward only, a critic that sees both bits all of it.
    """

    def __init__(self, slots=32):
        self.spec = EnvSpec(
            name="parts",
            agents=("a", "b"),
            seats=(Seat((0, 1)),),
            observation=Array((2,), "float32"),
            actions=2,
            state=Array((2,), "float32"),
        )
        self.slots = slots
        self._bit = np.zeros((slots, 2), np.float32)

    def start(self, slots, seeds):
        rng = np.random.default_rng(int(seeds[0]) % 2**32)
        self._bit[slots] = rng.integers(0, 2, (len(slots), 2))

    def rows(self):
        slot, agent = np.repeat(np.arange(self.slots), 2), np.tile([0, 1], self.slots)
        return Rows(
            slot=slot.astype(np.int32),
            agent=agent.astype(np.int32),
            observation=np.stack([self._bit[slot, agent], np.ones(len(slot))], axis=1).astype(np.float32),
            mask=np.ones((len(slot), 2), bool),
            reward=np.zeros(len(slot), np.float32),
            first=np.ones(len(slot), bool),
            state=self._bit[slot],
        )

    def step(self, actions):
        chosen = actions.reshape(-1, 2)
        reward = (chosen == [0, 1]).mean(axis=1) + 10 * self._bit.sum(axis=1)
        over = np.arange(self.slots, dtype=np.int32)
        return Ends(
            slot=np.repeat(over, 2),
            agent=np.tile(np.array([0, 1], np.int32), self.slots),
            reward=np.repeat(reward, 2).astype(np.float32),
            truncated=np.zeros(2 * self.slots, bool),
            observation=np.zeros((2 * self.slots, 2), np.float32),
            over=over,
            state=np.zeros((2 * self.slots, 2), np.float32),
        )

    def close(self):
        pass


def trained(policy, updates=25, **settings):
    practice = Practice(Parts(), policy, PPOConfig(batch=512, minibatch=128, lr=5e-3, **settings), ticks=8)
    metrics = [practice.update() for _ in range(updates)]
    data = practice.collect().segments
    right = (data.action == [0, 1])[data.present].mean()
    return right, metrics[-1]["losses/explained_variance"]


@pytest.mark.slow
def test_agents_that_see_the_same_need_an_id_to_play_different_parts():
    assert trained(PolicyConfig(hidden=[16]))[0] == pytest.approx(0.5, abs=0.15)
    assert trained(PolicyConfig(hidden=[16], agent_id=True), normalise_values=True)[0] > 0.9


@pytest.mark.slow
def test_a_critic_of_its_own_knows_what_no_agent_knows():
    """Half of the reward's spread comes from the bit of the other agent."""
    _, alone = trained(PolicyConfig(hidden=[16], agent_id=True), updates=25, normalise_values=True)
    assert alone < 0.7
    for critic in ("central", "state"):
        policy = PolicyConfig(hidden=[16], agent_id=True, critic=critic)
        right, explained = trained(policy, updates=25, normalise_values=True)
        assert explained > 0.85
        assert right > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("critic", ["central", "state"])
def test_segments_that_begin_anywhere_are_worth_the_same(critic):
    """What follows a cut is worth what the next tick is worth: tails carry what the critic sees."""
    policy = PolicyConfig(hidden=[16], critic=critic)
    worth = []
    for ticks in (5, 25):
        practice = shaken(Practice(SimpleSpread(slots=8, state=True), policy, PPOConfig(batch=600), ticks=ticks))
        segments, algorithm = practice.collect().segments, practice.algorithm
        if ticks == 5:
            with torch.no_grad():
                worth = algorithm._tail_values(segments, None).numpy()[:, 4]
            continue
        with torch.no_grad():
            value, _ = algorithm.policy.values(algorithm.prepare(segments).seen)
        whole = value.numpy().reshape(-1, 25, 3)
    np.testing.assert_allclose(np.sort(worth[:8].ravel()), np.sort(whole[:8, 5].ravel()), rtol=1e-4)


@pytest.mark.slow
def test_who_is_dead_is_zeros_to_a_central_critic():
    """A central critic must not be led by what a dead agent saw last, or by what is left in the arrays."""
    practice = Practice(SimpleSpread(slots=4), PolicyConfig(hidden=[8], critic="central"), PPOConfig(batch=96))
    segments = practice.collect().segments
    segments.present[:, 10:, 1] = False  # the second agent is gone, and the rest of its numbers is rubbish
    seen = seen_in(segments, practice.policy)
    _, tick, _ = segments.present.nonzero()
    assert not seen.joint[torch.from_numpy(tick >= 10), 1].any()
    assert seen.joint[torch.from_numpy(tick < 10), 1].any(dim=1).all()
    before, _ = practice.algorithm.policy.values(seen)
    segments.observation[:, 10:, 1] = 99.0
    after, _ = practice.algorithm.policy.values(seen_in(segments, practice.policy))
    assert torch.equal(before, after)


@pytest.mark.slow
@pytest.mark.parametrize("critic", ["shared", "central"])
def test_a_team_learns_simple_spread(critic):
    """The beginning of the curves in docs/results.md; random play returns -26.2."""
    policy = PolicyConfig(hidden=[64, 64], activation="relu", critic=critic)
    algo = PPOConfig(batch=9600, minibatch=1920, lr=7e-4, epochs=10, gamma=0.95, normalise_values=True)
    practice = Practice(SimpleSpread(slots=128, state=True), policy, algo, seed=1)
    assert practice.until(100_000).mean_return() > -24.5


class Spot:
    """A picture with one bright spot, which lies in one of four corners; the agent should name the corner."""

    def __init__(self, slots=64, side=9):
        self.spec = EnvSpec(
            name="spot",
            agents=("a",),
            seats=(Seat((0,)),),
            observation=Array((side, side, 1), "uint8"),
            actions=4,
        )
        self.slots, self._side = slots, side
        self._picture = np.zeros((slots, side, side, 1), np.uint8)
        self._corner = np.zeros(slots, int)

    def start(self, slots, seeds):
        half, lit = self._side // 2, np.arange(len(slots))
        rng = np.random.default_rng(int(seeds[0]) % 2**32)
        row, column = rng.integers(0, half, (2, len(slots)))
        down, right = rng.integers(0, 2, (2, len(slots)))
        self._corner[slots] = 2 * down + right
        self._picture[slots] = 0
        self._picture[np.asarray(slots)[lit], row + down * (half + 1), column + right * (half + 1), 0] = 255

    def rows(self):
        slot = np.arange(self.slots, dtype=np.int32)
        return Rows(
            slot=slot,
            agent=np.zeros_like(slot),
            observation=self._picture.copy(),
            mask=np.ones((self.slots, 4), bool),
            reward=np.zeros(self.slots, np.float32),
            first=np.ones(self.slots, bool),
        )

    def step(self, actions):
        slot = np.arange(self.slots, dtype=np.int32)
        return Ends(
            slot=slot,
            agent=np.zeros_like(slot),
            reward=(actions == self._corner).astype(np.float32),
            truncated=np.zeros(self.slots, bool),
            observation=self._picture.copy(),
            over=slot,
        )

    def close(self):
        pass


@pytest.mark.slow
def test_an_evaluation_plays_as_a_frozen_player_does():
    """These weights explore at every step, but a frozen player does the best it knows: here it names one corner."""
    env, policy = Spot(slots=48), PolicyConfig(hidden=[8], head="values", epsilon=0)
    flat = np.zeros(describe(policy, env.spec).size, np.float32)
    views = describe(policy, env.spec).views(flat)
    views["policy.bias"][2], views["exploration"][:] = 1, (1, 0)
    practice = Practice(env, policy, DQNConfig())
    share = (env._corner == 2).mean()
    assert 0 < share < 1
    assert practice.evaluate(flat) == share


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cnn", pytest.param("resnet", marks=pytest.mark.slow)])
def test_convolutions_learn_to_see(name):
    policy = PolicyConfig(name=name, hidden=[32], channels=8, blocks=1, filters=[[8, 3, 2], [16, 3, 1]])
    practice = Practice(Spot(), policy, PPOConfig(batch=512, minibatch=128, lr=3e-3), ticks=8)
    assert practice.until(512).mean_return(256) < 0.5
    assert practice.until(16_000).mean_return(256) > 0.9


@pytest.mark.slow
def test_a_residual_network_learns_tic_tac_toe():
    """Against itself; then it is held against random play, from both seats."""
    policy = PolicyConfig(name="resnet", hidden=[32], channels=12, blocks=1)
    practice = Practice(TicTacToe(slots=64), policy, PPOConfig(batch=1024, minibatch=256, lr=3e-3), ticks=8)
    practice.until(16_000)
    rng, bot = np.random.default_rng(0), RandomBot(TicTacToe(1).spec)
    actor = NumpyActor(policy, bot.spec, practice.algorithm.flat())
    paid = []
    for seat in (0, 1):
        env = TicTacToe(slots=200)
        env.start(np.arange(200, dtype=np.int32), np.zeros(200, np.int64))
        while len(rows := env.rows()):
            mine, _ = actor.act(rows.observation, rows.mask, rng)
            other, _ = bot.act(rows.observation, rows.mask, rng)
            ends = env.step(np.where(rows.agent == seat, mine, other))
            paid += ends.reward[ends.agent == seat].tolist()
    assert len(paid) == 400
    assert np.mean(paid) > 0.5, "random play has 0"


@pytest.mark.slow
@pytest.mark.parametrize(
    "algo",
    [
        A2CConfig(batch=256, lr=5e-3, normalise_advantages=True),
        APPOConfig(batch=1024, minibatch=256, lr=3e-3, epochs=4),
        IMPALAConfig(batch=1024, minibatch=128, lr=3e-3, normalise_advantages=True),
        UPGOConfig(batch=1024, minibatch=128, lr=3e-3, normalise_advantages=True),
        VPGConfig(batch=256, lr=5e-3),
    ],
    ids=lambda algo: algo.name,
)
def test_every_actor_critic_learns_tic_tac_toe_though_its_data_lags(algo):
    practice = Practice(TicTacToe(slots=64), PolicyConfig(hidden=[32]), algo, lag=1).until(16_000)
    score = score_against("random", TicTacToe(slots=64), practice.policy, practice.algorithm.flat(), 500)
    assert score > 0.56


def test_ppo_learns_to_balance_a_pole():
    env = make_environment(EnvConfig(name="gymnasium", id="CartPole-v1"), 8)
    algo = PPOConfig(batch=512, minibatch=128, lr=2e-3, epochs=8, entropy=0.0, normalise_values=True)
    practice = Practice(env, PolicyConfig(hidden=[32]), algo).until(8_000)
    assert np.mean(practice.returns[:50]) < 35
    assert practice.mean_return(20) > 60
