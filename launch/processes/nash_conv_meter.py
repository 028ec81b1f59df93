"""The exact NashConv of candidates while a league runs (`league.exploit_every`), in the process that writes them.

    meter = NashConvMeter(config, snapshots, allow)
    meter(candidate, last=False)        # {"player/main/league/nash_conv": 0.42}, or nothing if none is due

Learners know no environments, so the composition root gives them this function. The game is enumerated once.
"""

import logging
from collections import Counter
from collections.abc import Collection

from collectors.envs.enumerating import enumerate_game
from collectors.envs.game_tree import GameTree
from collectors.exact.best_response import exploitability
from collectors.exact.tree_policy import policy_of
from launch.config.config import Config, ConfigError, policies_of
from league.errors import LudusError
from league.ids import Hash, PlayerId
from league.metrics import NASH_CONV, player_metric
from league.policies.network_actor import actor_from_snapshot
from league.spec import EnvSpec
from league.store.snapshots import SnapshotStore
from league.wire.messages import Candidate

log = logging.getLogger("ludus.learner")


class NashConvMeter:
    """Computes the NashConv of every n-th candidate of each player, and of its last one."""

    def __init__(self, config: Config, spec: EnvSpec, store: SnapshotStore, allow: Collection[str] = ()) -> None:
        self._config, self._spec, self._store, self._allow = config, spec, store, allow
        self._every = config.league.exploit_every or 0
        self._written: Counter[PlayerId] = Counter()
        self._measured: set[Hash] = set()
        self._tree: GameTree | None = None
        self._failed = False

    def __call__(self, candidate: Candidate, last: bool) -> dict[str, float]:
        """Return the metric of a candidate that was written; nothing if it is not due, or was measured before."""
        due = self._every and (last or self._written[candidate.player] % self._every == 0)
        self._written[candidate.player] += 1
        if not due or self._failed or candidate.snapshot in self._measured:
            return {}
        self._measured.add(candidate.snapshot)
        try:
            return {player_metric(candidate.player, NASH_CONV): self._nash_conv(candidate)}
        except (LudusError, OSError) as error:
            log.error("league.exploit_every: there will be no NashConv in this process: %s", error)
            self._failed = True  # training goes on
            return {}

    def _nash_conv(self, candidate: Candidate) -> float:
        if self._tree is None:
            self._tree = enumerated(self._config, self._allow)
        found = self._store.get(candidate.snapshot)
        actor = actor_from_snapshot(found.arrays, found.manifest, self._spec, allow=self._allow)
        return exploitability(self._tree, policy_of(actor, self._tree.sets)).nash_conv


def enumerated(config: Config, allow: Collection[str]) -> GameTree:
    """Return the tree of a league's game, with whole episodes if a player has a memory."""
    whole = any(policy.recurrent or not policy.ours for policy in policies_of(config))
    return enumerate_game(config.env, whole=whole, allow=allow)


def check_exploit_every(config: Config, spec: EnvSpec, allow: Collection[str]) -> None:
    """Refuse `league.exploit_every` for a game that cannot be enumerated, before there is a run."""
    if config.league.exploit_every is None:
        return
    if len(set(spec.roles)) > 1:
        raise ConfigError(f"league.exploit_every: the seats of {spec.name} have different roles. Leave it out")
    try:
        enumerated(config, allow)
    except LudusError as error:
        raise ConfigError(f"league.exploit_every: {error}. Or leave it out") from error
