"""Settings that algorithms have in common, without torch: every process reads configs.

A config class names its algorithm, which only a learner loads:

    @dataclass(kw_only=True, slots=True)
    class MineConfig(ActorCriticConfig):
        algorithm: ClassVar[str] = "my_package.mine:Mine"
        name: str = "mine"
        sharpness: float = 2.0  # how sharp it is

It also declares what its algorithm handles, in class variables; those that it leaves out are as in AlgoConfig.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from league.policies.layout import Layout, PolicyConfig, team_size
from league.spec import ACTIONS, EnvSpec
from learners.algorithms.abilities import able_to
from learners.batcher import Batcher

SCHEDULES = ("constant", "linear")
MAGNETS = ("none", "uniform", "copy")
DIVERGENCES = ("reverse", "forward")
HASH = re.compile(r"[0-9a-f]{64}")  # of a snapshot
PLAYER_FILES = ("magnet", "expert")  # fields that may name a player's file, of which a run keeps a copy


@dataclass(kw_only=True, slots=True)
class GroupConfig:
    """How some parameters of a network are trained differently: those whose name matches."""

    match: str = "*"  # a pattern, such as encoder.*: * stands for any text
    lr: float = 1.0  # times algo.lr; 0: they are frozen
    max_grad_norm: float | None = None  # longer gradients of these are shortened to this; None: with the rest

    def __post_init__(self) -> None:
        """Refuse a group that cannot train."""
        if not self.match or self.lr < 0 or (self.max_grad_norm is not None and self.max_grad_norm <= 0):
            raise ValueError("algo.groups: a group needs a pattern `match`, lr >= 0, and a positive max_grad_norm")


def assign_groups(rows: Mapping[str, GroupConfig], layout: Layout) -> list[int]:
    """Return the group of each parameter, -1 for none; raise ValueError if a group has none."""
    patterns = [row.match for row in rows.values()]
    names = [name for name in layout.shapes if name not in layout.untrained]
    for key, pattern in zip(rows, patterns, strict=True):
        if not any(fnmatchcase(name, pattern) for name in names):
            raise ValueError(
                f"algo.groups.{key}: no parameter is called {pattern!r}. The network has {', '.join(names[:20])}"
            )
    return [next((n for n, one in enumerate(patterns) if fnmatchcase(name, one)), -1) for name in layout.shapes]


@dataclass(kw_only=True, slots=True)
class AlgoConfig:
    """The settings of every algorithm."""

    algorithm: ClassVar[str] = ""  # package.module:Class, an Algorithm that takes this config
    head: ClassVar[str] = "logits"  # the outputs that the network must have: see PolicyConfig
    actions: ClassVar[tuple[str, ...]] = ACTIONS  # kinds of actions that it learns, of league.spec.ACTIONS
    remembers: ClassVar[bool] = True  # whether its network may have a memory
    teams: ClassVar[str] = "each agent"  # what learns in a seat of several agents: "each agent", "jointly"; "": no team
    takes_turns: ClassVar[bool] = True  # whether the agents of a seat may act in turns, and not in the same ticks
    own_critics: ClassVar[bool] = False  # whether its critics are in the learner only: it needs policy.critic=none
    torch_networks: ClassVar[bool] = True  # whether it trains networks on the contract of league.policies.network
    normalises: ClassVar[bool] = True  # whether it updates the statistics of policy.normalise
    central_critic: ClassVar[bool] = True  # whether it trains a critic that sees more than its agent
    replays: ClassVar[bool] = False  # whether it learns from a replay
    ranks: ClassVar[bool] = True  # whether several processes may share its batches (launch.ranks)
    name: str = ""  # of the algorithm: a name of the group ludus.algorithms, or package.module:Class of its config
    batch: int = 4096  # decisions for each update, at least
    lr: float = 3e-4  # learning rate at the start
    lr_schedule: str = "constant"  # "constant", or "linear" until the anneal is over
    lr_final: float = 0.0  # share of lr that is left at the end of a linear schedule
    anneal_decisions: int = 0  # of an incarnation, over which lr and entropy are annealed; 0: over the league's budget
    gamma: float = 0.99  # discount for each decision of an agent
    max_grad_norm: float = 0.5  # longer gradients are shortened to this
    max_lag: int = 2  # segments decided by weights more versions old than this are dropped
    groups: dict[str, GroupConfig] = field(default_factory=dict)  # of parameters; the first that matches counts

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        if self.lr_schedule not in SCHEDULES:
            raise ValueError(f"algo.lr_schedule: unknown {self.lr_schedule!r}. Known: {', '.join(SCHEDULES)}.")
        if self.batch < 1 or min(self.max_lag, self.anneal_decisions) < 0:
            raise ValueError("algo: batch must be at least 1, max_lag and anneal_decisions at least 0")
        if min(self.lr, self.max_grad_norm) <= 0 or self.lr_final < 0:
            raise ValueError("algo: lr and max_grad_norm must be positive, lr_final not negative")
        if not 0 <= self.gamma <= 1:
            raise ValueError(f"algo.gamma must lie between 0 and 1, got {self.gamma}")

    @property
    def may_wait(self) -> int:
        """How many decisions may wait to be learned from, if that is more than some batches."""
        return 0

    def new_batcher(self, incarnation: int, ranks: int = 1) -> Batcher:
        """Return an empty batch for one of several ranks."""
        share, limit = -(-self.batch // ranks), self.may_wait // ranks
        return Batcher(incarnation=incarnation, batch=share, max_lag=self.max_lag, limit=limit)

    def refuse(self, policy: PolicyConfig) -> None:
        """Raise ValueError if this algorithm cannot train such a network."""
        if not policy.ours and not self.torch_networks:
            raise self._unable(f"cannot train the network {policy.name}", "a built-in policy", "torch_networks")
        if policy.head != self.head:
            raise self._misfit(f"head={self.head}, not {policy.head}")
        if self.own_critics != (policy.critic == "none"):
            raise self._misfit("critic=none" if self.own_critics else "critic=shared, not none")
        if policy.recurrent and not self.remembers:
            raise self._unable("trains no network with a memory", "policy.memory=none", "remembers")
        if policy.oversees and not self.central_critic:
            raise self._unable(
                f"has no use for policy.critic={policy.critic}", "policy.critic=shared", "central_critic"
            )
        if policy.normalise and not self.normalises:
            raise self._unable("cannot normalise observations", "policy.normalise=false", "normalises")

    def refuse_game(self, spec: EnvSpec, ranks: int = 1) -> None:
        """Raise ValueError if this algorithm cannot learn a game with such actions and seats, on so many ranks."""
        if spec.action_kind not in self.actions:
            raise self._unable(
                f"learns {' or '.join(self.actions)}, but the actions of {spec.name!r} are {spec.action_kind} "
                f"(choices {list(spec.heads)}, {spec.continuous} continuous numbers)",
                "",
                "actions",
                spec.action_kind,
            )
        if team_size(spec) > 1 and not self.teams:
            raise self._unable(
                f"trains no seat of several agents, and {spec.name!r} has one of {team_size(spec)}",
                "env.seats so that each agent has its own",
                "teams",
            )
        if ranks > 1 and not self.ranks:
            raise self._unable(f"cannot share its batches among {ranks} ranks", "launch.ranks=1", "ranks")

    def refuse_turns(self, game: str, agents: Sequence[str]) -> None:
        """Raise ValueError if this algorithm learns jointly what these agents of a seat decide, who act in turns."""
        if not self.takes_turns:
            raise self._unable(
                f"learns from what the agents of a seat do in the same tick, but {', '.join(agents)} of {game!r} act "
                "in turns",
                "env.seats so that each agent has its own",
                "takes_turns",
            )

    def _misfit(self, needed: str) -> ValueError:
        return ValueError(
            f"algo={self.name} needs policy.{needed}. (algo={self.name} sets it on the command line; a player with its "
            "own algorithm needs it in its own policy.)"
        )

    def _unable(self, why: str, remedy: str, ability: str, wanted: object = True) -> ValueError:
        others = f"use an algorithm that can: {', '.join(able_to(ability, wanted)) or 'none is installed'}"
        return ValueError(
            f"algo={self.name} {why}. " + (f"Set {remedy}, or {others}" if remedy else others.capitalize())
        )

    @property
    def weight_noise(self) -> float:
        """The deviation of the noise on the weights in each training episode; 0: it learns from decisions instead."""
        return 0.0

    def parts(self, spec: EnvSpec, allow: Collection[str] = ()) -> dict[str, Any]:
        """Return what else the constructor of its algorithm takes, by name."""
        return {}

    @property
    def anneals(self) -> str:
        """The setting that requires an anneal, if any."""
        return "lr_schedule=linear" if self.lr_schedule == "linear" else ""

    def learning_rate(self, decisions: int, spent: float | None = None) -> float:
        """Return the learning rate after this many decisions, with this share of the training over."""
        if self.lr_schedule == "constant":
            return self.lr
        return self.lr * (1 - (1 - self.lr_final) * self._annealed(decisions, spent))

    def _annealed(self, decisions: int, spent: float | None) -> float:
        if self.anneal_decisions:
            return min(1.0, decisions / self.anneal_decisions)
        if spent is None:
            raise ValueError(f"algo={self.name} anneals over decisions only: give algo.anneal_decisions")
        return spent


Algo = TypeVar("Algo", bound=AlgoConfig)


def with_paths(config: Algo, snapshots: Path) -> Algo:
    """Return a config with paths in place of the hashes of snapshots, which a run has in this folder."""
    named = {name: str(getattr(config, name, "")) for name in PLAYER_FILES}
    found: dict[str, Any] = {
        name: str(snapshots / f"{text}.safetensors") for name, text in named.items() if HASH.fullmatch(text)
    }
    return replace(config, **found) if found else config


def is_player_file(text: str) -> bool:
    """Whether a setting names a player's file: one that is there, one of the zoo, or by its hash one of the run."""
    return text.startswith("zoo:") or HASH.fullmatch(text) is not None or Path(text).is_file()


