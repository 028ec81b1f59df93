"""Kinds of players: each is a row of config, whose rules its players follow.

rules = rules_of(config.kinds, "main_exploiter", config.matchmaking, config.promotion)
rules.matchmaking.rivals, rules.promotion.reset        # what the row leaves open is as in league.matchmaking etc.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeVar

import msgspec

from league.errors import InputError
from league.matchmaking.asking import Matchmaker, matchmaker
from league.matchmaking.config import MatchmakingConfig
from league.matchmaking.pool import Roles
from league.player import Player, Status
from league.population import Population
from league.promotion import INITIAL, NEVER, POOL, PromotionConfig, reads_targets, targets

RESERVED = frozenset({*(status.value for status in Status), POOL, NEVER, INITIAL})  # words that can name no kind


@dataclass(kw_only=True, slots=True)
class KindConfig:
    """A kind of learning player. What it leaves open is as in league.matchmaking, league.promotion, policy and algo."""

    matchmaking: dict[str, Any] = field(default_factory=dict)  # whom it meets: fields of league.matchmaking that differ
    promotion: dict[str, Any] = field(default_factory=dict)  # freeze and reset: fields of league.promotion that differ
    rate: float = 1.0  # share of training (league.rate_by) of each of its players, relative to other learning ones
    policy: dict[str, Any] = field(default_factory=dict)  # its network: the fields of `policy` that differ
    algo: dict[str, Any] = field(default_factory=dict)  # its way of learning: the fields of `algo` that differ
    rated: bool = True  # whether its players take part in evaluation, and so have a rating
    probed: bool = True  # whether the probe at the end of a league is trained against its players

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        if self.rate < 0:
            raise ValueError(f"rate must not be negative, got {self.rate}")


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRules:
    """The rules of one kind, whole."""

    kind: str
    matchmaking: MatchmakingConfig
    promotion: PromotionConfig

    @property
    def exploits(self) -> bool:
        """Whether players of this kind are up against other kinds, and not against their own."""
        return bool(self.matchmaking.rivals) and self.kind not in self.matchmaking.rivals


def rules_of(
    kinds: Mapping[str, KindConfig], kind: str, matchmaking: MatchmakingConfig, promotion: PromotionConfig
) -> KindRules:
    """Return the rules of a kind; raise InputError, with the nearest name, if there is no such row."""
    row = kinds.get(kind)
    if row is None:
        raise InputError(f"league.kinds: {unknown(kind, kinds)}")
    where = f"league.kinds.{kind}"
    return KindRules(
        kind=kind,
        matchmaking=_merged(matchmaking, row.matchmaking, f"{where}.matchmaking"),
        promotion=_merged(promotion, row.promotion, f"{where}.promotion"),
    )


def kind_matchmaker(rules: KindRules, allow: Collection[str] = ()) -> Matchmaker:
    """Return the matchmaker of a kind, which also refreshes the scores that its freeze rule reads."""
    promotion = rules.promotion

    def read(player: Player, population: Population, roles: Roles) -> list[Player]:
        return targets(player, population, promotion, roles) if reads_targets(promotion) else []

    return matchmaker(rules.matchmaking, read, allow)


def unknown(kind: str, known: Iterable[str]) -> str:
    """Return the message on a kind that does not exist.

    >>> unknown("main_exploitr", ["main", "main_exploiter"])
    "unknown kind 'main_exploitr'; did you mean 'main_exploiter'? Known: main, main_exploiter"
    """
    known = list(known)
    close = difflib.get_close_matches(kind, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ";"
    return f"unknown kind {kind!r}{hint} Known: {', '.join(known) or 'none'}"


Settings = TypeVar("Settings", MatchmakingConfig, PromotionConfig)


def _merged(common: Settings, own: Mapping[str, Any], where: str) -> Settings:
    """Return settings with the fields that a row sets; raise InputError if one is unknown, or wrong."""
    names = [item.name for item in fields(common)]
    for name in own:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {where + '.' + close[0]!r}?" if close else f"it has {', '.join(names)}"
            raise InputError(f"unknown key {where + '.' + name!r}; {hint}")
    try:
        return msgspec.convert({**asdict(common), **own}, type(common))
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        part = where.rpartition(".")[2]
        if not place:  # one of our own checks, which begins with the name of the part
            raise InputError(f"{where.removesuffix(part)}{message}") from error
        raise InputError(f"{where}{place.rstrip('`')}: {message}") from error
