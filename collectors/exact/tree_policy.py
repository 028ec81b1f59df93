"""Policies over the information sets of a game: of networks and bots, and of mixtures of them.

policy = policy_of(actor, tree.sets)                        # one forward pass
policy = mixed(tree.sets, [first, second], [0.75, 0.25])    # one of the two plays each whole episode
"""

from collections.abc import Sequence

import numpy as np

from collectors.envs.game_tree import NONE, InformationSets, Real
from collectors.envs.slots import Index
from collectors.players.bots import RandomBot
from league.errors import InputError
from league.policies.actor import Actor
from league.policies.layout import FloatArray
from league.policies.network_actor import Bystanders, NetworkActor

MERGED = "positions of this game were merged, and {what} depends on the whole episode"


class TreePolicyError(InputError):
    """A player whose policy cannot be computed, with the reason."""


def uniform(sets: InformationSets) -> Real:
    """Return the policy that plays all legal actions with the same probability."""
    found: Real = sets.mask / sets.mask.sum(axis=1, keepdims=True)
    return found


def policy_of(actor: Actor, sets: InformationSets) -> Real:
    """Return the probability of each action in each information set, as the actor plays in evaluation."""
    if isinstance(actor, RandomBot):
        return uniform(sets)
    if not isinstance(actor, NetworkActor):
        raise TreePolicyError(
            f"a {type(actor).__name__} does not say with which probabilities it acts; only networks and the bot "
            "'random' have an exact figure. Train a best response instead: ludus probe"
        )
    with np.errstate(all="ignore"):  # weights of others may be as large as they like
        outputs = _outputs_of(actor, sets)
    if not np.isfinite(outputs).all():
        raise TreePolicyError("its network gives NaN or infinity in some information sets, so it has no exact figure")
    return actor.probabilities(outputs, sets.mask)


def _outputs_of(actor: NetworkActor, sets: InformationSets) -> FloatArray:
    """Return what a network gives in each information set."""
    place = np.zeros(len(sets), np.intp)
    if not actor.memory:
        return actor.outputs(sets.observation, place, beside=Bystanders(sets.mask))
    if sets.before is None:
        raise TreePolicyError(MERGED.format(what="what a player with a memory does"))
    outputs, memory = None, np.zeros((len(sets), actor.memory), np.float32)
    for rows in _turns(sets):
        mine = _recalled(memory, sets.before[rows])
        found = actor.outputs(sets.observation[rows], place[rows], mine, Bystanders(sets.mask[rows]))
        memory[rows] = mine
        outputs = np.zeros((len(sets), found.shape[1]), np.float32) if outputs is None else outputs
        outputs[rows] = found
    assert outputs is not None  # a game has at least one decision
    return outputs


def _recalled(memory: FloatArray, before: Index) -> FloatArray:
    """Return the memory with which each set is entered: zeros at a player's first decision."""
    found: FloatArray = np.where((before == NONE)[:, None], np.float32(0), memory[before])
    return found


def _turns(sets: InformationSets) -> list[Index]:
    """Return the sets by how many decisions of the same seat come before."""
    return [np.flatnonzero(sets.turn == turn) for turn in range(int(sets.turn.max()) + 1)]


def mixed(sets: InformationSets, policies: Sequence[Real], weights: Sequence[float]) -> Real:
    """Return the policy that behaves as a mixture: one of the policies, sampled by weight, plays each whole episode.

    An action's probability is that of each policy, weighted by how probable it is that this policy plays here: its
    weight times the product of its own probabilities so far. Averages of action probabilities would be another policy.
    """
    check_weights(weights, len(policies))
    if len(policies) == 1:
        return policies[0]
    if sets.before is None or sets.before_action is None:
        raise TreePolicyError(MERGED.format(what="which member of a mixture plays"))
    plays = np.zeros((len(policies), len(sets)))
    for rows in _turns(sets):
        before, action = sets.before[rows], sets.before_action[rows]
        for plan, policy, weight in zip(plays, policies, weights, strict=True):
            plan[rows] = np.where(before == NONE, weight, plan[before] * policy[before, action])
    total = plays.sum(axis=0)
    reached = total > 0
    shares = np.where(reached, plays / np.where(reached, total, 1.0), 1 / len(policies))
    found: Real = np.einsum("ks,ksa->sa", shares, np.stack(policies))
    return found


def check_weights(weights: Sequence[float], members: int) -> None:
    """Refuse weights that are not one for each member, none negative, with a sum of one."""
    if len(weights) != members or not members:
        raise TreePolicyError(f"a mixture of {members} members needs as many weights, got {len(weights)}")
    if min(weights) < 0 or not abs(sum(weights) - 1) < 1e-6:
        raise TreePolicyError(f"the weights of a mixture must not be negative and add up to 1, got {list(weights)}")
