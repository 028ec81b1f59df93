"""Mixtures: players that are one of their members in each episode, sampled at its root by their shares.

    league.players.blend: {kind: mixture, members: [main, main.*, random], shares: [0.5, 0.4, 0.1]}

A member is a player of the league (a learning one plays its newest candidate), a frozen player by name, or `PARENT.*`:
all frozen players of PARENT so far, which divide its share evenly.
"""

from collections.abc import Callable, Sequence

from league.ids import PlayerId
from league.player import Player, Status
from league.population import Population
from league.ticket import Entry, Member

OUTSIDE = (Status.MIXTURE, Status.HUMAN)  # players that cannot be members
ALL = ".*"  # after the name of a learning player: all that were frozen from it
TOTAL = 1e-6  # by which shares may miss a sum of one
MOST = 64  # members of a mixture that play: all of them are in each of its tickets, and so in the ledger


def check_mixture(mixture: Player, players: Sequence[Player]) -> None:
    """Refuse a mixture whose shares are no probabilities, and members that can never be there or never play in it."""
    where, known = f"league.players.{mixture.id}", {player.id: player for player in players}
    fitting = ", ".join(player.id for player in players if player.status not in OUTSIDE)
    total = sum(share for _, share in mixture.members)
    if min(share for _, share in mixture.members) < 0 or not abs(total - 1) <= TOTAL:
        raise ValueError(f"{where}: the shares of members must not be negative and add up to 1, not to {total:g}")
    for name, _ in mixture.members:
        member = known.get(name) or known.get(_parent(name))
        if member is None or (name not in known and not member.learning):
            raise ValueError(
                f"{where}: there is no player {name!r}. Members are {fitting}, frozen players such as main.0, or "
                "main.* for all that were frozen from main"
            )
        if member.status in OUTSIDE:
            raise ValueError(f"{where}: {name!r} is a {member.kind}; members learn, are frozen, or are bots")
        if member.role != mixture.role:
            raise ValueError(f"{where}: {name!r} plays another role; give the mixture and its members the same role")


def _parent(name: str) -> PlayerId:
    """Return whose frozen player, or players, a name stands for; nobody's: the empty name."""
    parent, dot, number = name.rpartition(".")
    return PlayerId(parent if dot and (number.isdigit() or number == "*") else "")


def with_shares(name: str, members: Sequence[str], shares: Sequence[float]) -> tuple[tuple[PlayerId, float], ...]:
    """Return the members of a mixture with their shares of its episodes; by default all have the same.

    >>> with_shares("blend", ["main", "random"], [])
    (('main', 0.5), ('random', 0.5))
    """
    if shares and len(shares) != len(members):
        raise ValueError(f"league.players.{name}: {len(members)} members need as many shares, not {len(shares)}")
    if len(set(members)) < len(members):
        raise ValueError(f"league.players.{name}: a member is there twice; name it once, with the sum of the shares")
    each = [float(share) for share in shares] or [1 / len(members) for _ in members]
    return tuple(zip(map(PlayerId, members), each, strict=True))


def resolve(
    mixture: Player, population: Population, contestant: Callable[[PlayerId], Entry | None]
) -> tuple[Member, ...]:
    """Return the members of a mixture as they would play now; none if one of them cannot play yet."""
    found: list[Member] = []
    for name, share in mixture.members:
        group = _group(name, population)
        entries = [entry for entry in map(contestant, group) if entry is not None]
        if not entries or len(entries) < len(group):
            return ()
        found += [Member(e.player, share / len(entries), e.snapshot, e.bot) for e in entries]
    return tuple(found) if len(found) <= MOST else _thinned(found)


def _group(name: PlayerId, population: Population) -> list[PlayerId]:
    """Return the players that a name stands for; none if there are none yet."""
    if name in population:
        return [name]
    return [player.id for player in population.frozen_of(_parent(name))] if name.endswith(ALL) else []


def _thinned(members: Sequence[Member]) -> tuple[Member, ...]:
    """Return at most `MOST` members, evenly spaced, with shares that add up to one again."""
    kept = [members[place * len(members) // MOST] for place in range(MOST)]
    total = sum(member.share for member in kept)
    return tuple(Member(m.player, m.share / total, m.snapshot, m.bot) for m in kept)


def missing(mixture: Player, population: Population, contestant: Callable[[PlayerId], Entry | None]) -> list[PlayerId]:
    """Return the members of a mixture that cannot play: they do not exist, or have no candidate yet."""
    groups = {name: _group(name, population) for name, _ in mixture.members}
    return [name for name, group in groups.items() if not group or any(contestant(p) is None for p in group)]
