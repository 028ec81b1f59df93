"""One episode in one slot, position by position: what `ludus watch` plays and what `ludus replay` plays again.

    frames = replay(env, ticket, attempt, episode, recorded.actions, run_seed)
    outcome = show(frames)                  # `yield from` or `outcome_of` give the outcome
    assert difference(recorded, outcome) == ""

Replay resets with the same seed and feeds the recorded actions. No network acts again: inference is not exact to the
bit, so it might choose other actions.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from collectors.envs.rows import Environment, IntArray, Rows
from collectors.seating import ActorNumbers, Cast, HeldTicket, Seating, same_cast, unpack_actions
from league.errors import InputError
from league.policies.actions import Actions, legal
from league.ticket import Episode, Ticket, episode_seed

Choose = Callable[[Rows, IntArray], Actions]
"""From the rows, and the entry of the ticket that each row plays for, to an action for each row."""
Act = Callable[[Rows, ActorNumbers], Actions]
"""From the rows, and the number of the actor of each row, to an action for each row."""


class ReplayError(InputError):
    """An episode that cannot be played to its end, with the reason."""


@dataclass(frozen=True, slots=True)
class Move:
    """An agent acted, for an entry of the ticket."""

    agent: int
    entry: int
    action: int | list[float]  # an option, or the parts of the action


@dataclass(frozen=True, slots=True)
class Frame:
    """A position as text, and the moves that led to it; the first frame has none."""

    moves: tuple[Move, ...]
    text: str


Frames = Generator[Frame, None, Episode]


def play(env: Environment, ticket: Ticket, episode: int, seed: int, choose: Choose) -> Frames:
    """Play one episode of a ticket in slot 0; yield every position, return the outcome, actions included."""
    seats = Seating(env.spec, 1)
    held = HeldTicket(ticket, record=ticket.episodes, started=episode)
    slot = seats.begin([seats.reserve(held, same_cast(range(len(ticket.entries))), room=1)])
    env.start(slot, np.array([seed], np.int64))
    yield Frame((), env.render(0))
    while not held.finished:
        rows = env.rows()
        entry = seats.entry[rows.slot, rows.agent].astype(np.int32)
        actions = choose(rows, entry) if len(rows) else np.zeros((0, *env.spec.action.shape), env.spec.action.dtype)
        seats.add_moves(rows, actions)
        ends = env.step(actions)
        if ends.faults:
            raise ReplayError(f"the environment broke: {ends.faults[0].reason}")
        seats.finish(ends)
        if not len(rows) and not held.finished:
            raise ReplayError(f"{env.spec.name}: no agent is to act, but the episode is not over")
        yield Frame(tuple(map(Move, rows.agent.tolist(), entry.tolist(), actions.tolist())), env.render(0))
    return held.finished[episode]


def play_all(env: Environment, ticket: Ticket, seeds: Sequence[int], cast: Cast, act: Act) -> list[Episode]:
    """Play an episode of a ticket with each of these seeds, in all slots at once; return the outcomes in order.

    All of them are played to their end: who stops at the first results has counted more short episodes than long ones.
    """
    seats = Seating(env.spec, env.slots)
    held, every = HeldTicket(msgspec.structs.replace(ticket, episodes=len(seeds)), record=0), np.array(seeds, np.int64)
    while len(held.finished) < len(seeds):
        if held.unstarted and seats.room:
            start = seats.reserve(held, cast, seats.room)
            env.start(seats.begin([start]), every[list(start.episodes)])
        rows = env.rows()
        actors = seats.actor[rows.slot, rows.agent]
        actions = act(rows, actors) if len(rows) else np.zeros((0, *env.spec.action.shape), env.spec.action.dtype)
        seats.add_moves(rows, actions)
        ends = env.step(actions)
        if ends.faults:
            raise ReplayError(f"the environment broke: {ends.faults[0].reason}")
        if not len(rows) and not len(ends.over):
            raise ReplayError(f"{env.spec.name}: no agent is to act, but the episode is not over")
        seats.finish(ends)
    return [held.finished[episode] for episode in range(len(seeds))]


def replay(env: Environment, ticket: Ticket, attempt: int, episode: int, packed: bytes, run_seed: int) -> Frames:
    """Play a recorded episode again; yield every position, return the outcome, which must equal the record."""
    left = unpack_actions(packed, env.spec)
    if not len(left):
        raise ReplayError(f"ticket {ticket.number}: the actions of episode {episode} were not recorded")

    def recorded(rows: Rows, entry: IntArray) -> Actions:
        nonlocal left
        actions, left = left[: len(rows)], left[len(rows) :]
        if len(actions) < len(rows):
            raise ReplayError(_strayed(env, "the record is at its end, but the episode goes on"))
        if not legal(env.spec, actions, rows.mask).all():
            raise ReplayError(_strayed(env, f"a recorded action of {actions.tolist()} is illegal here"))
        return actions

    outcome = yield from play(env, ticket, episode, episode_seed(run_seed, ticket, attempt, episode), recorded)
    if len(left):
        raise ReplayError(_strayed(env, f"the episode is over, but {len(left)} recorded actions are left"))
    return outcome


def _strayed(env: Environment, what: str) -> str:
    return (
        f"{what}: {env.spec.name} does not play as it did. Is it another version, were its options changed, "
        "or does it use random numbers that do not come from its seed?"
    )


def outcome_of(frames: Frames) -> Episode:
    """Exhaust the frames and return the outcome."""
    while True:
        try:
            next(frames)
        except StopIteration as stop:
            outcome: Episode = stop.value
            return outcome


def difference(recorded: Episode, replayed: Episode) -> str:
    """Return how the replayed episode differs from the recorded one; empty if it does not."""
    names = ("ranks", "returns", "length", "actions")
    wrong = [name for name in names if getattr(recorded, name) != getattr(replayed, name)]
    return "; ".join(f"{name} {getattr(recorded, name)} became {getattr(replayed, name)}" for name in wrong)
