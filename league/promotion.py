"""Promotion: when a learning player is frozen into the pool, and from what it then begins again.

why = due(Case(player, decisions, population, training, evaluation, env), config, allow)
if why is not None:
    freeze(player, why)                  # always first: a reset player is no longer what was due
    if resets(config, rng):
        reset(player)

A freeze rule is one pure function of a case and its config. It is asked only between `min_decisions` and
`max_decisions`, and returns why the player is to be frozen now, or None:

    def dominates(case, config):
        scores = case.training.scores(case.player.id, [p.id for p in case.targets(config)])
        return "beats everybody" if len(scores) and scores.min() > 0.5 else None

It is one of ours (`score`, `decisions`), one that an installed package registers under the entry point group
`ludus.freeze_rules`, or `package.module:function` of a package that is allowed.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from league.candidate_games import CandidateGames
from league.errors import InputError
from league.ids import Hash, PlayerId
from league.matchmaking.pool import Roles, fits
from league.payoff import Payoff
from league.player import Player
from league.plugins import resolve
from league.population import Population
from league.sequential import average_at_least, start_shares
from league.spec import EnvSpec

GROUP = "ludus.freeze_rules"
POOL = "pool"  # among targets: all frozen players but anchors
NEVER, INITIAL = "never", "initial"  # values of `reset` that are no kinds


@dataclass(kw_only=True, slots=True)
class PromotionConfig:
    """When players freeze. Counts are decisions since the last freeze or reset. A kind may differ in each field."""

    rule: str = "score"  # score: when it surely beats its targets; decisions: at max_decisions; or package:function
    min_decisions: int = 200_000  # never freeze before
    max_decisions: int = 2_000_000  # freeze then, whatever the scores
    targets: list[str] = field(default_factory=lambda: [POOL])  # kinds of live players, or pool: all frozen but anchors
    quarry: bool = False  # of kinds not the live players, but the newest frozen ones at its own last freeze or reset
    threshold: float = 0.7  # score: freeze when it surely scores more than this against all its targets
    min_games: float = 20.0  # score: games that must count against each of them
    confidence: float = 0.95  # score: of the bound, at any time, that has to pass the threshold
    freeze_first: bool = True  # freeze its first candidate at once, so that there is a pool
    reset: str = NEVER  # after a freeze: never, initial (its first weights), a kind (its newest weights), or a file
    reset_chance: float = 1.0  # probability of that
    settings: dict[str, Any] = field(default_factory=dict)  # whatever a freeze rule of another package needs

    def __post_init__(self) -> None:
        """Refuse rules under which nobody, or nothing sensible, could ever freeze."""
        if not 0 <= self.min_decisions <= self.max_decisions or self.max_decisions < 1:
            raise ValueError(
                f"promotion: 0 <= min_decisions <= max_decisions must hold, and max_decisions be positive; "
                f"got {self.min_decisions} and {self.max_decisions}"
            )
        if not 0 <= self.threshold < 1:
            raise ValueError(
                f"promotion.threshold must be at least 0 and below 1, which no score surely exceeds; "
                f"got {self.threshold}. To freeze by decisions only, use rule: decisions"
            )
        if not 0 <= self.reset_chance <= 1:
            raise ValueError(f"promotion.reset_chance must lie between 0 and 1, got {self.reset_chance}")
        if not 0 < self.confidence < 1 or self.min_games < 0:
            raise ValueError("promotion: confidence must lie between 0 and 1, and min_games not be negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a freeze rule looks at. `decisions` counts since the player's last freeze or reset."""

    player: Player
    decisions: int
    population: Population
    training: Payoff
    evaluation: Payoff
    env: EnvSpec | None = None
    games: CandidateGames | None = None  # of training, since each of its candidates after the last freeze or reset

    def targets(self, config: PromotionConfig) -> list[Player]:
        """Return whom the player has to beat, as far as it can meet them."""
        return targets(self.player, self.population, config, opponent_roles(self.env, self.player))


def targets(player: Player, population: Population, config: PromotionConfig, roles: Roles = None) -> list[Player]:
    """Return whom a player has to beat: live players of some kinds, or all frozen players but anchors, or both."""
    found = [p for p in population.learning_of(config.targets) if p.id != player.id]
    if config.quarry:
        quarries = [population.quarry(player.id, p.id) for p in found]
        found = [p for p in quarries if p is not None]
    if POOL in config.targets:
        found += [p for p in population.frozen() if p.anchor is None]
    return [p for p in found if fits(p, roles)]


