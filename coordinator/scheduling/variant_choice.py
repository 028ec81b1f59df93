"""Which variant of the environment a ticket plays: by the weights of the config, or more often where a player loses."""

from collections.abc import Sequence

import msgspec
import numpy as np

from league.ids import PlayerId
from league.matchmaking.pfsp import probabilities
from league.state import LeagueState
from league.ticket import Purpose, Ticket
from league.variant_scores import variant_score
from league.variants import Variant

FLOOR = 0.05  # of the weight of a variant is always kept, so that the score in each stays fresh


def with_variant(state: LeagueState, ticket: Ticket, rng: np.random.Generator) -> Ticket:
    """Return the ticket with a variant, if the environment has any; else the same ticket, and no random number."""
    variants = () if state.env is None else state.env.variants
    if not variants:
        return ticket
    chances = variant_chances(state, ticket, variants)
    return msgspec.structs.replace(ticket, variant=variants[int(rng.choice(len(variants), p=chances))])


def variant_chances(state: LeagueState, ticket: Ticket, variants: Sequence[Variant]) -> list[float]:
    """Return the probability of each variant in a ticket; evaluation always goes by the weights of the config."""
    shares = np.array([variant.share for variant in variants])
    rival = None if ticket.purpose == Purpose.EVALUATE else _rival(state, ticket)
    if rival is not None:
        player = ticket.trains[0]
        weighting = state.config.rules(state.population[player].kind).matchmaking.variant_weighting
        if weighting is not None:
            prior, games = state.training.score(player, rival), state.config.payoff.prior_games
            names = [variant.name for variant in variants]
            scores = [variant_score(state.variants, name, player, rival, prior, games) for name in names]
            shares = shares * (FLOOR + (1 - FLOOR) * probabilities(weighting, np.array(scores)))
    found: list[float] = (shares / shares.sum()).tolist()
    return found


def _rival(state: LeagueState, ticket: Ticket) -> PlayerId | None:
    """Return the first opponent of the player whose turn it is; None if it only meets itself."""
    assert state.env is not None
    sides, players = state.env.sides, [entry.player for entry in ticket.entries]
    mine = sides[players.index(ticket.trains[0])]
    others = (player for player, side in zip(players, sides, strict=True) if side != mine)
    return next((player for player in others if player != ticket.trains[0]), None)
