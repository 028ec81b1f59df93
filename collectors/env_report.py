"""The report of `ludus check-env`, as text and as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from collectors.conformance import Problem
from league.spec import EnvSpec


@dataclass(slots=True)
class EnvReport:
    """The findings: `for line in check("connect_four").lines(): print(line)` shows them."""

    name: str
    spec: EnvSpec | None = None
    spaces: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # what each agent sees and does
    guesses: list[str] = field(default_factory=list)  # about seats and sides: why, and what changes it
    outcome: str = ""  # who wins an episode; empty without a complete one
    episodes: int = 0
    zero_sum: bool | None = None  # None: no complete episode, or no reward at all
    deterministic: bool | None = None
    length: tuple[float, int] = (0.0, 0)  # decisions in an episode: median and longest
    steps_per_second: float = 0.0
    notes: list[str] = field(default_factory=list)  # allowed, but worth knowing
    warnings: list[str] = field(default_factory=list)  # wrong, but a league can still be trained
    problems: list[Problem] = field(default_factory=list)

    @property
    def fit(self) -> bool:
        """Whether a league can be trained on it."""
        return self.spec is not None and not self.problems

    def plain(self) -> dict[str, Any]:
        """Return the report for programs: `fit`, and every field of this class under its name."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return {"name": self.name, "fit": self.fit, **plain}

    def lines(self) -> list[str]:
        """Return the report as text."""
        count = len(self.problems)
        verdict = "fit for a league" if self.fit else f"{count} problem{'' if count == 1 else 's'}"
        lines = [f"{self.name}: {verdict}"]
        for problem in self.problems:
            lines += [f"  problem        {problem.what}", f"    remedy       {problem.remedy}"]
        lines += [f"  warning        {warning}" for warning in self.warnings]
        lines += _spec_lines(self.spec, self.spaces) if self.spec is not None else []
        if self.episodes:
            median, longest = self.length
            lines += [f"  outcome        {self.outcome}"] if self.spec and not self.spec.cooperative else []
            lines += [
                f"  zero-sum       {_word(self.zero_sum)}",
                f"  deterministic  {_determinism(self.deterministic)}",
                f"  episode        {median:g} decisions (median), {longest} (longest of {self.episodes})",
                f"  speed          {self.steps_per_second:,.0f} decisions/s with random actions",
            ]
        lines += [f"  guess          {guess}" for guess in self.guesses]
        return [*lines, *(f"  note           {note}" for note in self.notes)]


def _word(answer: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[answer]


def _determinism(answer: bool | None) -> str:
    if answer is None:
        return _word(answer)
    return f"{_word(answer)}: the same seed and actions gave {'the same' if answer else 'different'} rows"


def _spec_lines(spec: EnvSpec, spaces: Mapping[str, tuple[str, str]]) -> list[str]:
    seats = [f"{seat.role}: {', '.join(spec.agents[agent] for agent in seat.agents)}" for seat in spec.seats]
    lines = [
        f"  seats          {len(seats)} ({'; '.join(seats)})",
        f"  roles          {', '.join(dict.fromkeys(spec.roles))}",
        f"  sides          {_sides(spec)}",
    ]
    for (seen, done), agents in _alike(spaces).items():
        lines += [f"  {'agent' if len(agents) == 1 else 'agents'}{' ' * (9 + (len(agents) == 1))}{', '.join(agents)}"]
        lines += [f"    sees         {seen}", f"    acts         {done}"]
    return [
        *lines,
        f"  observation    {spec.observation.dtype} {list(spec.observation.shape)}",
        f"  actions        {_actions(spec)}",
    ]


def _alike(spaces: Mapping[str, tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
    """Return the agents of each pair of spaces."""
    alike: dict[tuple[str, str], list[str]] = {}
    for agent, both in spaces.items():
        alike.setdefault((_short(both[0]), _short(both[1])), []).append(agent)
    return alike


def _short(text: str) -> str:
    """Return a space on one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:157]}..."


def _sides(spec: EnvSpec) -> str:
    """Describe which seats win and lose together."""
    if len(spec.seats) == 1:
        return "one seat: nobody is beaten, its return counts"
    if spec.cooperative:
        return "all seats on one side: nobody is beaten, returns count"
    if len(set(spec.sides)) == len(spec.seats):
        return "each seat on its own"
    teams = [[str(seat) for seat, side in enumerate(spec.sides) if side == one] for one in dict.fromkeys(spec.sides)]
    return " against ".join(f"seats {'+'.join(team)}" for team in teams)


def _actions(spec: EnvSpec) -> str:
    """Describe the parts of an action.

    >>> from league.spec import Array, Seat
    >>> _actions(EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=5, choices=(2, 3), continuous=1))
    'choices of 2, 3 options; 1 continuous'
    """
    if spec.single:
        return str(spec.actions)
    choices = [f"choices of {', '.join(map(str, spec.heads))} options"] if spec.heads else []
    return "; ".join([*choices, *([f"{spec.continuous} continuous"] if spec.continuous else [])])
