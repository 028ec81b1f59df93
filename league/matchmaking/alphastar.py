"""The league of AlphaStar: mains that must not forget, exploiters that find what they overlook.

Thresholds are in the config: the paper's constants were made for a league a thousand times larger than a
laptop's. Every step has a fall-through, so each rule works from the first match on, with nobody frozen yet.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from league.matchmaking.choice import Choice, Part, mixture
from league.matchmaking.config import MatchmakingConfig
from league.matchmaking.pfsp import evenly, weighted
from league.matchmaking.pool import Roles, mains, pool, selves
from league.payoff import Payoff
from league.player import Kind, Player
from league.population import Population


class _Scores:
    """What one question is about: who asks, whom it could meet, and its scores against them."""

    def __init__(
        self, player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles
    ) -> None:
        self.population, self.config = population, config
        self.everybody = pool(population, config, roles)
        self.mains = mains(population, roles) or selves(player, population, roles)
        asked = [p.id for p in (*self.everybody, *self.mains)]
        self.score = dict(zip(asked, payoff.scores(player.id, asked).tolist(), strict=True))

    def eligible(self, frozen: Sequence[Player]) -> list[Player]:
        """Return those of the frozen players that are in the pool."""
        return [p for p in frozen if p.id in self.score]

    def past(self, main: Player) -> list[Player]:
        """Return the frozen pasts of a main, oldest first."""
        return self.eligible(self.population.frozen_of(main.id))

    def scores(self, players: Sequence[Player]) -> list[float]:
        """Return the score against each of the players."""
        return [self.score[p.id] for p in players]

    def weighted(self, opponents: Sequence[Player], weighting: str, share: float, why: str) -> Part:
        """Return the opponents by weight of the score against each."""
        return weighted(opponents, np.array(self.scores(opponents)), weighting, share, why)


def alphastar(
    player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles = None
) -> list[Choice]:
    """Return the choices of a main, a main exploiter or a league exploiter, by its kind."""
    table = _Scores(player, population, payoff, config, roles)
    match player.kind:
        case Kind.MAIN:
            return mixture(_main(table))
        case Kind.MAIN_EXPLOITER:
            return mixture(_main_exploiter(table))
        case Kind.LEAGUE_EXPLOITER:
            return mixture(_league_exploiter(table))
    raise ValueError(f"player {player.id!r} is {player.kind}: only learning players train, so only they ask")


def _main(table: _Scores) -> list[Part]:
    config, everybody = table.config, table.everybody
    parts: list[Part] = []
    if everybody:
        parts.append(table.weighted(everybody, config.weighting, config.pfsp, "pfsp"))
    exploiters = _exploiters_to_verify(table)
    if exploiters:
        parts.append(table.weighted(exploiters, "hard", config.verification, "verification: exploiters"))
    each = 1.0 / len(table.mains)  # a main opponent is chosen first, each equally often
    for main in table.mains:
        forgotten = [] if exploiters else _forgotten(table, main)
        if forgotten:
            part = table.weighted(forgotten, "hard", config.verification * each, "verification: forgotten")
            parts.append(part)
        fallen = 0.0 if exploiters or forgotten else config.verification  # through to self-play
        unused = 0.0 if everybody else config.pfsp
        parts.append(_selfplay(table, main, (config.self_play + fallen + unused) * each))
    return parts


def _exploiters_to_verify(table: _Scores) -> list[Player]:
    """Return the frozen exploiters if one of them still exploits the player."""
    exploiters = table.eligible(table.population.frozen_exploiters())
    exploited = min(table.scores(exploiters), default=1.0) < table.config.exploited_below
    return exploiters if exploited else []


def _forgotten(table: _Scores, main: Player) -> list[Player]:
    """Return the pasts of a main among which the player may have forgotten how to beat one."""
    past = table.past(main)
    scores = table.scores(past)
    kept = without_monotone_suffix(scores)
    return past[:kept] if min(scores[:kept], default=1.0) < table.config.forgotten_below else []


def without_monotone_suffix(scores: Sequence[float]) -> int:
    """Return how many of the scores (oldest opponent first) remain without the suffix that only falls.

    Scores that fall from old to new are as they should be: the older, the weaker. What was forgotten shows as
    an older opponent with a lower score than the next one.

    >>> without_monotone_suffix([0.9, 0.4, 0.8, 0.7, 0.6]), without_monotone_suffix([0.9, 0.8, 0.7])
    (3, 0)
    """
    rises = [place for place, (older, newer) in enumerate(pairwise(scores)) if older < newer]
    return rises[-1] + 2 if rises else 0


def _selfplay(table: _Scores, main: Player, share: float) -> Part:
    past = table.past(main)
    if past and table.score[main.id] <= table.config.live_main_above:
        return table.weighted(past, "var", share, "self-play: past main")
    return evenly([main], share, "self-play")


def _main_exploiter(table: _Scores) -> list[Part]:
    parts: list[Part] = []
    share = 1.0 / len(table.mains)
    for main in table.mains:
        past = table.past(main)
        ready = table.score[main.id] > table.config.live_target_above
        live = 1.0 if not past else 1.0 - table.config.target_past if ready else 0.0
        if live > 0:
            parts.append(evenly([main], live * share, "target"))
        if live < 1:
            parts.append(table.weighted(past, "var", (1.0 - live) * share, "past target"))
    return parts


def _league_exploiter(table: _Scores) -> list[Part]:
    if table.everybody:
        return [table.weighted(table.everybody, "capped", 1.0, "pfsp")]
    return [evenly(table.mains, 1.0, "live mains")]
