"""The rules of one league: who is in it, how matches are made, when players freeze, when it ends."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from league.ids import PlayerId
from league.limits import EPISODES
from league.matchmaking.config import MatchmakingConfig
from league.payoff import PayoffConfig
from league.player import Kind, Player
from league.promotion import PromotionConfig


@dataclass(kw_only=True, slots=True)
class PlayerConfig:
    """A player that is there from the start."""

    kind: str = "main"  # main, main_exploiter, league_exploiter or scripted
    rate: float = 1.0  # share of training episodes, relative to the other learning players
    role: str | None = None  # bind it to one role; null: any seat; each: a player for each role, named after both
    bot: str | None = None  # scripted players: the name of the bot
    anchor: float | None = None  # pin its rating here; anchors are never trained against unless listed
    policy: dict[str, Any] = field(default_factory=dict)  # its own network: the fields of `policy` that differ
    algo: dict[str, Any] = field(default_factory=dict)  # its own way of learning: the fields of `algo` that differ


FINAL_LEAST = 20.0  # seconds that a final evaluation has, however small the budget was


@dataclass(kw_only=True, slots=True)
class EvaluationConfig:
    """Evaluation matches: snapshots only, sampled play, both seats. Ratings come from nothing else."""

    share: float = 0.1  # of all env steps
    anchored: float = 0.5  # of these matches against anchors: pasts that only meet each other drift upwards
    episodes: int = 16  # in one ticket
    carry: float = 0.5  # how much the games of an older candidate still count when a new one is written
    final_games: int = 400  # of each learning player against each anchor in the end; as many again against the frozen
    final_share: float | None = 0.5  # of budget.minutes for all of these, at least 20 s; null: as long as they take
    elo_k: float = 16.0  # step of the online Elo

    def __post_init__(self) -> None:
        """Refuse shares that are no shares, and tickets without episodes."""
        if not 0 <= self.share < 1 or not 0 <= self.carry <= 1:
            raise ValueError(
                f"evaluation: share must be at least 0 and below 1, carry between 0 and 1; "
                f"got {self.share} and {self.carry}"
            )
        if not 0 <= self.anchored <= 1:
            raise ValueError(f"evaluation: anchored must lie between 0 and 1, got {self.anchored}")
        if self.final_share is not None and not self.final_share > 0:
            raise ValueError(f"evaluation: final_share must be positive, or null for no limit; got {self.final_share}")
        if not 1 <= self.episodes <= EPISODES or self.final_games < 0 or not self.elo_k > 0:
            raise ValueError(
                f"evaluation: episodes must be at least 1 (and at most {EPISODES}), final_games not negative and elo_k "
                f"positive; "
                f"got {self.episodes}, {self.final_games} and {self.elo_k}"
            )


@dataclass(kw_only=True, slots=True)
class TeamConfig:
    """Whose rewards a player learns from: its agents' own, or those of its whole side. Outcomes are not changed."""

    spirit: float = 0.0  # share of the side's mean in the reward of each agent: 0 is selfish, 1 all alike
    spirit_final: float | None = None  # the share after `anneal_decisions`; null: the same for ever
    anneal_decisions: int = 1_000_000  # of the player, over which the one becomes the other

    def __post_init__(self) -> None:
        """Refuse shares that are no shares."""
        if not 0 <= self.spirit <= 1 or not 0 <= (self.spirit_final or 0.0) <= 1 or self.anneal_decisions < 1:
            raise ValueError(
                f"team: spirit and spirit_final must lie between 0 and 1, anneal_decisions be positive; "
                f"got {self.spirit}, {self.spirit_final} and {self.anneal_decisions}"
            )

    def at(self, decisions: int) -> float:
        """Return the spirit of a player that has trained on so many decisions.

        >>> round(TeamConfig(spirit=0.2, spirit_final=1.0, anneal_decisions=100).at(50), 6)
        0.6
        """
        if self.spirit_final is None:
            return self.spirit
        return self.spirit + (self.spirit_final - self.spirit) * min(1.0, decisions / self.anneal_decisions)


@dataclass(kw_only=True, slots=True)
class BudgetConfig:
    """When training ends; null means never. After it comes the final evaluation."""

    minutes: float | None = None  # of play, all terms together
    env_steps: int | None = None  # moves in training and evaluation

    def __post_init__(self) -> None:
        """Refuse a budget that is spent before it begins."""
        for name in ("minutes", "env_steps"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"budget.{name} must be positive, or null for no limit; got {value}")

    def spent(self, elapsed: float, env_steps: int) -> str:
        """Return why training must end after so many seconds of play and env steps, or nothing.

        >>> BudgetConfig(minutes=2).spent(119.9, 10**9), BudgetConfig(env_steps=5000).spent(0.0, 5000)
        ('', 'the budget of 5,000 env steps is spent')
        """
        if self.minutes is not None and elapsed >= self.minutes * 60:
            return f"the budget of {self.minutes:g} minutes is spent"
        if self.env_steps is not None and env_steps >= self.env_steps:
            return f"the budget of {self.env_steps:,} env steps is spent"
        return ""


@dataclass(kw_only=True, slots=True)
class LeaseConfig:
    """How long a ticket may show no progress, and how often it is tried."""

    seconds: float = 30.0  # without progress in its collector's heartbeats
    attempts: int = 3  # then the ticket is void
    give_up: int = 20  # void tickets in a row end the league, if no collector has a result between them
    quarantine: int = 20  # faults of one collector in a row, with no result between them, while others succeed: no more

    def __post_init__(self) -> None:
        """Refuse leases that nobody could keep."""
        if not self.seconds > 0 or min(self.attempts, self.give_up, self.quarantine) < 1:
            raise ValueError(
                f"lease: seconds must be positive, attempts, give_up and quarantine at least 1; "
                f"got {self.seconds}, {self.attempts}, {self.give_up} and {self.quarantine}"
            )


