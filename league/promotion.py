"""Promotion: when a learning player is frozen into the pool, and whether it then begins again.

why = due(player, decisions_since_freeze, population, training, evaluation, config, env)
if why is not None:
    freeze(player, why)                  # always first: a reset player is no longer what was due
    if resets(player, config, rng):
        reset(player)
"""

from dataclasses import dataclass

import numpy as np

from league.matchmaking.pool import Roles, fits
from league.payoff import Payoff
from league.player import Kind, Player
from league.population import Population
from league.spec import EnvSpec


@dataclass(kw_only=True, slots=True)
class PromotionConfig:
    """When players freeze. Counts are decisions of the player since its last freeze or reset."""

    min_decisions: int = 200_000  # never freeze before
    max_decisions: int = 2_000_000  # freeze then, whatever the scores
    threshold: float = 0.7  # in between: freeze when it surely scores more than this against all its targets
    min_games: float = 20.0  # games that must count against each of them
    confidence: float = 0.95  # of the interval whose lower end has to pass the threshold
    reset_main: float = 0.0  # probability that a main begins again from its initial weights after a freeze
    reset_main_exploiter: float = 1.0  # the same for a main exploiter
    reset_league_exploiter: float = 0.25  # and for a league exploiter

    def __post_init__(self) -> None:
        """Refuse rules under which nobody, or nothing sensible, could ever freeze."""
        if not 0 <= self.min_decisions <= self.max_decisions or self.max_decisions < 1:
            raise ValueError(
                f"promotion: 0 <= min_decisions <= max_decisions must hold, and max_decisions be positive; "
                f"got {self.min_decisions} and {self.max_decisions}"
            )
        for name in ("threshold", "reset_main", "reset_main_exploiter", "reset_league_exploiter"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"promotion.{name} must lie between 0 and 1, got {getattr(self, name)}")
        if not 0 < self.confidence < 1 or self.min_games < 0:
            raise ValueError("promotion: confidence must lie between 0 and 1, and min_games not be negative")


def targets(player: Player, population: Population, roles: Roles = None) -> list[Player]:
    """Return whom a player has to beat: a main exploiter all mains, the others all frozen players but anchors."""
    if player.kind == Kind.MAIN_EXPLOITER:
        found = population.of_kind(Kind.MAIN)
    else:
        found = [p for p in population.frozen() if p.anchor is None]
    return [p for p in found if fits(p, roles)]


def opponent_roles(env: EnvSpec | None, player: Player) -> Roles:
    """Return the roles of those that the player can meet: on other sides than the one it sits on."""
    if env is None:
        return None
    seats = list(zip(env.roles, env.sides, strict=True))
    mine = {side for role, side in seats if player.role in (None, role)}
    return frozenset(role for role, side in seats if mine - {side})


def due(
    player: Player,
    decisions: int,
    population: Population,
    training: Payoff,
    evaluation: Payoff,
    config: PromotionConfig,
    env: EnvSpec | None,
) -> str | None:
    """Return why the player should be frozen now, or None: by its scores, or where nobody is beaten by its return.

    `decisions` counts since its last freeze or reset.
    """
    if env is not None and env.cooperative:
        return due_by_return(player, decisions, population, evaluation, config)
    return due_by_score(player, decisions, population, training, config, opponent_roles(env, player))


def due_by_score(
    player: Player,
    decisions: int,
    population: Population,
    payoff: Payoff,
    config: PromotionConfig,
    roles: Roles = None,
) -> str | None:
    """Return why the player should be frozen now, or None. Without targets there is nothing to prove.

    `decisions` counts since its last freeze or reset; `roles` are those that its opponents may take.
    """
    if decisions < config.min_decisions:
        return None
    if decisions >= config.max_decisions:
        return f"{decisions} decisions since its last freeze"
    found = [p.id for p in targets(player, population, roles)]
    if not found or min(payoff.games(player.id, p) for p in found) < config.min_games:
        return None
    lowest = float(payoff.lowers(player.id, found, config.confidence).min())
    if lowest <= config.threshold:
        return None
    return f"scores surely more than {config.threshold:g} against all {len(found)} targets (at least {lowest:.3f})"


def due_by_return(
    player: Player, decisions: int, population: Population, evaluation: Payoff, config: PromotionConfig
) -> str | None:
    """Return why a player should be frozen now where nobody is beaten: its return with itself is what counts.

    It has to be surely above that of its newest past: their intervals must not touch.
    """
    if decisions < config.min_decisions:
        return None
    if decisions >= config.max_decisions:
        return f"{decisions} decisions since its last freeze"
    past = [p.id for p in population.frozen_of(player.id)][-1:]
    if not past or min(evaluation.return_games(p, p) for p in (player.id, *past)) < config.min_games:
        return None
    _, low, _ = evaluation.return_interval(player.id, player.id, config.confidence)
    _, _, high = evaluation.return_interval(past[0], past[0], config.confidence)
    return f"returns surely more than {past[0]} (at least {low:.3g}, it at most {high:.3g})" if low > high else None


def resets(player: Player, config: PromotionConfig, rng: np.random.Generator) -> bool:
    """Return whether a player that has just been frozen begins again from its initial weights."""
    chances = {
        Kind.MAIN: config.reset_main,
        Kind.MAIN_EXPLOITER: config.reset_main_exploiter,
        Kind.LEAGUE_EXPLOITER: config.reset_league_exploiter,
    }
    if player.kind not in chances:
        raise ValueError(f"player {player.id!r} is {player.kind}: only learning players can be reset")
    return bool(rng.random() < chances[player.kind])
