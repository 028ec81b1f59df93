"""From a run and one of its players to the config of a probe: a small league of its own inside the run.

    target = find_target(run, state, "main")
    config = probe_config(run, state, target, ProbeOrder(steps=200_000))

Two players: `target`, frozen, a bot or a mixture, and `probe`, which learns against it and nobody else. Environment,
network and algorithm are the run's. The learning rate and the entropy bonus are the run's at its start and stay
constant, because a best response follows one fixed opponent for a short time; batches are at most BATCH decisions for
the same reason.
"""

import copy
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launch.config.config import Config, LaunchConfig, from_plain, to_plain
from launch.config.track import TrackConfig
from launch.matches.match import find_entry
from launch.viewers.probe_reports import SCRATCH, SELF, ProbeError
from launch.viewers.tables import all_standings
from league.ids import Hash
from league.kinds import KindConfig
from league.matchmaking.config import MatchmakingConfig
from league.player import FROZEN, MIXTURE, SCRIPTED
from league.policies.layout import PolicyConfig, policy_from
from league.promotion import PromotionConfig
from league.rulebook import BudgetConfig, EvaluationConfig, LeagueConfig, PlayerConfig
from league.state import LeagueState
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore, read_snapshot
from league.ticket import Entry, Member

PROBE, TARGET, MEMBER = "probe", "target", "member"
BATCH = 2048  # decisions in an update, at most
CANDIDATE = BATCH  # decisions between two candidates, which are all that a kill costs: about one update
HEARTBEAT = 0.5  # seconds between two reports of its learner: a candidate waits until the last one was reported
NEVER = 1 << 60  # decisions: a probe is never frozen


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOrder:
    """How a probe is trained, and how long; None: as the run says, or without this limit."""

    steps: int | None = 200_000  # env steps
    seconds: float | None = None
    start: str | None = None  # self, scratch or a file; None: self, against a bot scratch
    games: int = 400  # fresh ones for each score
    lr: float | None = None
    entropy: float | None = None
    seed: int = 1
    inline: bool | None = None  # train in this process

    def __post_init__(self) -> None:
        """Refuse what could not be trained or measured."""
        if self.steps is None and self.seconds is None:
            raise ProbeError("a probe needs an end: give steps or seconds")
        for name in ("steps", "seconds", "games", "lr"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ProbeError(f"--{name} must be more than 0, got {value:g}")
        if self.entropy is not None and self.entropy < 0:
            raise ProbeError(f"--entropy must not be negative, got {self.entropy:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTarget:
    """The player to be exploited: its weights or its bot, its role, and where the probe can sit against it."""

    name: str
    entry: Entry
    role: str | None
    probe_role: str | None
    rating: float
    parent: str  # the player of the config whose algorithm the probe uses

    @property
    def snapshot(self) -> Hash | None:
        """The weights of the target: of a mixture those of the largest member, and of equals the last."""
        members = [member for member in self.entry.members if member.snapshot is not None]
        return max(reversed(members), key=lambda m: m.share).snapshot if members else self.entry.snapshot


def find_target(run: RunDirectory, state: LeagueState, name: str) -> ProbeTarget:
    """Return who plays under a name; refuse games without opponents, and weights that are gone."""
    assert state.env is not None  # a league that can be read was founded
    if state.env.cooperative:
        raise ProbeError(f"all seats of {state.env.name} are on one side: there is nobody to exploit, so no probe")
    entry = find_entry(state, name)
    store = SnapshotStore(run.snapshots)
    for snapshot in entry.snapshots:
        if snapshot not in store:
            raise ProbeError(f"the weights of {name!r} are gone from {run.snapshots}: restore {snapshot[:12]}...")
    member = entry.player in state.population  # else it is a bot that no league has to know
    role = state.population[entry.player].role if member else None
    parent = state.population[entry.player].parent if member else None
    ratings = {row.player: row.rating for row in all_standings(state)}
    return ProbeTarget(
        name=name,
        entry=entry,
        role=role,
        probe_role=_opposite(state, name, role),
        rating=round(ratings.get(entry.player) or 0.0, 1),
        parent=str(parent or entry.player),
    )


def _opposite(state: LeagueState, name: str, role: str | None) -> str | None:
    """Return the role that the probe takes against a target of this role."""
    assert state.env is not None
    others = sorted({one for one in state.env.roles if one != role})
    if role is None:
        return None
    if len(others) != 1:
        raise ProbeError(
            f"{name!r} plays as {role}, and {state.env.name} has {len(others)} other roles: a probe takes exactly one"
        )
    return others[0]


def start_file(run: RunDirectory, state: LeagueState, target: ProbeTarget, start: str | None) -> Path | None:
    """Return the file of the weights that a probe starts from; None: from scratch."""
    if start == SCRATCH or (start is None and target.snapshot is None):
        return None
    if start not in (None, SELF):
        return Path(start)
    snapshot = target.snapshot if target.probe_role is None else _weights_of(state, target)
    if snapshot is None:
        raise ProbeError(f"{target.name!r} has no weights that a probe could start from: use --from scratch or a file")
    return SnapshotStore(run.snapshots).path(snapshot)


def _weights_of(state: LeagueState, target: ProbeTarget) -> str | None:
    """Return the newest weights of the first learning player in the probe's role: the target's are of another role."""
    able = [player.id for player in state.population.learning() if player.role == target.probe_role]
    found = (state.contestant(player) for player in able)
    return next((entry.snapshot for entry in found if entry is not None), None)


def probe_config(
    run: RunDirectory, config: Config, state: LeagueState, target: ProbeTarget, order: ProbeOrder
) -> Config:
    """Return the config of a probe; its name says whom it probes, and from where, so that it can go on."""
    start = start_file(run, state, target, order.start)
    store = SnapshotStore(run.snapshots)
    probe = copy.deepcopy(config)
    probe.name, probe.runs, probe.seed = probe_name(target, start, order), str(run.probes), order.seed
    probe.policy = _policy(config, store, target, start)
    probe.algo = _algo(config, target, order)
    probe.league = _league(config, store, target, start)
    minutes = None if order.seconds is None else order.seconds / 60
    probe.league.budget = BudgetConfig(minutes=minutes, env_steps=order.steps)
    probe.learner.heartbeat = min(HEARTBEAT, probe.learner.heartbeat)
    probe.learner.candidate_decisions = max(CANDIDATE, probe.algo.get("batch", CANDIDATE))
    inline = config.launch.name == "inline" if order.inline is None else order.inline
    collectors = 0 if config.launch.name == "slurm" else config.launch.collectors
    probe.launch = LaunchConfig(name="inline" if inline else "local", collectors=collectors)
    probe.track = TrackConfig()
    return from_plain(to_plain(probe))


def probe_name(target: ProbeTarget, start: Path | None, order: ProbeOrder) -> str:
    """Return the name of a probe: the same target, start and options go on with the same probe."""
    weights = f"-{_digest(target.entry)[:8]}" if target.entry.snapshots else ""
    begun = SCRATCH if start is None else SELF if order.start in (None, SELF) else start.stem[:12]
    options = {"lr": order.lr, "entropy": order.entropy, "seed": None if order.seed == 1 else order.seed}
    parts = [
        f"{target.name}{weights}",
        begun,
        *(f"{key}={value:g}" for key, value in options.items() if value is not None),
    ]
    return re.sub(r"[^A-Za-z0-9_.+=,@-]+", "-", ".".join(parts)).lstrip(".-+=,@")


def _digest(entry: Entry) -> str:
    """Return what names the weights of an entry: their hash, for a mixture one of all members with their shares."""
    if not entry.members:
        return str(entry.snapshot)
    parts = [f"{member.snapshot or member.bot} {member.share:.6f}" for member in entry.members]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _league(config: Config, store: SnapshotStore, target: ProbeTarget, start: Path | None) -> LeagueConfig:
    """Return the rules: the probe meets the target only, is never frozen, and nobody is evaluated."""
    rules = copy.deepcopy(config.league)
    return LeagueConfig(
        players={
            PROBE: PlayerConfig(kind=PROBE, role=target.probe_role, weights=None if start is None else str(start)),
            **_target_players(store, target),
        },
        kinds={PROBE: KindConfig()},
        episodes=rules.episodes,
        matchmaking=MatchmakingConfig(
            name="pfsp",
            self_play=0.0,
            weighting="uniform",
            partner_self=1.0,
            train_against_anchors=True,
            pool=[MIXTURE] if target.entry.members else [],  # not its members one by one
        ),
        promotion=PromotionConfig(min_decisions=NEVER, max_decisions=NEVER),
        payoff=rules.payoff,
        team=rules.team,
        evaluation=EvaluationConfig(share=0.0, final_games=0),
        lease=rules.lease,
        archive=rules.archive,
    )


def _target_players(store: SnapshotStore, target: ProbeTarget) -> dict[str, PlayerConfig]:
    """Return the target, and the members that it needs if it is a mixture."""
    entry = target.entry
    if not entry.members:
        return {TARGET: _fixed(store, target, entry, anchor=target.rating)}
    members = {f"{MEMBER}{place}": member for place, member in enumerate(entry.members)}
    shares = [member.share for member in entry.members]
    mixture = PlayerConfig(kind=MIXTURE, role=target.role, members=[*members], shares=shares, anchor=target.rating)
    return {name: _fixed(store, target, member) for name, member in members.items()} | {TARGET: mixture}


def _fixed(store: SnapshotStore, target: ProbeTarget, one: Entry | Member, anchor: float | None = None) -> PlayerConfig:
    """Return a player that does not learn: a bot, or weights."""
    if one.snapshot is None:
        return PlayerConfig(kind=SCRIPTED, role=target.role, bot=one.bot, anchor=anchor)
    return PlayerConfig(kind=FROZEN, role=target.role, weights=str(store.path(one.snapshot)), anchor=anchor)


def _policy(config: Config, store: SnapshotStore, target: ProbeTarget, start: Path | None) -> PolicyConfig:
    """Return the network: that of the start weights, else the target's, else the run's."""
    if start is not None:
        try:
            return policy_from(read_snapshot(start)[1].manifest.policy)
        except FileNotFoundError as error:
            raise ProbeError(f"--from {start}: there is no such file. Use self, scratch or a snapshot file") from error
    if target.snapshot is not None:
        return policy_from(store.get(target.snapshot).manifest.policy)
    return config.policy


def _algo(config: Config, target: ProbeTarget, order: ProbeOrder) -> dict[str, Any]:
    """Return the algorithm of the target's player, with a constant learning rate and entropy, and small batches."""
    player = config.league.players.get(target.parent)
    own = {} if player is None else player.algo
    name = own.get("name", config.algo["name"])
    algo = {**(config.algo if name == config.algo["name"] else {"name": name}), **own}
    algo["lr_schedule"] = "constant"
    if "entropy_final" in algo:
        algo["entropy_final"] = None
    if "batch" in algo:
        algo["batch"] = min(algo["batch"], BATCH)
    given = {"lr": order.lr, "entropy": order.entropy}
    return algo | {key: value for key, value in given.items() if value is not None}
