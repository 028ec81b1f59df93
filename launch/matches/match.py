"""A match between two players outside the league's schedule: who sits where, and what chooses the actions.

with set_up(run, "main", "one_ply", seed=3) as match:
    outcome = outcome_of(match.play(0, seed=3))
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

import numpy as np

from collectors.acting import Acting
from collectors.actors import Actors
from collectors.envs.config import EnvConfig, EnvError, make_environment
from collectors.envs.rows import Environment, HasRenderModes, IntArray, Rows
from collectors.episode import Choose, Frames, play
from launch.config.config import Config, policies_of, stored
from launch.viewers.view import ViewError, find_player, open_view
from league.ids import PlayerId, TicketNumber
from league.lineup import pair_lineup
from league.player import Kind
from league.plugins import names
from league.policies.actions import Actions
from league.spec import EnvSpec
from league.state import LeagueState
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.ticket import Entry, Episode, Purpose, Ticket

TEXT = "ansi"  # the render mode in which an environment returns text,
PICTURE = "rgb_array"  # and the one in which it returns a picture


@dataclass(frozen=True, slots=True)
class Match:
    """Two players, seated in an environment."""

    env: Environment
    ticket: Ticket
    pair: tuple[Entry, Entry]
    choose: Choose

    def play(self, episode: int, seed: int) -> Frames:
        """Play one episode, position by position."""
        return play(self.env, self.ticket, episode, seed, self.choose)


@contextmanager
def set_up(
    run: RunDirectory,
    a: str,
    b: str,
    *,
    seed: int = 0,
    episodes: int = 1,
    allow: Collection[str] = (),
    render: Sequence[str] = (),
) -> Iterator[Match]:
    """Seat two players of a league, or bots, in its environment; which renders in the first mode that it can."""
    config, state = stored(run), open_view(run).state
    first, second = find_entry(state, a), find_entry(state, b)
    with closing(open_environment(config.env, allow, render)) as env:
        ticket = seat_pair(state, env.spec, first, second, episodes)
        yield Match(env, ticket, (first, second), choose_by_actors(config, run, env.spec, ticket, seed, allow))


def open_environment(config: EnvConfig, allow: Collection[str] = (), render: Sequence[str] = ()) -> Environment:
    """Return one slot of an environment that renders in the first of these modes that it offers; else as it is."""
    env = make_environment(config, 1, allow)
    offered = env.render_modes if isinstance(env, HasRenderModes) else ()
    modes = offered or ((PICTURE,) if config.name == "pettingzoo" else ())  # one that lists no mode may render anyway
    for mode in render:
        if mode in modes and "render_mode" not in config.kwargs:
            try:
                rendering = make_environment(replace(config, kwargs={**config.kwargs, "render_mode": mode}), 1, allow)
            except EnvError:
                continue  # its constructor takes no such option
            env.close()
            return rendering
    return env


def find_entry(state: LeagueState, name: str) -> Entry:
    """Return who plays under a name: a frozen player, the newest candidate of a learning one, or a bot.

    A bot is a name of the group ludus.bots or `package.module:Class`; whether it is allowed is checked where it is
    made.
    """
    if PlayerId(name) not in state.population and (":" in name or name in names("ludus.bots")):
        return Entry(PlayerId(name), None, name)
    player = find_player(state, name)
    if player.kind == Kind.HUMAN:
        raise ViewError(f"{name!r} is a human, and only bots and weights can be watched")
    entry = state.contestant(player.id)
    if entry is None:
        raise ViewError(f"{name!r} has no candidate yet: its learner has not written one; try again in a while")
    return entry


def seat_pair(state: LeagueState, spec: EnvSpec, first: Entry, second: Entry, episodes: int = 1) -> Ticket:
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
    return Ticket(number=TicketNumber(0), purpose=Purpose.EVALUATE, entries=entries, episodes=episodes)


def choose_by_actors(
    config: Config,
    run: RunDirectory,
    spec: EnvSpec,
    ticket: Ticket,
    seed: int,
    allow: Collection[str],
    skip: Collection[int] = (),
) -> Choose:
    """Return a function that samples the actions of each entry, as in evaluation; random ones for entries to skip."""
    cache = config.collector.cache_megabytes << 20
    actors = Actors(spec, policies_of(config), SnapshotStore(run.snapshots), cache, allow)
    numbers: list[int] = []
    for place, seated in enumerate(ticket.entries):
        entry = Entry(seated.player, None, "random") if place in skip else seated
        try:
            number = actors.number(entry, lambda: set(numbers))
        except ValueError as error:  # weights or a bot of another environment
            raise ViewError(f"{entry.player!r} cannot play {spec.name}: {error}") from error
        assert number is not None  # only live weights can be missing
        numbers.append(number)
    acting = Acting(spec, 1, actors, np.random.default_rng(seed))

    def choose(rows: Rows, entry: IntArray) -> Actions:
        acted = acting.act(rows, np.array(numbers, np.int16)[entry])
        for fault in acted.faults:
            raise ViewError(fault.reason)
        return acted.actions

    return choose


# --- descriptions --------------------------------------------------------------------------------------------


def describe_entry(entry: Entry) -> str:
    """Return who plays, and with which weights."""
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
        verdict = "a draw" if len(best) == len(ticket.entries) else f"{', '.join(dict.fromkeys(best))} wins"
    return f"\n{verdict} after {outcome.length} moves; returns: {', '.join(seats)}"
