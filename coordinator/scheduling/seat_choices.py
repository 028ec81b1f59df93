"""The seats that players can take, alone and in pairs, by their roles. Pure: it reads the state."""

from functools import cached_property

from league.ids import PlayerId
from league.lineup import pair_lineup
from league.matchmaking.pool import fits
from league.spec import EnvSpec
from league.state import LeagueState
from league.ticket import Entry, turns


def next_part(handed: int, total: int, parts: int) -> tuple[int, int]:
    """Return which part of a total comes next if all have the same share, and how much of it is left.

    >>> next_part(0, 10, 2), next_part(4, 10, 2), next_part(5, 10, 2)
    ((0, 5), (0, 1), (1, 5))
    """
    part = handed * parts // total
    return part, -(-(part + 1) * total // parts) - handed


class Seats:
    """The seats of a league's environment. Those that a player can take never change, so they are computed once."""

    def __init__(self, state: LeagueState) -> None:
        self._state = state
        self._places: dict[PlayerId, list[int]] = {}

    @property
    def env(self) -> EnvSpec:
        """The environment, which every founded league has."""
        assert self._state.env is not None
        return self._state.env

    @property
    def roles(self) -> tuple[str, ...]:
        """The role of every seat."""
        return self.env.roles

    @property
    def sides(self) -> tuple[int, ...]:
        """The side of every seat."""
        return self.env.sides

    @cached_property
    def turn(self) -> int:
        """After how many episodes everybody has had every seat that it can have."""
        return turns(self.roles, self.sides)

    @property
    def cooperative(self) -> bool:
        """Whether all seats are on one side."""
        return self.env.cooperative

    def fits(self, player: PlayerId, role: str) -> bool:
        """Return whether a player can take a role."""
        return fits(self._state.population[player], frozenset({role}))

    def places(self, player: PlayerId) -> list[int]:
        """Return one seat of each kind that a player can take: entries rotate among seats of the same kind.

        Seats are of the same kind if their roles, and the roles on their sides, are equal.
        """
        if player in self._places:
            return self._places[player]
        roles, sides = self.roles, self.sides
        kinds: dict[tuple[str, ...], int] = {}
        for seat, role in enumerate(roles):
            if self.fits(player, role):
                company = sorted(other for other, side in zip(roles, sides, strict=True) if side == sides[seat])
                kinds.setdefault((role, *company), seat)
        self._places[player] = list(kinds.values())
        return self._places[player]

    def lineup(self, first: Entry, second: Entry, place: int) -> list[Entry] | None:
        """Return the entries of a match between two, seated by `pair_lineup`; None if their roles do not allow it.

        If all seats are on one side, the newest candidate of another player takes a role that neither can take.
        """
        entries = []
        pair = pair_lineup(self.env, place, first, second, lambda entry, role: self.fits(entry.player, role))
        for seat, found in enumerate(pair):
            entry = found
            if entry is None and self.cooperative and first != second:
                entry = self._newest(self.roles[seat])
            if entry is None:
                return None
            entries.append(entry)
        return entries if second in entries else None

    def _newest(self, role: str) -> Entry | None:
        """Return the newest candidate of the first learning player that fits a role and has a candidate."""
        bound = (player.id for player in self._state.population.learning() if self.fits(player.id, role))
        return next((entry for entry in map(self._state.contestant, bound) if entry is not None), None)
