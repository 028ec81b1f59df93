"""Asking matchmakers: by name, with answers that are checked, and so that no score a rule reads grows old for ever.

A matchmaker is one pure function:

    def champion(player, population, payoff, config, roles):
        return [Choice(p.id, p.learning, probability, why), ...]        # probabilities sum to 1

It is one of ours, one that an installed package registers under the entry point group `ludus.matchmakers`, or
`package.module:function` of a package that is allowed.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from league.errors import InputError
from league.matchmaking.choice import Choice
from league.matchmaking.config import MatchmakingConfig
from league.matchmaking.partners import partners
from league.matchmaking.pool import Roles, pool, rivals
from league.payoff import Payoff
from league.player import Player
from league.plugins import resolve
from league.population import Population

GROUP = "ludus.matchmakers"
BLIND = frozenset({"selfplay", "fsp"})  # matchmakers that read no scores
SLACK = 1e-6  # by which probabilities may miss 1


class Matchmaker(Protocol):
    """Says whom a player may meet, with exact probabilities. Asked once for each other seat of a match.

    choice = sample(ask(player, population, payoff, frozenset({seat.role}), mates=seat.side == own.side), rng)
    """

    def __call__(
        self, player: Player, population: Population, payoff: Payoff, roles: Roles = None, mates: bool = False
    ) -> list[Choice]:
        """Return the choices; their probabilities sum to 1. `roles` are those of the seat; `mates`: on its own side."""


class Targets(Protocol):
    """Says whose scores a freeze rule reads."""

    def __call__(self, player: Player, population: Population, roles: Roles) -> Sequence[Player]:
        """Return the opponents that a player has to beat before it is frozen."""


def matchmaker(config: MatchmakingConfig, targets: Targets | None = None, allow: Collection[str] = ()) -> Matchmaker:
    """Return the matchmaker that the config names; a share of its matches refreshes the scores that rules read."""
    recipe = resolve(GROUP, config.name, allow)
    if not callable(recipe):
        raise InputError(f"matchmaking.name={config.name}: {recipe!r} is no function; see docs/recipes.md")

    def ask(
        player: Player, population: Population, payoff: Payoff, roles: Roles = None, mates: bool = False
    ) -> list[Choice]:
        if mates:
            choices = partners(player, population, payoff, config, roles)
            return refreshed(choices, _partners_read(population, config, roles), config.floor)
        choices = checked(recipe(player, population, payoff, config, roles), config.name, population)
        read = opponents_read(player, population, config, roles)
        targeted = [] if targets is None else targets(player, population, roles)
        return refreshed(choices, _unique([*read, *targeted]), config.floor)

    return ask


def opponents_read(player: Player, population: Population, config: MatchmakingConfig, roles: Roles) -> list[Player]:
    """Return the opponents whose scores the matchmaker reads: those of its pool, and its live rivals."""
    if config.name in BLIND:
        return []
    live = rivals(player, population, config, roles) if config.rivals or config.name != "pfsp" else []
    return [p for p in _unique([*pool(population, config, roles), *live]) if p.id != player.id]


def _partners_read(population: Population, config: MatchmakingConfig, roles: Roles) -> list[Player]:
    unread = config.partner_weighting == "uniform" or config.partner_self == 1
    return [] if unread else pool(population, config, roles)


def _unique(players: Sequence[Player]) -> list[Player]:
    return list({player.id: player for player in players}.values())


def refreshed(choices: list[Choice], read: Sequence[Player], floor: float) -> list[Choice]:
    """Return choices in which everybody whose score is read has at least floor / (1 + floor) / n of the matches.

    Without this a score could keep its own opponent away, and never be measured again.

    >>> neglected = Player(id="b", kind="main", snapshot="hash")
    >>> [(c.opponent, c.probability, c.why) for c in refreshed([Choice("a", True, 1.0, "rival")], [neglected], 0.25)]
    [('a', 0.8, 'rival'), ('b', 0.2, 'refresh')]
    """
    least = floor / max(len(read), 1)
    known: dict[str, float] = {}
    for choice in choices:
        known[choice.opponent] = known.get(choice.opponent, 0.0) + choice.probability
    lacking = [(p, least - known.get(p.id, 0.0)) for p in read if known.get(p.id, 0.0) < least]
    if not lacking:
        return choices
    extra = [Choice(p.id, p.learning, lack, "refresh") for p, lack in lacking]
    total = 1.0 + sum(lack for _, lack in lacking)
    return [Choice(c.opponent, c.live, c.probability / total, c.why) for c in (*choices, *extra)]


def checked(found: Any, name: str, population: Population) -> list[Choice]:
    """Return the answer of a matchmaker; raise InputError if it is none: unknown players, or a sum that is not 1."""
    if not isinstance(found, list) or not found or not all(isinstance(choice, Choice) for choice in found):
        raise InputError(f"the matchmaker {name!r} must return a list of Choice with somebody in it, got {found!r:.80}")
    for choice in found:
        if choice.opponent not in population:
            raise InputError(f"the matchmaker {name!r} chose {choice.opponent!r}, and there is no such player")
        if not (math.isfinite(choice.probability) and choice.probability >= 0):
            raise InputError(
                f"the matchmaker {name!r} gave {choice.opponent!r} the probability {choice.probability}; "
                "it must be a number from 0 to 1"
            )
    total = math.fsum(choice.probability for choice in found)
    if abs(total - 1.0) > SLACK:
        raise InputError(f"the matchmaker {name!r} returned probabilities that sum to {total:g}; they must sum to 1")
    return found
