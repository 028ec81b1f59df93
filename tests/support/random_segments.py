"""Random segments that are valid, for tests of replays."""

import numpy as np

from league.segment import CONTINUES, CUT, TERMINATED, Segments

ACTIONS = 3


def random_segments(seed, lanes=4, ticks=6, agents=2, together=False):
    """Lawful segments of random presence and ends. Every observation is another number, tails are negative.

    `together`: episodes end for all agents at once, though some may have died before.
    """
    rng = np.random.default_rng(seed)
    steps = (lanes, ticks, agents)
    present = rng.random(steps) < 0.8
    end = rng.choice([CONTINUES, TERMINATED, CUT], steps, p=[0.7, 0.2, 0.1]).astype(np.uint8)
    if together:
        present[:, :, 0] = True
        end[:] = end[:, :, :1]
        present[:, 1:, 1:] &= (present | (np.roll(end, 1, axis=1) != CONTINUES))[:, :-1, 1:]  # some stay dead
    for lane in range(lanes):
        for agent in range(agents):
            own = present[lane, :, agent].nonzero()[0]
            if len(own) and end[lane, own[-1], agent] == CONTINUES:
                end[lane, own[-1], agent] = CUT if own[-1] == ticks - 1 or not together else TERMINATED
    end[~present] = CONTINUES
    at = (present & (end == CUT)).nonzero()
    mask = rng.random((*steps, ACTIONS)) < 0.7
    mask[..., 0] = True
    tail_mask = rng.random((len(at[0]), ACTIONS)) < 0.7
    tail_mask[:, 1] = True
    return Segments(
        player="hero",
        incarnation=0,
        observation=np.arange(1, present.size + 1, dtype=np.float32).reshape(*steps, 1),
        mask=mask,
        action=np.where(present, rng.integers(0, ACTIONS, steps), 0).astype(np.int32),
        log_prob=np.zeros(steps, np.float32),
        reward=rng.integers(-4, 5, steps).astype(np.float32),
        end=end,
        present=present,
        length=np.full(lanes, ticks, np.int32),
        version=np.zeros(lanes, np.int32),
        tail_lane=at[0].astype(np.int32),
        tail_tick=at[1].astype(np.int32),
        tail_agent=at[2].astype(np.int32),
        tail_observation=-np.arange(1, len(at[0]) + 1, dtype=np.float32)[:, None],
        tail_mask=tail_mask,
    )


def tails_of(segments):
    at = zip(segments.tail_lane.tolist(), segments.tail_tick.tolist(), segments.tail_agent.tolist(), strict=True)
    told = zip(segments.tail_observation[:, 0].tolist(), segments.tail_mask.tolist(), strict=True)
    return dict(zip(at, told, strict=True))


def slow_decisions(segments, n, gamma):
    """What each decision is worth to a learner, one agent at a time: {observation: (reward, discount, after, mask)}."""
    found, tails = {}, tails_of(segments)
    lanes, ticks, agents = segments.present.shape
    for lane in range(lanes):
        for agent in range(agents):
            own = [tick for tick in range(ticks) if segments.present[lane, tick, agent]]
            for i, begin in enumerate(own):
                total, factor, after = 0.0, 1.0, None
                for k, tick in enumerate(own[i : i + n]):
                    at = (lane, tick, agent)
                    total += factor * segments.reward[at]
                    factor *= gamma
                    if segments.end[at] == TERMINATED:
                        factor, after = 0.0, None
                        break
                    if segments.end[at] == CUT:
                        after = tails[at]
                        break
                    then = (lane, own[i + k + 1], agent)
                    after = (segments.observation[then][0], segments.mask[then].tolist())
                found[segments.observation[lane, begin, agent, 0]] = (total, factor, after)
    return found
