"""The whole suite for an environment: the rules, the same episodes again and elsewhere, and its own project's returns.

findings = conform(build, seeds=range(1, 17), slots=8, returns=plan.returns, seconds=20.0)
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from collectors.conformance import (
    ADAPTER,
    LIMIT,
    MANY,
    Findings,
    Problem,
    Returns,
    RuleChecker,
    Ticks,
    Transcript,
    ended,
)
from collectors.envs.payments import Payments, why_differs
from collectors.envs.rows import Environment
from collectors.pace import Pace, TimeBudget

SEEDS = "reset(seed) must restore everything and seed every random generator, else no episode can be replayed."

FRESH = "Or set env.fresh=true: then the environment is rebuilt for each episode."


MORE = "ludus check-env --seconds gives it more"


def silent(what: str) -> None:
    """Tell nobody."""


def conform(
    build: Callable[[int], Environment],
    seeds: Sequence[int],
    slots: int = 4,
    returns: Returns | None = None,
    seconds: float = math.inf,
    **more: Any,
) -> Findings:
    """Play the same episodes in many slots, again, and in one slot; return every rule that was broken.

    `returns` plays the actions of an episode in PettingZoo's own loop and gives the return of each agent. `seconds`
    bound the whole: as many episodes are played as there is time for. `more` are the other fields of `Suite`.
    """
    return Suite(build, returns, TimeBudget(seconds), **more).run(seeds, slots)


@dataclass(slots=True)
class Suite:
    """The checks of one environment: `Suite(build, returns, TimeBudget(20)).run(range(1, 17), slots=8)`."""

    build: Callable[[int], Environment]
    returns: Returns | None
    budget: TimeBudget
    payments: Callable[[int, Ticks], Mapping[str, Payments]] | None = None  # see `collectors.envs.payments`
    max_steps: int = 0  # after which episodes are truncated
    tell: Callable[[str], None] = silent  # what is done next
    problems: dict[str, Problem] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def run(self, seeds: Sequence[int], slots: int) -> Findings:
        """Play the episodes of these seeds, or as many as there is time for."""
        transcripts, endless = self._first(seeds, slots)
        if endless:
            if not self.problems:
                self.notes.append(
                    f"{endless}, all there was time for ({self.budget.seconds:g} s): nothing that needs one was "
                    f"checked; {MORE}"
                )
            return self._findings(transcripts, None)
        played = [episode for episode in transcripts if ended(episode)]
        deterministic = self._repeat(played, min(slots, len(played)))
        if deterministic and self.returns is not None:
            self._compare_returns(played)
        return self._findings(played, deterministic)

    def _findings(self, transcripts: list[Transcript], deterministic: bool | None) -> Findings:
        return Findings(transcripts, tuple(self.problems.values()), deterministic, tuple(self.notes))

    def _first(self, seeds: Sequence[int], slots: int) -> tuple[list[Transcript], str]:
        """Play the episodes for the first time; return them, and a message if none ended."""
        if math.isinf(self.budget.seconds):
            return self._play(slots, seeds, first=True)
        self.tell("an episode")
        begin = time.monotonic()
        self.build(1).close()
        built = time.monotonic()
        alone, endless = self._play(1, seeds[:1], first=True, share=0.5)
        pace = Pace(built - begin, time.monotonic() - built)
        count, wide = pace.afford(0.7 * self.budget.left, slots, len(seeds))
        if endless or count == 1:
            return alone, endless
        self.tell(f"{count} episodes in {wide} slots")
        return self._play(wide, seeds[:count], first=True, share=0.5)

    def _repeat(self, played: list[Transcript], slots: int) -> bool | None:
        """Play the same episodes again, then in one slot; return whether they were the same; None if time was short."""
        if not played:
            return None
        if not self.budget.left:
            self.notes.append(f"there was no time to play an episode again, so nothing was compared; {MORE}")
            return None
        seeds = [episode.seed for episode in played]
        self.tell(f"the same {len(seeds)} episodes again")
        again = self._play(slots, seeds)[0]
        if _differ(played, again):
            self.problems["seed"] = Problem("the same seed and actions gave different rows", SEEDS)
            return False
        if again != played:
            return None  # a fault, which is a problem already, ended an episode of one of both
        if slots > 1 and self.budget.left:
            self.tell(f"the same {len(seeds)} episodes in one slot")
            if _differ(played, self._play(1, seeds)[0]):
                self.problems["slots"] = self._leak(seeds)
        elif math.isfinite(self.budget.seconds):
            self.notes.append(f"there was no time to compare episodes in different slots; {MORE}")
        return True

    def _leak(self, seeds: Sequence[int]) -> Problem:
        """Return why an episode differs in another slot: because of what played before it, or beside it."""
        fresh = [self._play(1, [seed])[0][0] for seed in seeds]
        if not _differ(fresh, self._play(len(seeds), seeds)[0]):
            return Problem("an episode depends on what the same environment object played before", f"{SEEDS} {FRESH}")
        return Problem(
            "an episode played alone differs from the same episode beside others",
            "Slots must share nothing that changes: no module globals, no class attributes, no global generator.",
        )

    def _compare_returns(self, played: Sequence[Transcript]) -> None:
        """Compare what the rows paid with what the environment's own project pays."""
        self.tell("episodes in the environment's own loop")
        assert self.returns is not None
        for one in played:
            if one.complete and not _same_returns(one, self.returns(one.seed, one.ticks)):
                self.problems["returns"] = self._wrong_returns(one)
                return
            if not self.budget.left:
                return

    def _wrong_returns(self, episode: Transcript) -> Problem:
        """Return who is paid wrongly: by the environment if its two ways to pay differ, else by the adapter."""
        both = {} if self.payments is None else self.payments(episode.seed, episode.ticks)
        for agent, got in both.items():
            if (found := why_differs(agent, got)) is not None:
                return Problem(f"{found.what} (seed {episode.seed})", found.remedy)
        return Problem(f"rewards of seed {episode.seed} do not add up to PettingZoo's", ADAPTER)

    def _play(
        self, slots: int, seeds: Sequence[int], first: bool = False, share: float = 1.0
    ) -> tuple[list[Transcript], str]:
        """Play these episodes; the first time, the time is limited to a share of what is left.

        Problems count each time: some appear only when an environment has played for a while.
        """
        seconds = share * self.budget.left if first else math.inf
        many = math.inf if self.max_steps else MANY
        checker = RuleChecker(self.build(slots), max(LIMIT, self.max_steps + 1), seconds, many)
        with closing(checker.env):
            transcripts = checker.play(seeds)
        self.problems = checker.problems | self.problems
        return transcripts, checker.endless


def _differ(played: Sequence[Transcript], again: Sequence[Transcript]) -> bool:
    """Return whether any episode differs; one that a fault ended on either side shows nothing."""
    pairs = zip(played, again, strict=True)
    return any(one != other for one, other in pairs if not (one.fault or other.fault))


def _same_returns(episode: Transcript, expected: Mapping[str, float]) -> bool:
    got = episode.returns
    return all(np.isclose(got.get(agent, 0.0), paid, rtol=1e-4, atol=1e-4) for agent, paid in expected.items())
