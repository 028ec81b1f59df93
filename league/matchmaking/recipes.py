"""Recipes: matchmakers by name."""

from typing import Protocol

from league.matchmaking.alphastar import alphastar
from league.matchmaking.choice import Choice
from league.matchmaking.config import MatchmakingConfig
from league.matchmaking.partners import partners
from league.matchmaking.pfsp import pfsp
from league.matchmaking.pool import Roles
from league.matchmaking.selfplay import fsp, selfplay
from league.payoff import Payoff
from league.player import Player
from league.population import Population

RECIPES = {"alphastar": alphastar, "pfsp": pfsp, "fsp": fsp, "selfplay": selfplay}


class Matchmaker(Protocol):
    """Says whom a player may meet, with exact probabilities. Asked once for each other seat of a match.

    choice = sample(ask(player, population, payoff, frozenset({seat.role}), mates=seat.side == own.side), rng)
    """

    def __call__(
        self, player: Player, population: Population, payoff: Payoff, roles: Roles = None, mates: bool = False
    ) -> list[Choice]:
        """Return the choices; their probabilities sum to 1. `roles` are those of the seat; `mates`: on its own side."""


def matchmaker(config: MatchmakingConfig) -> Matchmaker:
    """Return the matchmaker that the config names."""
    recipe = RECIPES[config.name]

    def ask(
        player: Player, population: Population, payoff: Payoff, roles: Roles = None, mates: bool = False
    ) -> list[Choice]:
        return (partners if mates else recipe)(player, population, payoff, config, roles)

    return ask
