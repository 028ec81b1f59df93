"""The score of some weights against a bot, without a league."""

import numpy as np

from league.ids import derive_seed
from league.plugins import resolve
from league.policies.numpy_actor import NumpyActor


def score_against(name, env, policy, flat, games, seed=0):
    """Return the score of these weights against a bot in at least so many sampled games, in both seats in turn."""
    bot = resolve("ludus.bots", name)(env.spec)
    hero, rng = NumpyActor(policy, env.spec, flat, frozen=True), np.random.default_rng(derive_seed(seed, "score"))
    seat, earned, scores, started = np.arange(env.slots) % 2, np.zeros((env.slots, 2)), [], 0
    over = np.arange(env.slots, dtype=np.int32)
    while len(scores) < games:
        env.start(over, np.array([derive_seed(seed, "score", started + i) for i in range(len(over))], np.int64))
        started += len(over)
        over = over[:0]
        while not len(over):
            rows = env.rows()
            earned[rows.slot, rows.agent] += rows.reward
            mine = rows.agent == seat[rows.slot]
            actions = np.zeros(len(rows), np.int32)
            for player, chosen in ((hero, mine), (bot, ~mine)):
                if chosen.any():
                    actions[chosen] = player.act(rows.observation[chosen], rows.mask[chosen], rng)[0]
            ends = env.step(actions)
            earned[ends.slot, ends.agent] += ends.reward
            over = ends.over
        margin = earned[over, seat[over]] - earned[over, 1 - seat[over]]
        scores += (0.5 + 0.5 * np.sign(margin)).tolist()
        earned[over], seat[over] = 0, 1 - seat[over]
    return float(np.mean(scores))
