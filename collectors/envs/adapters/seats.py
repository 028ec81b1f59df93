"""Default seats: which agents form a seat, which seats share a role, and which form a side.

Names and spaces do not show who shares a reward. So known environments are in a table, and for all others:

- Agents that move in turns each have a seat of their own, and are on their own.
- Agents that move at once and have different names are teams by name: `wolf_0, wolf_1` against `sheep_0`. Names that
  consist of a team and a task, as `redmelee` and `redranged`, are seats of one side.
- Agents that move at once and have one name each have a seat of their own, and are on their own.

A layout says why it is as it is, and which settings change it.

`env.seats`, `env.roles` and `env.sides` overrule all of it. If only seats are given, teams remain sides: predators with
a seat each hunt together.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from collectors.envs.adapters.team_names import ALIKE, base_name, shared_beginnings, task_name
from league.spec import EnvSpec, Seat


@dataclass(frozen=True, slots=True)
class SeatLayout:
    """The agents of each seat, as patterns; without any, each agent has a seat. Co-operative: all on one side.

    `sides` names the side of each of the teams, if some of them win together. `why` is empty for what is known.
    """

    teams: tuple[tuple[str, ...], ...] = ()
    cooperative: bool = False
    sides: tuple[str, ...] = ()
    why: str = ""


ONE_TEAM = SeatLayout((("*",),), cooperative=True)
PREDATORS = SeatLayout((("adversary_*",), ("agent_*",)))
PONG_PAIRS = SeatLayout((("first_0", "third_0"), ("second_0", "fourth_0")))
KNOWN = {
    # One player has the whole team: what a single policy with shared weights can learn.
    "simple_spread": ONE_TEAM,
    "simple_reference": ONE_TEAM,
    "simple_speaker_listener": ONE_TEAM,
    "simple_formation": ONE_TEAM,
    "simple_line": ONE_TEAM,
    "collect_treasure": ONE_TEAM,
    "multiwalker": ONE_TEAM,
    "pursuit": ONE_TEAM,
    "waterworld": ONE_TEAM,
    "pistonball": ONE_TEAM,  # twenty partners from the pool would show nothing about any of them
    # Partners come from the pool: few seats, and playing with strangers is the point.
    "cooperative_pong": SeatLayout(cooperative=True),
    "hanabi": SeatLayout(cooperative=True),
    "ForagingEnv": SeatLayout(cooperative=True),  # of lbforaging
    "Warehouse": ONE_TEAM,  # of rware
    # Atari: pairs of partners.
    "quadrapong": PONG_PAIRS,
    "foozpong": PONG_PAIRS,
    "volleyball_pong": PONG_PAIRS,
    # Archers and knights share their spaces, but not their craft: two seats that co-operate.
    "knights_archers_zombies": SeatLayout((("archer_*",), ("knight_*",)), cooperative=True),
    # A team against a team.
    "simple_tag": PREDATORS,
    "simple_adversary": PREDATORS,
    "simple_world_comm": SeatLayout((("leadadversary_*", "adversary_*"), ("agent_*",))),
    "simple_crypto": SeatLayout((("eve_*",), ("alice_*", "bob_*"))),
}


def known_layout(name: str) -> SeatLayout | None:
    """Return the layout of a known environment, whatever its version and the way it is named.

    >>> known_layout("mpe2/simple_tag_v3") == known_layout("mpe2.simple_tag_v3:parallel_env") == PREDATORS
    True
    """
    last = re.split(r"[/.]", name.partition(":")[0])[-1]
    return KNOWN.get(re.sub(r"[_-]v\d+$", "", last))


def agent_roles(spaces: Mapping[str, Any], turn_based: bool) -> dict[str, str]:
    """Return the role of each agent: its name without the number, if the spaces are equal, too.

    `spaces` has for each agent what makes it different from others. The two sides of a turn-based game with
    equal spaces are interchangeable, whatever they are called; elsewhere, so are names that only distinguish agents.

    >>> agent_roles({"wolf_0": 1, "wolf_1": 1, "sheep_0": 2}, turn_based=False)
    {'wolf_0': 'wolf', 'wolf_1': 'wolf', 'sheep_0': 'sheep'}
    >>> agent_roles({"black_0": 1, "white_0": 1}, turn_based=True)
    {'black_0': 'player', 'white_0': 'player'}
    """
    agents = list(spaces)
    if turn_based and len(agents) == 2 and spaces[agents[0]] == spaces[agents[1]]:
        return dict.fromkeys(agents, "player")
    teams = {} if turn_based else shared_beginnings(list(dict.fromkeys(map(base_name, agents))))
    roles: dict[str, str] = {}
    kinds: dict[str, list[str]] = {}  # the first agent of each different kind with the same base name
    for agent in agents:
        base = base_name(agent)
        base = "player" if base in ALIKE else task_name(base, teams[base]) if teams.get(base) in ALIKE else base
        models = kinds.setdefault(base, [])
        model = next((one for one in models if spaces[one] == spaces[agent]), None)
        if model is None:
            models.append(agent)
            roles[agent] = base if len(models) == 1 else agent
        else:
            roles[agent] = roles[model]
    return roles


def guess_layout(name: str, agents: Sequence[str], turn_based: bool) -> SeatLayout:
    """Return which agents share a seat, from the table or by the rules.

    >>> guess_layout("my.game:env", ["red_0", "red_1", "blue_0", "blue_1"], turn_based=False).teams
    (('red_0', 'red_1'), ('blue_0', 'blue_1'))
    """
    known = known_layout(name)
    if known is not None:
        return known
    bases = list(dict.fromkeys(map(base_name, agents)))
    if turn_based:
        return SeatLayout(why="agents move in turns, so each is on its own" if len(agents) > 2 else "")
    if len(bases) == 1:
        return SeatLayout(why=f"all agents are called {bases[0]}, so each is on its own" if len(agents) > 2 else "")
    teams = tuple(tuple(agent for agent in agents if base_name(agent) == base) for base in bases)
    if found := shared_beginnings(bases):
        words = " and ".join(dict.fromkeys(found.values()))
        return SeatLayout(
            teams, sides=tuple(found[base] for base in bases), why=f"names begin with {words}, so these are the sides"
        )
    return SeatLayout(teams, why=f"agents are called {' and '.join(bases)}, so each name is a team")


def make_seats(
    name: str,
    roles_of: Mapping[str, str],
    layout: SeatLayout,
    seats: Sequence[Sequence[str]] | None = None,
    roles: Sequence[str] | None = None,
    sides: Sequence[str] | None = None,
) -> tuple[Seat, ...]:
    """Return the seats of the config, and by the layout where it sets none.

    `roles_of` has the role of each agent; a team is named after those of its agents.
    """
    agents = list(roles_of)
    wanted = seats or layout.teams or [[agent] for agent in agents]
    teams = [team for patterns in wanted if (team := _members(name, patterns, agents, strict=bool(seats)))]
    _check_seated(name, teams, agents)
    names = list(roles) if roles else _team_roles([tuple(roles_of[agent] for agent in team) for team in teams])
    together = list(sides) if sides else _together(layout, teams)
    for key, given in (("roles", names), ("sides", together)):
        if len(given) != len(teams):
            raise ValueError(
                f"{name}: env.{key} has {len(given)} names for {len(teams)} seats ({teams}). Give one for each seat."
            )
    return tuple(
        Seat(agents=tuple(agents.index(agent) for agent in team), role=role, side=side)
        for team, role, side in zip(teams, names, together, strict=True)
    )


def _together(layout: SeatLayout, teams: Sequence[Sequence[str]]) -> list[str | None]:
    """Return the side of each seat: agents that are a team by the layout stay one, however many seats they have.

    >>> _together(PREDATORS, [["adversary_0"], ["adversary_1"], ["agent_0"]])
    ['adversary_*', 'adversary_*', None]
    """
    if layout.cooperative:
        return ["all"] * len(teams)
    found = [_side_of(layout, team) for team in teams]
    return [side if found.count(side) > 1 else None for side in found]


def _side_of(layout: SeatLayout, agents: Sequence[str]) -> str | None:
    """Return the side of the layout that has all these agents; None if there is none."""
    sides: dict[str, list[str]] = {}
    for patterns, side in zip(layout.teams, layout.sides or map("+".join, layout.teams), strict=True):
        sides.setdefault(side, []).extend(patterns)
    for side, wanted in sides.items():
        if all(any(fnmatchcase(agent, pattern) for pattern in wanted) for agent in agents):
            return side
    return None


def explain(layout: SeatLayout, spec: EnvSpec) -> tuple[str, ...]:
    """Return why agents sit as they do, with the settings that change it; nothing if the layout is no guess."""
    if not layout.why:
        return ()
    sides = spec.side_names
    given = f"env.sides='{json.dumps(sides)}'"
    return (f"{layout.why}. If that is wrong: env.seats and env.roles, or the side of each seat, now {given}",)


def _members(name: str, patterns: Sequence[str], agents: Sequence[str], strict: bool) -> list[str]:
    """Return the agents that the patterns name, in the order of the environment."""
    for pattern in patterns if strict else ():
        if not any(fnmatchcase(agent, pattern) for agent in agents):
            raise ValueError(
                f"{name}: env.seats names {pattern!r}, but the agents are {list(agents)}. Correct env.seats."
            )
    return [agent for agent in agents if any(fnmatchcase(agent, pattern) for pattern in patterns)]


def _check_seated(name: str, teams: Sequence[Sequence[str]], agents: Sequence[str]) -> None:
    """Refuse an agent without a seat, and one with two."""
    for agent in agents:
        where = [f"seat {i} {list(team)}" for i, team in enumerate(teams) if agent in team]
        if not where:
            raise ValueError(
                f"{name}: the agent {agent!r} has no seat; env.seats has {[list(t) for t in teams]}. "
                "Add it to a seat, or give it one of its own: every agent must sit in exactly one seat."
            )
        if len(where) > 1:
            raise ValueError(
                f"{name}: the agent {agent!r} is in {' and '.join(where)}. Take it out of all but one in env.seats: "
                "every agent must sit in exactly one seat."
            )


def _team_roles(teams: list[tuple[str, ...]]) -> list[str]:
    """Name each kind of team; teams of the same roles but other numbers of them are not interchangeable.

    >>> _team_roles([("wolf",), ("wolf",), ("wolf", "wolf")])
    ['wolf', 'wolf', '2 wolf']
    """
    kinds = [Counter(sorted(team)) for team in teams]
    models = {"+".join(kind): kind for kind in reversed(kinds)}  # the first team of its name keeps the plain one
    plain = ["+".join(kind) for kind in kinds]
    return [
        name if models[name] == kind else "+".join(f"{count} {role}" for role, count in kind.items())
        for name, kind in zip(plain, kinds, strict=True)
    ]
