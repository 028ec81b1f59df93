"""The table of docs/environments.md: one row for each environment, replaced where the sweep has played it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.known_environments import KNOWN, Known
from league.spec import EnvSpec


@dataclass(frozen=True, slots=True)
class Pace:
    """Decisions in a CPU second: through rows, in the project's own loop, and the ratio of the two in turns."""

    own: float = 0.0
    bare: float = 0.0
    ratio: float = 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """What the sweep found of one environment."""

    id: str
    spec: EnvSpec | None
    problems: list[str]
    rule: str = ""  # who wins
    pace: Pace = field(default_factory=Pace)


def who_wins(spec: EnvSpec, rule: str) -> str:
    """Return the rule in short.

    >>> from collectors.envs.native.connect_four import SPEC
    >>> who_wins(SPEC, "the highest return wins")
    'highest return'
    """
    if spec.cooperative:
        return "nobody: returns count"
    return "named in infos" if "infos" in rule else "highest return"


def seats_of(spec: EnvSpec) -> str:
    """Return the seats in short.

    >>> from collectors.envs.native.connect_four import SPEC
    >>> seats_of(SPEC)
    '2 x player'
    """
    counts: dict[str, int] = {}
    for seat in spec.seats:
        name = seat.role if len(seat.agents) == 1 else f"{seat.role} ({len(seat.agents)})"
        counts[name] = counts.get(name, 0) + 1
    text = ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())
    return f"{text}; together" if spec.cooperative and len(spec.seats) > 1 else text


def actions_of(spec: EnvSpec) -> str:
    """Return the actions in short."""
    parts = [" x ".join(map(str, spec.heads))] if spec.heads else []
    return " + ".join([*parts, *([f"{spec.continuous} continuous"] if spec.continuous else [])])


def row(line: Line) -> str:
    """Return a row of the table in Markdown."""
    known = KNOWN.get(line.id, Known(""))
    if line.spec is None:
        return f"| `{line.id}` | {known.api} | | | | | **no** | | | | | {line.problems[0]} |"
    seen = f"{line.spec.observation.dtype} {'x'.join(map(str, line.spec.observation.shape))}"
    mark = "yes" if not line.problems else "**no**"
    told = "; ".join(filter(None, [*line.problems, known.remark]))
    cells = [f"`{line.id}`", known.api, str(len(line.spec.agents)), seats_of(line.spec), actions_of(line.spec), seen]
    speeds = [f"{line.pace.own:,.0f}", f"{line.pace.bare:,.0f}", f"{line.pace.ratio:.2g}"]
    return f"| {' | '.join([*cells, mark, line.rule, *speeds, told])} |"


COLUMNS = "environment, API, agents, seats, actions, observation, passes, who wins, decisions/s, bare, ratio, remarks"
HEAD = (f"| {COLUMNS.replace(', ', ' | ')} |", "|---" * 12 + "|")
BEGIN, END = "<!-- the sweep writes this: begin -->", "<!-- the sweep writes this: end -->"


def _place(id: str) -> int:
    return list(KNOWN).index(id) if id in KNOWN else len(KNOWN)


def renewed(page: str, rows: Mapping[str, str], versions: str) -> str:
    """Return a page with these rows, by id, in its table; rows of other environments stay as they are.

    >>> page = renewed(f"text {BEGIN}{END}", {"b": "| `b` | old |"}, "Zoo 1.0")
    >>> renewed(page, {"a": "| `a` | new |", "b": "| `b` | new |"}, "Zoo 1.1").splitlines()[-4:-2]
    ['| `b` | new |', '| `a` | new |']
    """
    before, rest = page.split(BEGIN)
    table, after = rest.split(END)
    old = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}
    merged = old | dict(rows)
    families = list(dict.fromkeys(id.partition("/")[0] for id in (*KNOWN, *merged)))
    order = sorted(merged, key=lambda id: (families.index(id.partition("/")[0]), _place(id)))
    lines = [BEGIN, "", f"{versions}.", "", *HEAD, *(merged[id] for id in order), "", END]
    return before + "\n".join(lines) + after