@dataclass(kw_only=True, slots=True)
class ActorCriticConfig(AlgoConfig):
    """The settings that actor-critic algorithms have in common."""

    entropy: float = 0.01  # weight of the entropy bonus at the start
    entropy_final: float | None = None  # its weight at the end of the anneal; None: constant
    magnet: str = "none"  # policy to stay near: "uniform"; "copy" of the own weights; a player's file; "none"
    magnet_coef: float = 0.0  # weight of the KL divergence from the magnet at the start
    magnet_final: float | None = None  # its weight at the end of the anneal; None: constant
    magnet_divergence: str = "reverse"  # KL(policy || magnet), or "forward": KL(magnet || policy), for a teacher
    magnet_every: int = 100  # updates after which a copy is refreshed
    value_coef: float = 0.5  # weight of the value loss
    normalise_advantages: bool = True  # to mean 0 and deviation 1 over the batch
    normalise_values: bool = False  # learn values at a running mean of 0 and deviation of 1
    burn_in: int = 0  # with a memory: first ticks of a segment that only bring the stored memory up to date
    accumulate: int = 1  # parts in which a gradient is computed: more of them take less memory, and more time

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        AlgoConfig.__post_init__(self)  # super() does not work in a dataclass with slots
        if self.accumulate < 1 or self.burn_in < 0:
            raise ValueError("algo.accumulate must be at least 1, algo.burn_in at least 0")
        if min(self.entropy, self.entropy_final or 0.0, self.value_coef) < 0:
            raise ValueError("algo: entropy, entropy_final and value_coef must not be negative")
        if min(self.magnet_coef, self.magnet_final or 0.0) < 0 or self.magnet_every < 1:
            raise ValueError("algo: magnet_coef and magnet_final must not be negative, magnet_every at least 1")
        if self.magnet_divergence not in DIVERGENCES:
            raise ValueError(
                f"algo.magnet_divergence: unknown {self.magnet_divergence!r}. Known: {', '.join(DIVERGENCES)}."
            )
        if self.magnet == "none" and (self.magnet_coef or self.magnet_final):
            raise ValueError("algo.magnet_coef has no effect with algo.magnet=none. Set algo.magnet=uniform or copy.")

    def refuse(self, policy: PolicyConfig) -> None:
        """Raise ValueError if this algorithm cannot train such a network, or its magnet is a file that is missing."""
        AlgoConfig.refuse(self, policy)
        if self.magnet not in MAGNETS and not is_player_file(self.magnet):
            raise ValueError(
                f"algo.magnet: {self.magnet!r} is neither {', '.join(MAGNETS)} nor the file of a player "
                "(ludus pack RUN PLAYER, or RUN/snapshots/HASH.safetensors)"
            )

    @property
    def passes(self) -> tuple[int, int]:
        """The number of epochs of an update, and of decisions in a gradient step."""
        return 1, self.batch

    @property
    def max_kl(self) -> float | None:
        """The approximate KL divergence at which an update ends; None: no limit."""
        return None

    @property
    def anneals(self) -> str:
        """The setting that requires an anneal, if any."""
        if self.entropy_final is not None:
            return f"entropy_final={self.entropy_final:g}"
        if self.magnet_final is not None:
            return f"magnet_final={self.magnet_final:g}"
        return "lr_schedule=linear" if self.lr_schedule == "linear" else ""

    def entropy_coef(self, decisions: int, spent: float | None = None) -> float:
        """Return the weight of the entropy bonus after this many decisions, with this share of the training over."""
        if self.entropy_final is None:
            return self.entropy
        return self.entropy + (self.entropy_final - self.entropy) * self._annealed(decisions, spent)

    def magnet_weight(self, decisions: int, spent: float | None = None) -> float:
        """Return the weight of the divergence from the magnet after this many decisions."""
        if self.magnet_final is None:
            return self.magnet_coef
        return self.magnet_coef + (self.magnet_final - self.magnet_coef) * self._annealed(decisions, spent)
