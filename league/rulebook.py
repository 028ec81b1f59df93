"""The rules of one league: who is in it, how matches are made, when players freeze, when it ends."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from league.ids import Hash, PlayerId
from league.kinds import KindConfig, KindRules, rules_of, unknown
from league.limits import EPISODES
from league.matchmaking.config import MatchmakingConfig
from league.metrics import CPU_SECONDS
from league.mixture import check_mixture, with_shares
from league.payoff import PayoffConfig
from league.player import FROZEN, MIXTURE, SCRIPTED, Player
from league.population import Population
from league.probe_rules import ProbeConfig
from league.promotion import PromotionConfig, sources
from league.tournament_rules import TournamentConfig

BY_EPISODES, BY_STEPS, BY_CPU = RATE_BY = ("episodes", "env_steps", CPU_SECONDS)


@dataclass(kw_only=True, slots=True)
class PlayerConfig:
    """A player that is there from the start."""

    kind: str = "main"  # a row of league.kinds, scripted, mixture, or frozen (which needs weights)
    rate: float | None = None  # share of training (league.rate_by), relative to others; null: that of its kind
    role: str | None = None  # bind it to one role; null: any seat; each: a player for each role, named after both
    bot: str | None = None  # scripted players: the name of the bot
    weights: str | None = None  # or from: a packed player or snapshot to start from, or to be; copied by hash
    pin: bool = False  # frozen, from a packed player: its rating there is its anchor here
    members: list[str] = field(default_factory=list)  # mixtures: players; main.* stands for all that main froze
    shares: list[float] = field(default_factory=list)  # mixtures: of each member, 1 in all; empty: all the same
    anchor: float | None = None  # pin its rating here; anchors are never trained against unless listed
    policy: dict[str, Any] = field(default_factory=dict)  # its own network: the fields of its kind's that differ
    algo: dict[str, Any] = field(default_factory=dict)  # its own way of learning: the fields of its kind's that differ


FINAL_LEAST = 20.0  # seconds that a final evaluation has, however small the budget was


@dataclass(kw_only=True, slots=True)
class EvaluationConfig:
    """Evaluation matches: snapshots only, sampled play, both seats. Ratings come from nothing else."""

    share: float = 0.1  # of all env steps
    anchored: float = 0.5  # of these matches against anchors: pasts that only meet each other drift upwards
    episodes: int = 16  # in one ticket
    final_games: int = 400  # of each learning player against each anchor in the end; as many again against the frozen
    final_share: float | None = 0.5  # of budget.minutes for all of these, at least 20 s; null: as long as they take
    elo_k: float = 16.0  # step of the online Elo

    def __post_init__(self) -> None:
        """Refuse shares that are no shares, and tickets without episodes."""
        if not 0 <= self.share < 1:
            raise ValueError(f"evaluation: share must be at least 0 and below 1; got {self.share}")
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
    env_steps: int | None = None  # moves in training and evaluation, counted when a match is finished

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


def _only_mains() -> dict[str, KindConfig]:
    return {"main": KindConfig()}


@dataclass(kw_only=True, slots=True)
class LeagueConfig:
    """All rules of a league."""

    players: dict[str, PlayerConfig] = field(default_factory=dict)  # by player id
    kinds: dict[str, KindConfig] = field(default_factory=_only_mains)  # the rules of each kind of player
    rate_by: str = BY_EPISODES  # what rates are shares of: episodes, env_steps, or cpu_seconds of the learner's updates
    episodes: int = 8  # in one training ticket; even numbers play both seat orders equally often
    matchmaking: MatchmakingConfig = field(default_factory=MatchmakingConfig)
    promotion: PromotionConfig = field(default_factory=PromotionConfig)
    payoff: PayoffConfig = field(default_factory=PayoffConfig)
    team: TeamConfig = field(default_factory=TeamConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    lease: LeaseConfig = field(default_factory=LeaseConfig)
    archive: ArchiveConfig = field(default_factory=ArchiveConfig)
    probe: ProbeConfig = field(default_factory=ProbeConfig)
    tournament: TournamentConfig = field(default_factory=TournamentConfig)
    cooperative: bool = False  # a recipe of partners: it is refused where a seat is up against another one
    exploit_every: int | None = None  # candidates of a player between two exact NashConv of it; null: none

    def __post_init__(self) -> None:
        """Refuse tickets without episodes, and with more than a message holds."""
        if self.exploit_every is not None and self.exploit_every < 1:
            raise ValueError(f"league.exploit_every must be at least 1, or null for never; got {self.exploit_every}")
        if self.rate_by not in RATE_BY:
            raise ValueError(f"league.rate_by: unknown {self.rate_by!r}. Known: {', '.join(RATE_BY)}.")
        if not 1 <= self.episodes <= EPISODES:
            raise ValueError(f"league.episodes must be at least 1 and at most {EPISODES}, got {self.episodes}")

    def rules(self, kind: str) -> KindRules:
        """Return the rules of a kind of learning player.

        >>> config = LeagueConfig(kinds={"main": KindConfig(promotion={"threshold": 0.6})})
        >>> config.rules("main").promotion.threshold, config.promotion.threshold
        (0.6, 0.7)
        """
        return rules_of(self.kinds, kind, self.matchmaking, self.promotion)

    def final_seconds(self) -> float | None:
        """Return how long the final evaluation may take; None if its games decide.

        >>> LeagueConfig(budget=BudgetConfig(minutes=10)).final_seconds(), LeagueConfig().final_seconds()
        (300.0, None)
        """
        minutes, share = self.budget.minutes, self.evaluation.final_share
        return None if minutes is None or share is None else max(FINAL_LEAST, share * minutes * 60)


LONGEST_NAME = 64  # so that the names of frozen players and of metrics stay within the limits of the wire
UNRULED = (SCRIPTED, MIXTURE, FROZEN)  # kinds of players that no row describes
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
        _founder(config, key, name, role)
        for key, p in config.players.items()
        for name, role in in_roles(key, p.role, roles)
    ]
    if not config.tournament.enabled and not any(p.learning and p.rate > 0 for p in players):
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
    for player in players:
        if player.kind == MIXTURE:
            check_mixture(player, players)
    return players


def _founder(config: LeagueConfig, key: str, name: str, role: str | None) -> Player:
    player = config.players[key]
    weights = Hash(player.weights) if player.weights else None
    return Player(
        id=PlayerId(name),
        kind=player.kind,
        role=role,
        bot=player.bot,
        anchor=player.anchor,
        rate=_rate(config, key, player),
        snapshot=weights if player.kind == FROZEN else None,
        start=weights if player.kind != FROZEN else None,
        members=with_shares(key, player.members, player.shares),
    )


def lenders(config: LeagueConfig, player: Player, population: Population) -> list[Player]:
    """Return the players whose newest weights a reset of this one may take: they have its role and its network."""
    found = sources(player, population, config.rules(player.kind).promotion)
    return [p for p in found if _network(config, p) == _network(config, player)]


def _network(config: LeagueConfig, player: Player) -> dict[str, Any]:
    """Return the fields of `policy` in which a player differs from the league."""
    line = next((p for n, p in config.players.items() if player.id in (n, f"{n}_{_plain(player.role or '')}")), None)
    return {**config.kinds[player.kind].policy, **(line.policy if line is not None else {})}


def in_roles(name: str, role: str | None, roles: Sequence[str]) -> list[tuple[str, str | None]]:
    """Return the names and roles of the players that one line of the config stands for."""
    different = list(dict.fromkeys(roles))
    if role != EACH:
        return [(name, role)]
    if len(different) < 2:
        return [(name, None)]
    return [(f"{name}_{_plain(one)}", one) for one in different]


def _plain(role: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "_", role)


def _rate(config: LeagueConfig, name: str, player: PlayerConfig) -> float:
    """Return a player's share of training, its own or that of its kind; refuse a kind that has no row."""
    if player.kind == FROZEN and not player.weights:
        raise ValueError(
            f"league.players.{name}: a frozen player of the config needs from=FILE, a packed player or "
            "a snapshot; the league makes all others itself"
        )
    if player.weights and player.kind in (SCRIPTED, MIXTURE):
        raise ValueError(
            f"league.players.{name}: a player of kind {player.kind} has no weights; remove the file or the bot"
        )
    if player.kind in UNRULED:
        return 1.0
    if player.kind not in config.kinds:
        raise ValueError(f"league.players.{name}: {unknown(player.kind, [*config.kinds, *UNRULED])}")
    return config.kinds[player.kind].rate if player.rate is None else player.rate
