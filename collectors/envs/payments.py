"""Who is paid what in an AEC environment, by the two ways to read it, and why the two may differ.

    why_differs("player_0", Payments(listed=1.0, paid=2.0, again=1.0, after_end=0.0))
    # "... last() pays agent 'player_0' 2, twice the 1 in env.rewards", "Call _accumulate_rewards() once in a step ..."

An AEC environment lists in `rewards` what the last step paid to each agent, and adds it up in `_cumulative_rewards`,
which `last()` pays to an agent at its turn. If one of both is kept when it should be set back, somebody is paid twice.
"""

from typing import NamedTuple

import numpy as np


class Payments(NamedTuple):
    """What an agent got in one episode."""

    listed: float  # the sum of `env.rewards`, once after each step
    paid: float  # the sum of what `last()` pays
    again: float  # what `last()` pays if `_cumulative_rewards` is never set back
    after_end: float  # the part of `listed` that was there after steps of agents that are done


class Difference(NamedTuple):
    """Who is paid wrongly, and how to fix the environment."""

    what: str
    remedy: str


ORDER = (
    "In step: set _cumulative_rewards[agent] of the agent that acts to 0, set rewards of all agents, then call "
    "_accumulate_rewards() once."
)


def why_differs(agent: str, got: Payments) -> Difference | None:
    """Return why the two ways differ; None if they do not: then the environment is not at fault.

    >>> why_differs("player_0", Payments(1.0, 0.0, 1.0, 0.0)).what
    "last() pays agent 'player_0' nothing, though env.rewards adds up to 1"
    """
    listed, paid = f"{got.listed:g}", f"{got.paid:g}"
    if got.after_end and _same(got.listed - got.after_end, got.paid):
        return Difference(
            f"env.rewards pays agent {agent!r} twice: {got.after_end:g} is still there after the step of an agent that "
            f"is done, {listed} in all, where last() pays {paid}",
            "For agents that are done, step must only call self._was_dead_step(action), which clears rewards.",
        )
    if _same(got.listed, got.paid):
        return None
    if not got.paid:
        return Difference(
            f"last() pays agent {agent!r} nothing, though env.rewards adds up to {listed}",
            f"The environment never adds rewards up. {ORDER}",
        )
    if not got.listed:
        return Difference(
            f"env.rewards pays agent {agent!r} nothing, though last() pays {paid}",
            f"The environment writes _cumulative_rewards itself, or clears rewards after adding them up. {ORDER}",
        )
    if _same(got.paid, 2 * got.listed):
        return Difference(
            f"last() pays agent {agent!r} twice: {paid}, where env.rewards adds up to {listed}",
            f"The environment adds rewards up twice in a step. {ORDER}",
        )
    if _same(got.paid, got.again):
        return Difference(
            f"last() pays agent {agent!r} the same reward again at each turn: {paid} in all, where env.rewards adds up "
            f"to {listed}",
            f"The environment does not set _cumulative_rewards[agent] back to 0 when that agent acts. {ORDER}",
        )
    return Difference(f"last() pays agent {agent!r} {paid}, but env.rewards adds up to {listed}", ORDER)


def _same(one: float, other: float) -> bool:
    return bool(np.isclose(one, other, rtol=1e-4, atol=1e-4))
