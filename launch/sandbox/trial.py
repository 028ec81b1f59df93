"""Trials of an environment before a league trusts it, as orders that a process of its own can carry out.

    perform(Try(env=config.env, slots=2), tell=print)      # here
    main("/tmp/trial")                                     # in the process that `launch.sandbox.apart` starts

The directory has the order, and gets the answer, the last note on the current stage, and the stack at a crash. All of
them are text.
"""

import faulthandler
import json
import os
import signal
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from collectors.check import CHECK_SECONDS, EPISODES, check, try_out
from collectors.conformance import ENDLESS, LIMIT, MANY
from collectors.env_report import EnvReport
from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.names import BACKENDS
from collectors.envs.rows import BuildsSlots, Compiles, Environment, HasGuesses
from collectors.envs.watched import BUILD, Tell, Watched, silent
from collectors.outcome_notes import ENOUGH, constant_sum, look_at_outcomes
from collectors.played_episodes import PlayedEpisodes
from collectors.players.scripted import make_bots
from launch.config.approvals import with_given
from launch.config.env_words import compose_environment
from launch.sandbox.payoff_choice import settled
from launch.spawn.exit_code import INTERRUPTED
from launch.spawn.lifeline import end_with_parent
from league.payoff import AUTO
from league.player import Player
from league.rulebook import LeagueConfig, founders
from league.spec import EnvSpec

ENDS = DONE, FAILED = "done", "failed"  # the last notes of a process that came to its end
NOTICED = 5.0  # seconds without a sign of life that somebody notices
WIDTH = 40  # of a note: each covers all of the one before


class Try(msgspec.Struct, frozen=True, tag=True):
    """Build an environment, play in it for a moment, ask a league's bots for moves, and answer with what that showed.

    If the league has to choose what counts as better, more episodes are played.
    """

    env: EnvConfig
    slots: int
    league: LeagueConfig | None = None
    allow: tuple[str, ...] = ()
    wanted: int = 0  # slots that each collector will have


class Check(msgspec.Struct, frozen=True, tag=True):
    """Do what `ludus check-env ENV KEY=VALUE ...` does, and answer with what it found."""

    env: str
    words: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    episodes: int = EPISODES
    seconds: float = CHECK_SECONDS


class Checked(msgspec.Struct, frozen=True):
    """Whether an environment is fit for a league, and the report for people and for programs."""

    fit: bool
    lines: list[str]
    plain: dict[str, Any]

    @classmethod
    def of(cls, report: EnvReport) -> "Checked":
        """Return what a report says."""
        return cls(report.fit, report.lines(), report.plain())


class Tried(msgspec.Struct, frozen=True):
    """What a trial showed: the spec, by how much one side led at the end of each episode, and for how long."""

    spec: EnvSpec
    margins: list[float]
    ticks: int = 0
    notes: list[str] = []  # how long it compiled, guesses about seats and sides, what episodes showed about who wins
    returns: bool = False  # whether to keep returns beside scores: it is not zero-sum, or its roles differ
    longest: int = 0  # ticks without an end that are too many; 0: any number is fine
    turns: list[int] = []  # seats of several agents that act in turns

    @property
    def never_ends(self) -> bool:
        """Whether no episode ended though there was time for a very long one."""
        return bool(self.longest) and not self.margins and self.ticks >= self.longest

    @property
    def endless(self) -> str:
        """A warning if no episode ended though there was time for one, by the rule of `ludus check-env`; else ""."""
        if self.margins or self.ticks < MANY:
            return ""
        return f"no episode of {self.spec.name} ended in {self.ticks:,} steps of random play. {ENDLESS}"


Order = Try | Check


class TrialFiles:
    """The files of one order."""

    def __init__(self, root: Path) -> None:
        self.order, self.answer = root / "order.json", root / "answer.json"
        self.note, self.stack = root / "note", root / "stack"

    def put(self, order: Order) -> None:
        """Write the order, by Python's own JSON: kwargs may be infinite."""
        self.order.write_text(json.dumps(msgspec.to_builtins(order)))

    def take(self) -> Order:
        """Return the order."""
        order: Order = msgspec.convert(json.loads(self.order.read_text()), type=Order)
        return order

    def stage(self) -> str:
        """Return the stage that was noted last; empty before the first."""
        return self.noted()[WIDTH : 2 * WIDTH].strip()

    def noted(self) -> str:
        """Return the last note with its number, which differs from that of other notes of the same stage."""
        return self.note.read_text() if self.note.exists() else ""