def reads_targets(config: PromotionConfig) -> bool:
    """Whether the freeze rule may read scores against the targets."""
    return config.rule != "decisions"


def opponent_roles(env: EnvSpec | None, player: Player) -> Roles:
    """Return the roles of those that the player can meet: on other sides than the one it sits on."""
    if env is None:
        return None
    seats = list(zip(env.roles, env.sides, strict=True))
    mine = {side for role, side in seats if player.role in (None, role)}
    return frozenset(role for role, side in seats if mine - {side})


def due(case: Case, config: PromotionConfig, allow: Collection[str] = ()) -> str | None:
    """Return why the player should be frozen now, or None."""
    if case.decisions < config.min_decisions:
        return None
    if case.decisions >= config.max_decisions:
        return f"{case.decisions} decisions since its last freeze"
    why = resolve(GROUP, config.rule, allow)(case, config)
    if why is not None and not isinstance(why, str):
        raise InputError(f"the freeze rule {config.rule!r} must return a reason or None, got {why!r:.80}")
    return why


def by_decisions(case: Case, config: PromotionConfig) -> str | None:
    """Freeze at `max_decisions` and never before."""
    return None


def by_score(case: Case, config: PromotionConfig) -> str | None:
    """Freeze when the player surely beats all its targets; where nobody is beaten, when it surely returns more."""
    if case.env is not None and case.env.cooperative:
        return _by_return(case, config)
    found = [p.id for p in case.targets(config)]
    if not found or min(case.training.games(case.player.id, p) for p in found) < config.min_games:
        return None  # without targets there is nothing to prove
    lowest = float(surely(case, found, config.confidence).min())
    if lowest <= config.threshold:
        return None
    whom = found[0] if len(found) == 1 else f"all {len(found)} targets"
    return f"scores surely more than {config.threshold:g} against {whom} (at least {lowest:.3f})"


def surely(case: Case, opponents: Sequence[PlayerId], confidence: float) -> npt.NDArray[np.float64]:
    """Return what the player surely scores against each of the opponents, however often somebody looks.

    The bound is about the average since one of the candidates after the last freeze or reset. By return it is the lower
    end of the interval of the games that still count, and the error is shared out among the looks, one after each
    candidate.
    """
    if case.games is None or case.training.by_return:
        looks = 0 if case.games is None else case.games.looks
        share = float(start_shares([looks - 1])[0]) if looks else 1.0
        return case.training.lowers(case.player.id, opponents, 1 - share * (1 - confidence))
    counts, starts = case.games.since(opponents, case.training.raw_row(case.player.id))
    return average_at_least(counts, starts, (1 - confidence) / 2)


def _by_return(case: Case, config: PromotionConfig) -> str | None:
    """Return why a player should be frozen where nobody is beaten: its return with itself is what counts.

    It has to be surely above that of its newest past: their intervals must not touch.
    """
    player, evaluation = case.player.id, case.evaluation
    past = [p.id for p in case.population.frozen_of(player)][-1:]
    if not past or min(evaluation.return_games(p, p) for p in (player, *past)) < config.min_games:
        return None
    _, low, _ = evaluation.return_interval(player, player, config.confidence)
    _, _, high = evaluation.return_interval(past[0], past[0], config.confidence)
    return f"returns surely more than {past[0]} (at least {low:.3g}, it at most {high:.3g})" if low > high else None


def names_file(reset: str) -> bool:
    """Whether a reset names a file, or the hash of a snapshot: neither can be a kind.

    >>> names_file("players/old.safetensors"), names_file("zoo:leduc/main"), names_file("main")
    (True, True, False)
    """
    return bool(re.search(r"[/:]|\.safetensors$|^[0-9a-f]{64}$", reset))


def snapshot_of(config: PromotionConfig) -> Hash | None:
    """Return the snapshot that a reset takes, if it names one; a league that was started knows it by hash."""
    return Hash(config.reset) if re.fullmatch(r"[0-9a-f]{64}", config.reset) else None


def resets(config: PromotionConfig, rng: np.random.Generator) -> bool:
    """Return whether a player that has just been frozen begins again."""
    return config.reset != NEVER and bool(rng.random() < config.reset_chance)


def sources(player: Player, population: Population, config: PromotionConfig) -> list[Player]:
    """Return the players whose newest weights a reset may take: of the kind that `reset` names, and of its role."""
    return [p for p in population.learning_of([config.reset]) if p.id != player.id and p.role == player.role]
