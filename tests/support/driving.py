"""How tests drive environments: begin episodes, and play them to their end."""

import numpy as np

from collectors.envs.config import EnvConfig, make_environment


def open_env(name, id, slots=1, allow=(), **settings):
    """Return the environment of a config with these settings."""
    return make_environment(EnvConfig(name=name, id=id, **settings), slots, allow)


def begin(env, *seeds):
    """Begin an episode in each of the first slots; return the environment."""
    env.start(np.arange(len(seeds), dtype=np.int32), np.array(seeds))
    return env


def lowest(rows):
    """Return the lowest legal action of each row."""
    return rows.mask.argmax(axis=1).astype(np.int32)


def play(env, *seeds, choose=lowest):
    """Play to the end of all slots; return every Ends."""
    begin(env, *seeds)
    ends, playing = [], set(range(len(seeds)))
    while playing:
        ends.append(env.step(choose(env.rows())))
        playing -= {*ends[-1].over.tolist(), *(fault.slot for fault in ends[-1].faults)}
    return ends
