"""Lessons: decisions to be imitated, as segments whose actions are those of an expert.

    lessons = Lessons(capacity=500_000)
    lessons.add(read_lessons("games", spec))            # a data set of games: `ludus export RUN --to games`
    segments = lessons.sample(4096, rng)                # whole lanes, at least so many decisions

A lane has one episode of one seat; longer ones are cut into several. Data sets hold no ticks: agents of one seat that
decided one after the other in the order of their places are taken to have decided together.

Legend of shapes: see league.segment.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from league.errors import InputError
from league.ids import PlayerId
from league.policies.actions import legal
from league.segment import CONTINUES, CUT, TERMINATED, Segments
from league.spec import EnvSpec, Seat
from league.store.game_file import Games, GamesCard, read_games
from learners.batcher import join

TICKS = 256  # of a lane, at most
MOST_TESTED = 4096  # decisions that are held out, at most: they are judged after each update
COMPARED = ("agents", "seats", "observation", "actions", "heads", "continuous")  # what a data set must have in common

Index = npt.NDArray[np.intp]


class LessonsError(InputError):
    """A data set that cannot be imitated here; the message says what differs, or what is missing."""


@dataclass(slots=True)
class Lessons:
    """What a player imitates; the oldest lanes are forgotten when there are more decisions than `capacity`."""

    capacity: int
    decisions: int = 0
    _parts: deque[Segments] = field(default_factory=deque)

    def add(self, segments: Segments) -> None:
        """Keep segments; forget the oldest ones beyond the capacity."""
        self._parts.append(segments)
        self.decisions += segments.decisions
        while self.decisions > self.capacity and len(self._parts) > 1:
            self.decisions -= self._parts.popleft().decisions

    @property
    def newest(self) -> Segments | None:
        """The segments that were added last."""
        return self._parts[-1] if self._parts else None

    def sample(self, decisions: int, rng: np.random.Generator) -> Segments:
        """Return lanes in random order that have so many decisions together, or all that there are."""
        held = np.concatenate([part.present.sum(axis=(1, 2)) for part in self._parts])
        order = rng.permutation(len(held))
        chosen = order[: int(held[order].cumsum().searchsorted(decisions)) + 1]
        first = np.cumsum([0, *(len(part.length) for part in self._parts)])
        inside = [chosen[(chosen >= a) & (chosen < b)] - a for a, b in pairwise(first)]
        return join([pick(part, lanes) for part, lanes in zip(self._parts, inside, strict=True) if len(lanes)])


def pick(segments: Segments, lanes: Index) -> Segments:
    """Return some lanes of segments, in this order."""
    place = np.full(len(segments.length), -1, np.int32)
    place[lanes] = np.arange(len(lanes), dtype=np.int32)
    mine = place[segments.tail_lane] >= 0
    arrays = {name: a[mine] if name.startswith("tail_") else a[lanes] for name, a in segments.arrays().items()}
    arrays["tail_lane"] = place[arrays["tail_lane"]]
    return Segments(segments.player, segments.incarnation, **arrays)


def share_of(segments: Segments, rank: int, ranks: int) -> Segments:
    """Return the lanes that one of several ranks learns from; raise LessonsError if there is none for it."""
    lanes = np.arange(rank, len(segments.length), ranks)
    if not len(lanes):
        raise LessonsError(f"algo.data: {len(segments.length)} lanes are too few for {ranks} ranks")
    return segments if ranks == 1 else pick(segments, lanes)


def divided(segments: Segments, share: float) -> tuple[Segments, Segments | None]:
    """Return most lanes, and a share that is held out: evenly spread, and not much more than is needed for a test."""
    lanes = np.arange(len(segments.length))
    out = np.floor((lanes + 1) * share) > np.floor(lanes * share)
    out &= np.cumsum(segments.present.sum(axis=(1, 2)) * out) <= MOST_TESTED
    if not out.any() or out.all():
        return segments, None
    return pick(segments, np.flatnonzero(~out)), pick(segments, np.flatnonzero(out))


def read_lessons(folder: str, spec: EnvSpec, players: Sequence[str] = ()) -> Segments:
    """Return the decisions of a data set, of those players whom `players` names; raise LessonsError if it has none."""
    parts, names = [], dict[str, None]()
    for games in read_games(Path(folder)):
        refuse_unfit(games, spec, folder)
        names |= dict.fromkeys(who_decides(games))
        wanted = [is_named(name, players) for name in games.card.players]
        chosen = np.flatnonzero(np.array(wanted, np.bool_)[games.player])
        if len(chosen):
            parts.append(lanes_of(games, spec, chosen))
    refuse_nobody(folder, names, players)
    return join(parts)


def refuse_unfit(games: Games, spec: EnvSpec, folder: str) -> None:
    """Raise LessonsError if games are of another environment, or have actions that nobody can take."""
    refuse_other(games.card, spec, folder)
    if not legal(spec, games.action, games.mask).all():
        raise LessonsError(f"algo.data={folder}: it has actions that its own masks do not allow")


def who_decides(games: Games) -> list[str]:
    """Return the names of the players that have decisions in a file, in the order of their numbers."""
    return [games.card.players[number] for number in np.unique(games.player)]


def is_named(name: str, players: Sequence[str]) -> bool:
    """Whether `players`, names and patterns, name this one; an empty list names everybody.

    >>> [is_named(name, ["main.*"]) for name in ("main.0", "main", "main_exploiter.0")]
    [True, False, False]
    """
    return not players or any(fnmatchcase(name, one) for one in players)


def refuse_nobody(folder: str, names: Collection[str], players: Sequence[str]) -> None:
    """Raise LessonsError unless a data set has decisions of somebody whom `players` names."""
    if not names:
        raise LessonsError(
            f"algo.data={folder}: there is no decision in it. Write games with: ludus export RUN --to games"
        )
    if not any(is_named(name, players) for name in names):
        raise LessonsError(
            f"algo.data={folder}: no decision there is of {', '.join(players)}; players are "
            f"{', '.join(list(names)[:20])}. Correct algo.players (main.* stands for all that main froze, not for main)"
        )


def refuse_other(card: GamesCard, spec: EnvSpec, folder: str) -> None:
    """Raise LessonsError, with all differences in one line, if a data set is of another environment or seat layout."""
    if unlike := list(differences(card.spec, spec)):
        raise LessonsError(f"algo.data={folder}: these games are of another environment: {'; '.join(unlike)}")


def differences(theirs: EnvSpec, ours: EnvSpec) -> Iterator[str]:
    """Yield in what a player would see, do or control something else."""
    for name in COMPARED:
        there, here = _shown(getattr(theirs, name)), _shown(getattr(ours, name))
        if there != here:
            yield f"{name} {there} in the data, {here} here"


def _shown(value: Any) -> str:
    if hasattr(value, "dtype"):
        return f"{value.dtype} {value.shape}"
    if isinstance(value, tuple):
        return " ".join(f"{one.role}{list(one.agents)}" if isinstance(one, Seat) else str(one) for one in value)
    return str(value)


def lanes_of(games: Games, spec: EnvSpec, chosen: Index) -> Segments:
    """Return these decisions of some games as lanes."""
    seat, place = np.zeros((2, len(spec.agents)), np.intp)
    for number, one in enumerate(spec.seats):
        seat[list(one.agents)], place[list(one.agents)] = number, np.arange(len(one.agents))
    agent = games.agent[chosen].astype(np.intp)
    order = np.lexsort((np.arange(len(chosen)), seat[agent], games.episode[chosen]))
    chosen, agent = chosen[order], agent[order]  # seat by seat, in the order of time
    lane, tick = _ticks(games.episode[chosen] * len(spec.seats) + seat[agent], place[agent])
    agents = max(len(one.agents) for one in spec.seats)
    return _segments(games, chosen, (lane, tick, place[agent]), agents)


def _ticks(group: Index, place: Index) -> tuple[Index, Index]:
    """Return the lane and the tick of decisions that are sorted by group, the episode of a seat."""
    starts = np.diff(group, prepend=-1) != 0
    later = np.diff(place, prepend=-1) <= 0  # the agent, or one before it, has decided already
    count = np.cumsum(starts | later)
    tick = count - np.repeat(count[starts], np.diff([*np.flatnonzero(starts), len(group)]))
    lane = np.cumsum(starts | (np.diff(tick // TICKS, prepend=0) != 0)) - 1
    return lane, tick % TICKS


def _segments(games: Games, chosen: Index, where: tuple[Index, Index, Index], agents: int) -> Segments:
    lane, tick, place = where
    lanes, ticks = int(lane[-1]) + 1, int(tick.max()) + 1
    following = _following(games, chosen)
    cut = (following >= 0) & (lane[following] != lane)
    end = np.where(games.last[chosen], TERMINATED, CONTINUES).astype(np.uint8)
    end[cut | (games.last[chosen] & games.truncated[chosen])] = CUT
    tails = np.flatnonzero(end == CUT)
    tail = chosen[np.where(cut[tails], following[tails], tails)]  # the last observation of a truncated one is unknown

    def spread(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        wide = np.zeros((lanes, ticks, agents, *array.shape[1:]), array.dtype)
        wide[lane, tick, place] = array
        return wide

    length = np.zeros(lanes, np.int32)
    np.maximum.at(length, lane, tick.astype(np.int32) + 1)
    return Segments(
        player=PlayerId("lessons"),
        incarnation=0,
        observation=spread(games.observation[chosen]),
        mask=spread(games.mask[chosen]),
        action=spread(games.action[chosen]),
        log_prob=np.zeros((lanes, ticks, agents), np.float32),
        reward=spread(games.reward[chosen]),
        end=spread(end),
        present=spread(np.ones(len(chosen), np.bool_)),
        length=length,
        version=np.zeros(lanes, np.int32),
        tail_lane=lane[tails].astype(np.int32),
        tail_tick=tick[tails].astype(np.int32),
        tail_agent=place[tails].astype(np.int32),
        tail_observation=games.observation[tail],
        tail_mask=games.mask[tail],
    )


def _following(games: Games, chosen: Index) -> Index:
    """Return which of the chosen decisions is the same agent's next one in its episode; -1: none."""
    order = np.lexsort((chosen, games.agent[chosen], games.episode[chosen]))
    mine = games.episode[chosen][order].astype(np.int64) * len(games.card.spec.agents) + games.agent[chosen][order]
    following = np.full(len(chosen), -1, np.intp)
    same = mine[1:] == mine[:-1]
    following[order[:-1][same]] = order[1:][same]
    return following


def relabelled(segments: Segments, actions: npt.NDArray[Any]) -> Segments:
    """Return segments with other actions, one for each present decision, and without what their player remembered."""
    action = segments.action.copy()
    action[segments.present] = actions
    return replace(segments, action=action, memory=None)
