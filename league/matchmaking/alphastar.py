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
from league.matchmaking.pool import Roles, eligible, pool, rivals
from league.payoff import Payoff
from league.player import Player
from league.population import Population


class _Scores:
    """What one question is about: who asks, whom it could meet, and its scores against them."""

    def __init__(
        self, player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles
    ) -> None:
        self.population, self.config, self.roles = population, config, roles
        self.everybody = pool(population, config, roles)
        self.rivals = rivals(player, population, config, roles)
        self.own = {rival.kind for rival in self.rivals}  # kinds: frozen players of all others are exploiters
        pasts = [p for rival in self.rivals for p in population.frozen_of(rival.id)]
        asked = list(dict.fromkeys(p.id for p in (*self.everybody, *self.rivals, *pasts)))
        self.score = dict(zip(asked, payoff.scores(player.id, asked).tolist(), strict=True))

    def past(self, rival: Player) -> list[Player]:
        """Return the frozen pasts of a rival, oldest first."""
        return eligible(self.population.frozen_of(rival.id), self.config, self.roles)

    def scores(self, players: Sequence[Player]) -> list[float]:
        """Return the score against each of the players."""
        return [self.score[p.id] for p in players]

    def weighted(self, opponents: Sequence[Player], weighting: str, share: float, why: str) -> Part:
        """Return the opponents by weight of the score against each."""
        return weighted(opponents, np.array(self.scores(opponents)), weighting, share, why)


def alphastar(
    player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles = None
) -> list[Choice]:
    """Return the choices of a main: the whole pool, what it may have forgotten, and the live mains."""
    table = _Scores(player, population, payoff, config, roles)
    everybody = table.everybody
    parts: list[Part] = []
    if everybody:
        parts.append(table.weighted(everybody, config.weighting, config.pfsp, "pfsp"))
    exploiters = _exploiters_to_verify(table)
    if exploiters:
        parts.append(table.weighted(exploiters, "hard", config.verification, "verification: exploiters"))
    each = 1.0 / len(table.rivals)  # a main opponent is chosen first, each equally often
    for main in table.rivals:
        forgotten = [] if exploiters else _forgotten(table, main)
        if forgotten:
            part = table.weighted(forgotten, "hard", config.verification * each, "verification: forgotten")
            parts.append(part)
        fallen = 0.0 if exploiters or forgotten else config.verification  # through to self-play
        unused = 0.0 if everybody else config.pfsp
        parts.append(_selfplay(table, main, (config.self_play + fallen + unused) * each))
    return mixture(parts)


def _exploiters_to_verify(table: _Scores) -> list[Player]:
    """Return the frozen players of other kinds if one of them still exploits the player."""
    exploiters = [p for p in table.everybody if p.parent is not None and p.kind not in table.own]
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
    if past and table.score[main.id] <= table.config.live_above:
        return table.weighted(past, "var", share, "self-play: past main")
    return evenly([main], share, "self-play")


def exploiter(
    player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles = None
) -> list[Choice]:
    """Return the choices of an exploiter: its live rivals; mostly their past, while the live ones are too strong."""
    table = _Scores(player, population, payoff, config, roles)
    parts: list[Part] = []
    share = 1.0 / len(table.rivals)
    for rival in table.rivals:
        past, quarry = table.past(rival), population.quarry(player.id, rival.id)
        if quarry is not None and config.quarry > 0:
            parts.append(evenly([quarry], config.quarry * share, "quarry"))
        left = share if quarry is None else (1.0 - config.quarry) * share
        ready = table.score[rival.id] > config.live_above
        live = 1.0 if not past else 1.0 - config.rival_past if ready else config.live_least
        if live > 0:
            parts.append(evenly([rival], live * left, "rival"))
        if live < 1:
            parts.append(table.weighted(past, "var", (1.0 - live) * left, "past of a rival"))
    return mixture(parts)