@dataclass(kw_only=True, slots=True)
class ArchiveConfig:
    """Old events move from the ledger into compressed files; nothing is lost, and all readers see them as before."""

    keep_events: int | None = 200_000  # of the newest ones that stay in the ledger; null: all of them, for ever
    keep_megabytes: float = 1024.0  # of ledger; above that fewer events stay
    segment_events: int = 5_000  # in one file; to write it keeps the coordinator busy for some 50 ms

    def __post_init__(self) -> None:
        """Refuse an archive that could not work."""
        if (self.keep_events or 0) < 0 or not self.keep_megabytes > 0 or self.segment_events < 1:
            raise ValueError(
                f"archive: keep_events must not be negative, keep_megabytes positive and segment_events at least 1; "
                f"got {self.keep_events}, {self.keep_megabytes} and {self.segment_events}"
            )

    def due(self, events: int, megabytes: float) -> bool:
        """Return whether a ledger with so many events and bytes has enough old ones for a segment.

        >>> rules = ArchiveConfig(keep_events=100, segment_events=10, keep_megabytes=1)
        >>> [rules.due(109, 0.1), rules.due(110, 0.1), rules.due(20, 1.5)]
        [False, True, True]
        """
        if self.keep_events is None:
            return False
        crowded = megabytes > self.keep_megabytes and events >= 2 * self.segment_events
        return crowded or events >= self.keep_events + self.segment_events


@dataclass(kw_only=True, slots=True)
class LeagueConfig:
    """All rules of a league."""

    players: dict[str, PlayerConfig] = field(default_factory=dict)  # by player id
    episodes: int = 8  # in one training ticket; even numbers play both seat orders equally often
    matchmaking: MatchmakingConfig = field(default_factory=MatchmakingConfig)
    promotion: PromotionConfig = field(default_factory=PromotionConfig)
    payoff: PayoffConfig = field(default_factory=PayoffConfig)
    team: TeamConfig = field(default_factory=TeamConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    lease: LeaseConfig = field(default_factory=LeaseConfig)
    archive: ArchiveConfig = field(default_factory=ArchiveConfig)

    def __post_init__(self) -> None:
        """Refuse tickets without episodes, and with more than a message holds."""
        if not 1 <= self.episodes <= EPISODES:
            raise ValueError(f"league.episodes must be at least 1 and at most {EPISODES}, got {self.episodes}")

    def final_seconds(self) -> float | None:
        """Return how long the final evaluation may take; None if its games decide.

        >>> LeagueConfig(budget=BudgetConfig(minutes=10)).final_seconds(), LeagueConfig().final_seconds()
        (300.0, None)
        """
        minutes, share = self.budget.minutes, self.evaluation.final_share
        return None if minutes is None or share is None else max(FINAL_LEAST, share * minutes * 60)


LONGEST_NAME = 64  # so that the names of frozen players and of metrics stay within the limits of the wire
EACH = "each"  # the role of a player that stands for one in every role


def founders(config: LeagueConfig, roles: Sequence[str] = ()) -> list[Player]:
    """Return the players of the config, in its order; refuse a league that could never train.

    `roles` are those of the environment: a player with the role `each` becomes one for each of them, and where
    there is only one, just itself.

    >>> rules = LeagueConfig(players={"main": PlayerConfig(role="each")})
    >>> [player.id for player in founders(rules, ["fox", "hound", "hound"])]
    ['main_fox', 'main_hound']
    """
    players = [
        Player(id=PlayerId(name), kind=_kind(key, p.kind), role=role, bot=p.bot, anchor=p.anchor, rate=p.rate)
        for key, p in config.players.items()
        for name, role in _in_roles(key, p.role, roles)
    ]
    if not any(p.learning and p.rate > 0 for p in players):
        raise ValueError("the league has no learning player: add one to league.players, e.g. main: {kind: main}")
    taken = [str(player.id) for player in players]
    for name in taken:
        if not 0 < len(name) <= LONGEST_NAME:
            raise ValueError(f"league.players.{name}: a name has 1 to {LONGEST_NAME} characters, this one {len(name)}")
        parent, dot, number = name.rpartition(".")
        if dot and number.isdigit() and parent in taken:
            raise ValueError(f"league.players.{name}: this is what a frozen {parent!r} is called; choose another name")
        if taken.count(name) > 1:
            raise ValueError(f"league.players: {name!r} is there twice, once by role: each; choose another name")
    return players


def _in_roles(name: str, role: str | None, roles: Sequence[str]) -> list[tuple[str, str | None]]:
    """Return the names and roles of the players that one line of the config stands for."""
    different = list(dict.fromkeys(roles))
    if role != EACH:
        return [(name, role)]
    if len(different) < 2:
        return [(name, None)]
    return [(f"{name}_{re.sub(r'[^0-9A-Za-z]+', '_', one)}", one) for one in different]


def _kind(name: str, text: str) -> Kind:
    try:
        kind = Kind(text)
    except ValueError:
        known = ", ".join(k.value for k in Kind if k != Kind.FROZEN)
        raise ValueError(f"league.players.{name}: unknown kind {text!r}; choose one of {known}") from None
    if kind == Kind.FROZEN:
        raise ValueError(f"league.players.{name}: frozen players are made by the league, not by the config")
    return kind
