"""Small games with known answers: their trees, OpenSpiel's own figures, and networks that play them."""

from functools import cache

import numpy as np
import pyspiel

from collectors.envs.adapters.openspiel import builder
from collectors.envs.adapters.openspiel_tree import enumerate_openspiel
from collectors.envs.config import EnvConfig, make_environment
from league.policies.layout import PolicyConfig, describe
from league.policies.numpy_actor import NumpyActor

KUHN = EnvConfig(name="openspiel", id="kuhn_poker")
LEDUC = EnvConfig(name="openspiel", id="leduc_poker")


@cache
def spiel_tree(id):
    return enumerate_openspiel(builder(id)())


def as_tabular(tree, policy):
    """Return a policy over the sets of a tree as OpenSpiel has it."""
    legal = [np.flatnonzero(mask) for mask in tree.sets.mask]
    return pyspiel.TabularPolicy(
        {
            name: [(int(action), float(row[action])) for action in actions]
            for name, row, actions in zip(tree.sets.names, policy, legal, strict=True)
        }
    )


def from_tabular(tree, tabular):
    """Return OpenSpiel's policy as rows for the sets of a tree."""
    policy = np.zeros(tree.sets.mask.shape)
    for row, name in zip(policy, tree.sets.names, strict=True):
        for action, chance in tabular.action_probabilities(name).items():
            row[action] = chance
    return policy


def random_policy(tree, rng):
    """Return a policy with random probabilities, some of them zero."""
    weights = rng.exponential(size=tree.sets.mask.shape) * tree.sets.mask * (rng.random(tree.sets.mask.shape) < 0.8)
    weights += 1e-300 * tree.sets.mask
    return weights / weights.sum(axis=1, keepdims=True)


def random_network(config, rng, **settings):
    """Return a network with random weights for an environment, and its spec."""
    env = make_environment(config, 1)
    policy = PolicyConfig(hidden=[16], **settings)
    flat = rng.normal(size=describe(policy, env.spec).size).astype(np.float32)
    return NumpyActor(policy, env.spec, flat), env.spec
