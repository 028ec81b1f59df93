"""The rules of one league: who is in it, how matches are made, when players freeze, when it ends."""

from dataclasses import dataclass, field

from league.ids import PlayerId
from league.matchmaking.config import MatchmakingConfig
from league.payoff import PayoffConfig
from league.player import Kind, Player
from league.promotion import PromotionConfig


@dataclass(kw_only=True, slots=True)
class PlayerConfig:
    """A player that is there from the start."""

    kind: str = "main"  # main, main_exploiter, league_exploiter or scripted
    rate: float = 1.0  # share of training episodes, relative to the other learning players
    role: str | None = None  # bind it to one role; null: any seat
    bot: str | None = None  # scripted players: the name of the bot
    anchor: float | None = None  # pin its rating here; anchors are never trained against unless listed


@dataclass(kw_only=True, slots=True)
class EvaluationConfig:
    """Evaluation matches: snapshots only, sampled play, both seats. Ratings come from nothing else."""

    share: float = 0.1  # of all env steps
    episodes: int = 16  # in one ticket
    carry: float = 0.5  # how much the games of an older candidate still count when a new one is written
    final_games: int = 400  # of each learning player against each anchor when the budget is spent
    elo_k: float = 16.0  # step of the online Elo


@dataclass(kw_only=True, slots=True)
class BudgetConfig:
    """When training ends; null means never. After it comes the final evaluation."""

    minutes: float | None = None  # of play, all terms together
    env_steps: int | None = None  # moves in training and evaluation


@dataclass(kw_only=True, slots=True)
class LeaseConfig:
    """How long a ticket may show no progress, and how often it is tried."""

    seconds: float = 30.0  # without progress in its collector's heartbeats
    attempts: int = 3  # then the ticket is void
    give_up: int = 20  # void tickets in a row, with no result between them, end the league


@dataclass(kw_only=True, slots=True)
class LeagueConfig:
    """All rules of a league."""

    players: dict[str, PlayerConfig] = field(default_factory=dict)  # by player id
    episodes: int = 8  # in one training ticket; even numbers play both seat orders equally often
    matchmaking: MatchmakingConfig = field(default_factory=MatchmakingConfig)
    promotion: PromotionConfig = field(default_factory=PromotionConfig)
    payoff: PayoffConfig = field(default_factory=PayoffConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    lease: LeaseConfig = field(default_factory=LeaseConfig)


def founders(config: LeagueConfig) -> list[Player]:
    """Return the players of the config, in its order; refuse a league that could never train."""
    players = [
        Player(id=PlayerId(name), kind=_kind(name, p.kind), role=p.role, bot=p.bot, anchor=p.anchor, rate=p.rate)
        for name, p in config.players.items()
    ]
    if not any(p.learning and p.rate > 0 for p in players):
        raise ValueError("the league has no learning player: add one to league.players, e.g. main: {kind: main}")
    return players


def _kind(name: str, text: str) -> Kind:
    try:
        kind = Kind(text)
    except ValueError:
        known = ", ".join(k.value for k in Kind if k != Kind.FROZEN)
        raise ValueError(f"league.players.{name}: unknown kind {text!r}; choose one of {known}") from None
    if kind == Kind.FROZEN:
        raise ValueError(f"league.players.{name}: frozen players are made by the league, not by the config")
    return kind