class Notes:
    """Notes each stage where another process can read it, cheaply: there may be thousands in a second."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT)
        self._count = 0

    def note(self, stage: str) -> None:
        """Note the stage that begins."""
        self._count += 1
        os.pwrite(self._file, f"{self._count:<{WIDTH}}{stage:<{WIDTH}}".encode(), 0)

    def progress(self, part: str) -> None:
        """Note the part of a check that begins, behind the stage."""
        os.pwrite(self._file, f"{part:<{2 * WIDTH}.{2 * WIDTH}}".encode("ascii", "replace"), 2 * WIDTH)


def perform(order: Order, tell: Tell = silent, progress: Tell = silent) -> bytes:
    """Carry out an order, and return the answer as JSON."""
    tell(BUILD)
    if isinstance(order, Check):
        return msgspec.json.encode(_check(order, tell, progress))
    return msgspec.json.encode(_try(order, tell))


def _try(order: Try, tell: Tell) -> Tried:
    env = Watched(make_environment(order.env, order.slots, order.allow), tell)
    try:
        players = [] if order.league is None else founders(order.league, env.spec.roles)
        return try_environment(env, players, order.league, order.allow, order.env, order.wanted)
    finally:
        env.close()


def try_environment(
    env: Environment,
    players: Sequence[Player],
    league: LeagueConfig | None,
    allow: Collection[str],
    config: EnvConfig,
    wanted: int = 0,
) -> Tried:
    """Play in an environment at random, with the bots among some players: as long as the league has to choose."""
    choosing = league is not None and league.payoff.by == AUTO and len(set(env.spec.sides)) == 2
    bots = make_bots(players, env.spec, allow)
    enough = bool if env.spec.cooperative else partial(_enough, choosing)
    compiled = [told] if isinstance(env, Compiles) and (told := env.prepare()) else []
    seconds = env.build_slots(lambda *_: None) if isinstance(env, BuildsSlots) else 0.0
    compiled += slow_to_build(env.spec.name, seconds, wanted)
    played = try_out(env, bots=bots, enough=enough, longest=longest(config))
    kept = not env.spec.cooperative and (env.spec.asymmetric or not constant_sum(played.played))
    notes = compiled + _notes(env, played.played, config)
    return Tried(env.spec, played.margins, played.ticks, notes, kept, longest(config), played.turns)


def slow_to_build(name: str, seconds: float, slots: int) -> list[str]:
    """Return a note if a collector needs so long to build its slots that somebody would wonder.

    >>> slow_to_build("my_games:Rome", 3.0, 64)[0]          # doctest: +ELLIPSIS
    'my_games:Rome takes 3 s to build, so each collector needs about 192 s for its 64 slots before it plays; its log...'
    """
    if seconds * slots < NOTICED:
        return []
    return [
        f"{name} takes {seconds:.2g} s to build, so each collector needs about {seconds * slots:.0f} s for its {slots} "
        f"slots before it plays; its log counts them. Fewer: collector.slots={max(1, slots // 8)}"
    ]


def _enough(choosing: bool, margins: Sequence[float]) -> bool:
    """Whether episodes show who wins, and, if the league has to choose, what counts as better."""
    return len(margins) >= 2 * ENOUGH and (not choosing or settled(margins))


def _notes(env: Environment, played: PlayedEpisodes, config: EnvConfig) -> list[str]:
    """Return what to say about seats, sides and outcomes before a run."""
    guesses = list(env.guesses) if isinstance(env, HasGuesses) else []
    if not len(played):
        return guesses
    _, found = look_at_outcomes(env.spec, played, config)
    return guesses + [f"warning: {note.text}" if note.grave else note.text for note in found]


def longest(env: EnvConfig) -> int:
    """Return after how many ticks without an end a run is refused: with env.max_steps every episode ends.

    Batches of slots, which need not take env.max_steps, have ten times as many.
    """
    if env.max_steps:
        return 0
    return LIMIT if env.name in BACKENDS else 10 * LIMIT


def _check(order: Check, tell: Tell, progress: Tell) -> Checked:
    config = compose_environment(order.env, order.words, order.allow)
    allow = with_given(config, order.allow)
    found = check(config, allow=allow, episodes=order.episodes, tell=tell, seconds=order.seconds, progress=progress)
    return Checked.of(found)


def main(directory: str) -> None:
    """Carry out the order in a directory."""
    end_with_parent()
    files = TrialFiles(Path(directory))
    order, notes = files.take(), Notes(files.note)
    with files.stack.open("w") as stack:
        faulthandler.enable(stack, all_threads=False)
        faulthandler.register(signal.SIGUSR1, stack, all_threads=False)
        try:
            files.answer.write_bytes(perform(order, notes.note, notes.progress))
            notes.note(DONE)
        except KeyboardInterrupt:  # the parent got it as well
            os._exit(INTERRUPTED)
        except Exception:  # the parent performs the order again, and raises the error where it can be seen
            notes.note(FAILED)
        faulthandler.disable()
        faulthandler.unregister(signal.SIGUSR1)
