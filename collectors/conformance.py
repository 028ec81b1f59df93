"""The rules that every environment must obey: one suite for tests and for `ludus check-env`.

Actions depend only on the episode's seed, the agent and how often it has acted, so that an episode can be played in any
slot, beside any others, and must be the same there.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import BoolArray, Ends, Environment, Idle, Late, Rows
from collectors.envs.slots import no_option
from league.ids import derive_seed

Action = int | tuple[float, ...]
Ticks = list[dict[str, Action]]
Returns = Callable[[int, Ticks], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Problem:
    """A broken rule, and how to fix the environment."""

    what: str
    remedy: str


@dataclass(slots=True)
class Transcript:
    """One episode: every ACT row, every END row, the actions of each tick."""

    seed: int
    acts: list[tuple[int, bytes, bytes, float, bool]] = field(default_factory=list)
    ends: dict[int, tuple[float, bool, bytes]] = field(default_factory=dict)
    ticks: Ticks = field(default_factory=list)
    returns: dict[str, float] = field(default_factory=dict)
    decided: dict[int, int] = field(default_factory=dict)  # how often each agent has acted
    late: set[str] = field(default_factory=set)  # agents that got a reward after their end
    absent: frozenset[str] = frozenset()  # agents that did not take part
    ranks: tuple[int, ...] | None = None  # of seats, where returns alone do not decide
    complete: bool = False
    fault: str = ""

    def write(self, agent: int, name: str, action: Action, rows: Rows, row: int) -> None:
        """Add a decision."""
        reward = float(rows.reward[row])
        seen = (rows.observation[row].tobytes(), rows.mask[row].tobytes())
        self.acts.append((agent, *seen, reward, bool(rows.first[row])))
        self.ticks[-1][name] = action
        self.decided[agent] = self.decided.get(agent, 0) + 1
        self.returns[name] = self.returns.get(name, 0.0) + reward

    def pay(self, name: str, reward: float, late: bool) -> None:
        """Add a reward of an agent that never acted, or got it late, after its end."""
        self.returns[name] = self.returns.get(name, 0.0) + reward
        if late:
            self.late.add(name)

    def close(self, ends: Ends, place: int, agents: Sequence[str]) -> None:
        """Add the outcome; `place` is that of the episode among those that are over."""
        self.complete = True
        self.ranks = None if ends.ranks is None else tuple(ends.ranks[place].tolist())
        if ends.present is not None:
            self.absent = frozenset(agents[agent] for agent in (~ends.present[place]).nonzero()[0].tolist())


@dataclass(frozen=True, slots=True)
class Findings:
    """The results of the suite."""

    transcripts: list[Transcript]
    problems: tuple[Problem, ...]
    deterministic: bool | None  # None: no episode ended, so there was nothing to compare
    notes: tuple[str, ...] = ()  # allowed, but worth knowing

    @property
    def complete(self) -> list[Transcript]:
        """The episodes that ended."""
        return [episode for episode in self.transcripts if episode.complete]


ADAPTER = "This is the environment adapter's fault: compare it with the rules in collectors/envs/rows.py."

ENDLESS = (
    "Give the environment a limit on the length of an episode, such as max_cycles=500 (KEY=VALUE for check-env, "
    "env.kwargs in a run), or have its episodes truncated: env.max_steps=1000 (a batch of slots has to take max_steps "
    "for that)."
)

LIMIT = 10_000  # ticks that an episode may take
MANY = 1_000  # ticks after which an unfinished episode is the environment's problem, not a lack of time


class RuleChecker:
    """Plays episodes in an environment and collects the rules that it breaks.

    transcripts = RuleChecker(env).play([1, 2, 3])
    """

    def __init__(self, env: Environment, limit: int = LIMIT, seconds: float = math.inf, many: float = MANY) -> None:
        self.env = env
        self.limit = limit  # ticks of one episode
        self.many = many  # ticks without an end that are the environment's problem, not a lack of time
        self.problems: dict[str, Problem] = {}
        self.endless = ""  # a message, if no episode ended in time
        self._until = time.monotonic() + seconds
        self._playing: dict[int, Transcript] = {}

    def play(self, seeds: Sequence[int]) -> list[Transcript]:
        """Play one episode for each seed; return them in the order of the seeds.

        If time is up, those that have not ended are left as they are.
        """
        waiting = [Transcript(seed) for seed in seeds]
        transcripts = list(waiting)
        self._start(waiting)
        while self._playing:
            rows = self.env.rows()
            actions = self._check_rows(rows)
            ends = self.env.step(actions)
            self._check_ends(ends)
            if not len(rows) and not len(ends.over) and not ends.faults:
                self._note("slots play but have no rows", ADAPTER)
                break
            if self._lasts_too_long(transcripts):
                break
            self._start(waiting)
        return transcripts

    def _lasts_too_long(self, transcripts: Sequence[Transcript]) -> bool:
        """Return whether an episode reached the limit, or time is up; note the problem if none ended."""
        ticks, none_ended = max(map(_ticks, self._playing.values()), default=0), not any(map(ended, transcripts))
        if ticks < self.limit and time.monotonic() <= self._until:
            return False
        longest = max((len(one.ticks) for one in transcripts if ended(one)), default=ticks)
        if ticks < self.limit and not none_ended and ticks < max(self.many, 10 * longest):
            return True  # it may well end
        self.endless = f"no episode ended within {ticks:,} steps"
        if not none_ended:
            self._note(f"an episode did not end within {ticks:,} steps, though others did", ENDLESS)
        elif ticks >= min(self.limit, self.many):
            self._note(self.endless, ENDLESS)
        return True

    def _start(self, waiting: list[Transcript]) -> None:
        free = [slot for slot in range(self.env.slots) if slot not in self._playing][: len(waiting)]
        for slot in free:
            self._playing[slot] = waiting.pop(0)
        seeds = [self._playing[slot].seed for slot in free]
        self.env.start(np.array(free, dtype=np.int32), np.array(seeds, dtype=np.int64))

    def _check_rows(self, rows: Rows) -> npt.NDArray[Any]:
        """Note the problems of rows, and choose an action for each."""
        spec, count = self.env.spec, len(rows)
        shapes = (rows.observation.shape, str(rows.observation.dtype), rows.mask.shape, str(rows.mask.dtype))
        if shapes != ((count, *spec.observation.shape), spec.observation.dtype, (count, spec.actions), "bool"):
            self._note(f"rows have {shapes}, which is not what the spec says", ADAPTER)
        for slot in set(rows.slot.tolist()) & set(self._playing):
            self._playing[slot].ticks.append({})
        chosen = [self._check_row(rows, row) for row in range(count)]
        return np.array(chosen, dtype=spec.action.dtype).reshape(count, *spec.action.shape)

    def _check_row(self, rows: Rows, row: int) -> Action:
        """Note the problems of one row; return its action."""
        slot, agent = int(rows.slot[row]), int(rows.agent[row])
        name = self.env.spec.agents[agent]
        if no_option(self.env.spec, rows.mask[[row]])[0]:
            self._note(f"the mask of agent {name!r} is empty", "Every agent that must act needs a legal action.")
            return self._choose(np.ones_like(rows.mask[row]), 0, agent, 0)
        episode = self._playing.get(slot)
        if episode is None:
            self._note("a free slot has rows", ADAPTER)
            return self._choose(rows.mask[row], 0, agent, 0)
        number = episode.decided.get(agent, 0)
        if agent in episode.ends:
            self._note(f"agent {name!r} must act after its end", ADAPTER)
        if bool(rows.first[row]) != (number == 0):
            self._note(f"the first flag of agent {name!r} is wrong", ADAPTER)
        if name in episode.ticks[-1]:
            self._note(f"agent {name!r} has two rows in one tick", ADAPTER)
        action = self._choose(rows.mask[row], episode.seed, agent, number)
        episode.write(agent, name, action, rows, row)
        return action

    def _choose(self, mask: BoolArray, seed: int, agent: int, number: int) -> Action:
        """Return the action that follows from the seed, the agent and the number of its decision."""
        spec = self.env.spec
        if spec.single:
            legal = np.flatnonzero(mask)
            return int(legal[derive_seed(seed, "conformance", agent, number) % len(legal)])
        parts, begin = [], 0
        for part, count in enumerate(spec.heads):
            legal = np.flatnonzero(mask[begin : begin + count])
            parts.append(float(legal[derive_seed(seed, "conformance", agent, number, part) % len(legal)]))
            begin += count
        samples = (derive_seed(seed, "number", agent, number, part) % 1024 for part in range(spec.continuous))
        return (*parts, *(sample / 512 - 1 for sample in samples))

    def _check_ends(self, ends: Ends) -> None:
        for row in range(len(ends.slot)):
            self._check_end(ends, row)
        others: tuple[Idle | Late, ...] = (*ends.idle, *ends.late)
        for paid in others:
            if paid.slot in self._playing:
                self._playing[paid.slot].pay(self.env.spec.agents[paid.agent], paid.reward, isinstance(paid, Late))
        for place, slot in enumerate(ends.over.tolist()):
            episode = self._playing.pop(slot, None)
            if episode is None or set(episode.ends) != set(episode.decided):
                self._note("an episode was over, but not every agent that acted had its END row", ADAPTER)
            if episode is not None:
                episode.close(ends, place, self.env.spec.agents)
        for fault in ends.faults:
            if fault.slot in self._playing:
                self._playing.pop(fault.slot).fault = fault.reason
            self._note(fault.reason, "Fix the environment; the league voids every match in which this happens.")

    def _check_end(self, ends: Ends, row: int) -> None:
        slot, agent = int(ends.slot[row]), int(ends.agent[row])
        name = self.env.spec.agents[agent]
        episode = self._playing.get(slot)
        if episode is None or agent not in episode.decided:
            self._note(f"agent {name!r} got an END row though it never acted", ADAPTER)
            return
        if agent in episode.ends:
            self._note(f"agent {name!r} got two END rows", ADAPTER)
        reward, truncated = float(ends.reward[row]), bool(ends.truncated[row])
        final = ends.observation[row].tobytes() if truncated else b""
        episode.ends[agent] = (reward, truncated, final)
        episode.returns[name] = episode.returns.get(name, 0.0) + reward

    def _note(self, what: str, remedy: str) -> None:
        self.problems.setdefault(what, Problem(what, remedy))


def _ticks(episode: Transcript) -> int:
    return len(episode.ticks)


def ended(episode: Transcript) -> bool:
    """Whether an episode is over, or broke."""
    return episode.complete or bool(episode.fault)
