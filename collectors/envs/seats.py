"""Who sits where, when nobody says: one agent for each seat, and the same role for agents of a kind."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from league.spec import Seat


def agent_roles(spaces: Mapping[str, Any], turn_based: bool) -> dict[str, str]:
    """Return the role of each agent: its name without the number, if the spaces are equal, too.

    `spaces` has for each agent what makes it different from others. The two sides of a turn-based game with
    equal spaces are interchangeable, whatever they are called.

    >>> agent_roles({"wolf_0": 1, "wolf_1": 1, "sheep_0": 2}, turn_based=False)
    {'wolf_0': 'wolf', 'wolf_1': 'wolf', 'sheep_0': 'sheep'}
    >>> agent_roles({"black_0": 1, "white_0": 1}, turn_based=True)
    {'black_0': 'player', 'white_0': 'player'}
    """
    agents = list(spaces)
    if turn_based and len(agents) == 2 and spaces[agents[0]] == spaces[agents[1]]:
        return dict.fromkeys(agents, "player")
    roles: dict[str, str] = {}
    kinds: dict[str, list[str]] = {}  # the first agent of each different kind with the same base name
    for agent in agents:
        base = re.sub(r"_\d+$", "", agent)
        models = kinds.setdefault(base, [])
        model = next((one for one in models if spaces[one] == spaces[agent]), None)
        if model is None:
            models.append(agent)
            roles[agent] = base if len(models) == 1 else agent
        else:
            roles[agent] = roles[model]
    return roles


def make_seats(
    name: str, roles_of: Mapping[str, str], seats: Sequence[Sequence[str]] | None, roles: Sequence[str] | None
) -> tuple[Seat, ...]:
    """Return the seats; without `seats` one for each agent, without `roles` named after their agents' roles."""
    agents = list(roles_of)
    teams = [list(team) for team in seats] if seats else [[agent] for agent in agents]
    unknown = [agent for team in teams for agent in team if agent not in roles_of]
    if unknown:
        raise ValueError(f"{name}: env.seats names {unknown}, but the agents are {agents}. Mend env.seats.")
    names = list(roles) if roles else _team_roles([tuple(roles_of[agent] for agent in team) for team in teams])
    if len(names) != len(teams):
        raise ValueError(f"{name}: env.roles has {len(names)} names for {len(teams)} seats. Give one for each seat.")
    return tuple(
        Seat(agents=tuple(agents.index(agent) for agent in team), role=role)
        for team, role in zip(teams, names, strict=True)
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
