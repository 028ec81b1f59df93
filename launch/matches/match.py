"""A match between two players outside the league's schedule: who sits where, and what chooses the actions.

with set_up(run, "main", "one_ply", seed=3) as match:
    outcome = outcome_of(match.play(0, seed=3))
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from collectors.acting import Acting
from collectors.actors import Actors
from collectors.casting import as_entries, cast_of
from collectors.envs.config import EnvConfig, EnvError, make_environment
from collectors.envs.rows import Environment, HasRenderModes, Rows
from collectors.episode import Choose, Frames, play, play_all
from collectors.seating import ActorNumbers, Cast
from launch.config.config import Config, policies_of, stored
from launch.viewers.view import ViewError, find_player, open_view
from league.ids import PlayerId, TicketNumber
from league.limits import ABSENT
from league.lineup import pair_lineup
from league.mixture import missing
from league.player import Status
from league.plugins import names
from league.policies.actions import Actions
from league.spec import EnvSpec
from league.state import LeagueState
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.ticket import Entry, Episode, Member, Purpose, Ticket

TEXT = "ansi"  # the render mode in which an environment returns text,
PICTURE = "rgb_array"  # and the one in which it returns a picture
POOL = "pool"  # stands for a mixture of all frozen players, with equal shares


@dataclass(frozen=True, slots=True)
class Match:
    """Two players, seated in an environment with one slot or more."""

    env: Environment
    ticket: Ticket
    pair: tuple[Entry, Entry]
    players: "SeatedActors"

    def play(self, episode: int, seed: int) -> Frames:
        """Play one episode, position by position."""
        ticket = msgspec.structs.replace(self.ticket, episodes=episode + 1)
        return play(self.env, ticket, episode, seed, self.players.choose_in(seed))

    def play_all(self, seeds: Sequence[int]) -> list[Episode]:
        """Play an episode with each of these seeds, all slots at once; return the outcomes in order."""
        return play_all(self.env, self.ticket, seeds, self.players.cast(seeds), self.players.act)


@contextmanager
def set_up(
    run: RunDirectory,
    a: str,
    b: str,
    *,
    seed: int = 0,
    allow: Collection[str] = (),
    render: Sequence[str] = (),
    slots: int = 1,
) -> Iterator[Match]:
    """Seat two players of a league, or bots, in its environment; which renders in the first mode that it can."""
    config, state = stored(run), open_view(run).state
    first, second = find_entry(state, a), find_entry(state, b)
    with closing(open_environment(config.env, allow, render, slots)) as env:
        ticket = seat_pair(state, env.spec, first, second)
        yield Match(env, ticket, (first, second), seat_actors(config, run, env, ticket, seed, allow))


def open_environment(
    config: EnvConfig, allow: Collection[str] = (), render: Sequence[str] = (), slots: int = 1
) -> Environment:
    """Return slots of an environment that renders in the first of these modes that it offers; else as it is."""
    env = make_environment(config, slots, allow)
    offered = env.render_modes if isinstance(env, HasRenderModes) else ()
    modes = offered or ((PICTURE,) if config.name == "pettingzoo" else ())  # one that lists no mode may render anyway
    for mode in render:
        if mode in modes and "render_mode" not in config.kwargs:
            try:
                rendering = make_environment(
                    replace(config, kwargs={**config.kwargs, "render_mode": mode}), slots, allow
                )
            except EnvError:
                continue  # its constructor takes no such option
            env.close()
            return rendering
    return env


def find_entry(state: LeagueState, name: str) -> Entry:
    """Return who plays under a name: a frozen player, the newest candidate of a learning one, or a bot.

    A bot is a name of the group ludus.bots or `package.module:Class`; whether it is allowed is checked where it is
    made. `pool` is a mixture of all frozen players, unless a player has that name.
    """
    if name == POOL and PlayerId(name) not in state.population:
        return pool_entry(state)
    if PlayerId(name) not in state.population and (":" in name or name in names("ludus.bots")):
        return Entry(PlayerId(name), None, name)
    player = find_player(state, name)
    if player.status == Status.HUMAN:
        raise ViewError(f"{name!r} is a human, and only bots and weights can be watched")
    entry = state.contestant(player.id)
    if entry is None and player.status == Status.MIXTURE:
        gone = ", ".join(map(repr, missing(player, state.population, state.contestant)))
        raise ViewError(f"the mixture {name!r} cannot play: {gone} does not exist yet, or has no candidate")
    if entry is None:
        raise ViewError(f"{name!r} has no candidate yet: its learner has not written one; try again in a while")
    return entry


def pool_entry(state: LeagueState) -> Entry:
    """Return the mixture of all frozen players, with equal shares."""
    frozen = state.population.frozen()
    if not frozen:
        raise ViewError("the pool is empty: no player has been frozen yet")
    members = tuple(Member(player.id, 1 / len(frozen), player.snapshot) for player in frozen)
    return Entry(PlayerId(POOL), members=members)


def seat_pair(state: LeagueState, spec: EnvSpec, first: Entry, second: Entry) -> Ticket:
    """Return a ticket with the first player on a side with a seat of its role, and the second in all other seats.

    Where all are on one side, the first has one seat.
    """
    role = state.population[first.player].role if first.player in state.population else None
    place = next((i for i, found in enumerate(spec.roles) if role in (None, found)), 0)
    left = [found for i, found in enumerate(spec.roles) if i != place]
    other = state.population[second.player].role if second.player in state.population else None
    if left and other is not None and other not in left:
        raise ViewError(
            f"{second.player!r} plays as {other}, but beside {first.player!r} the seats of {', '.join(left)} are left"
        )
    seated = pair_lineup(spec, place, first, second, lambda entry, wanted: entry == second or role in (None, wanted))
    entries = tuple(second if entry is None else entry for entry in seated)
    return Ticket(number=TicketNumber(0), purpose=Purpose.EVALUATE, entries=entries, episodes=1)


class SeatedActors:
    """Samples the actions of the entries of a ticket, as in evaluation."""

    def __init__(self, ticket: Ticket, env: Environment, actors: Actors, seed: int) -> None:
        actor_numbers(ticket.entries, env.spec, actors)  # so that who cannot play is named at once
        self._ticket, self._actors = ticket, actors
        self._acting = Acting(env.spec, env.slots, actors, np.random.default_rng(seed))

    def cast(self, seeds: Sequence[int]) -> Cast:
        """Return who acts in the episodes with these seeds."""
        cast = cast_of(self._ticket, seeds, self._actors, set)
        assert cast is not None  # only live weights can be missing
        return cast

    def act(self, rows: Rows, numbers: ActorNumbers) -> Actions:
        """Return an action for each row, given the number of its actor."""
        acted = self._acting.act(rows, numbers)
        for fault in acted.faults:
            raise ViewError(fault.reason)
        return acted.actions

    def choose_in(self, seed: int) -> Choose:
        """Return what acts in the episode with this seed."""
        numbers = self.cast([seed])([0])[0]
        return lambda rows, entry: self.act(rows, numbers[entry])


def seat_actors(
    config: Config,
    run: RunDirectory,
    env: Environment,
    ticket: Ticket,
    seed: int,
    allow: Collection[str],
    skip: Collection[int] = (),
) -> SeatedActors:
    """Return the actors of a ticket of a run; entries to skip act at random."""
    entries = [Entry(e.player, None, "random") if place in skip else e for place, e in enumerate(ticket.entries)]
    seated = msgspec.structs.replace(ticket, entries=tuple(entries))
    return SeatedActors(seated, env, open_actors(config, run, env.spec, allow), seed)


def open_actors(config: Config, run: RunDirectory, spec: EnvSpec, allow: Collection[str]) -> Actors:
    """Return the actors of a run: its snapshots, and bots."""
    cache = config.collector.cache_megabytes << 20
    return Actors(spec, policies_of(config, spec.roles), SnapshotStore(run.snapshots), cache, allow)


def actor_numbers(entries: Sequence[Entry], spec: EnvSpec, actors: Actors) -> list[int]:
    """Return the actors of entries, and of the members of mixtures; refuse weights and bots of another environment."""
    numbers: list[int] = []
    for one in (one for entry in entries for one in as_entries(entry)):
        try:
            number = actors.number(one, lambda: set(numbers))
        except ValueError as error:
            raise ViewError(f"{one.player!r} cannot play {spec.name}: {error}") from error
        assert number is not None  # only live weights can be missing
        numbers.append(number)
    return numbers


# --- descriptions --------------------------------------------------------------------------------------------


def describe_entry(entry: Entry) -> str:
    """Return who plays, and with which weights."""
    if entry.members:
        return f"{entry.player}, a mixture of {len(entry.members)}"
    if entry.snapshot is None and entry.bot is None:
        return f"{entry.player}, a human"
    return f"{entry.player}, {f'snapshot {entry.snapshot[:12]}' if entry.snapshot else f'bot {entry.bot}'}"


def describe_outcome(ticket: Ticket, outcome: Episode, cooperative: bool = False) -> str:
    """Describe the outcome of an episode."""
    seats = [f"{entry.player} {value:+g}" for entry, value in zip(ticket.entries, outcome.returns, strict=True)]
    best = [entry.player for entry, rank in zip(ticket.entries, outcome.ranks, strict=True) if rank == 0]
    if len(ticket.entries) == 1 or cooperative:
        verdict = "over"
    else:
        present = len(outcome.ranks) - outcome.ranks.count(ABSENT)
        verdict = "a draw" if 1 < len(best) == present else f"{', '.join(dict.fromkeys(best))} wins"
    return f"\n{verdict} after {outcome.length} moves; returns: {', '.join(seats)}"
