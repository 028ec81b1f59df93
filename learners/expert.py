"""Experts: players that say what they would have done at the decisions of another one.

expert = make_expert("one_ply", spec)               # a bot; or the file of a player of the same environment
action_B = expert.label(segments, rng)

Labels are sampled, as the expert plays: of a mixed strategy a clone should learn the mixture.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from league.errors import InputError, LudusError
from league.plugins import resolve
from league.policies.actions import legal
from league.policies.actor import Actor
from league.policies.network_actor import NetworkActor, actor_from_snapshot
from league.segment import Segments
from league.spec import EnvSpec
from league.store.player_file import is_player, read_player
from league.store.snapshots import read_snapshot


class ExpertError(InputError):
    """An expert that cannot be asked here; the message says why."""


def make_expert(name: str, spec: EnvSpec, allow: Collection[str] = ()) -> "Expert":
    """Return the expert of a name: a bot, or the file of a player; raise InputError if it cannot be asked here."""
    path = Path(name)
    if not path.is_file():
        return Expert(name, resolve("ludus.bots", name, allow)(spec), spec)
    try:
        found = read_player(path).snapshot if is_player(path) else read_snapshot(path)[1]
        actor = actor_from_snapshot(found.arrays, found.manifest, spec, allow=allow)
    except (LudusError, ValueError) as error:
        raise ExpertError(f"algo.expert={name}: {error}") from error
    if actor.memory:
        raise ExpertError(f"algo.expert={name}: it has a memory, and what it would remember of these games is unknown")
    return Expert(name, actor, spec)


class Expert:
    """A bot or a network that is asked."""

    def __init__(self, name: str, actor: Actor | NetworkActor, spec: EnvSpec) -> None:
        self._name, self._actor, self._spec = name, actor, spec

    def label(self, segments: Segments, rng: np.random.Generator) -> npt.NDArray[Any]:
        """Return an action for each present decision; raise ExpertError if one is illegal."""
        present, mask = segments.present, segments.mask[segments.present]
        lane, tick, place = present.nonzero()
        beside: dict[str, Any] = (
            {"place": place, "team": present[lane, tick]} if isinstance(self._actor, NetworkActor) else {}
        )
        actions, _ = self._actor.act(segments.observation[present], mask, rng, **beside)
        if len(actions) != len(mask) or not legal(self._spec, actions, mask).all():
            raise ExpertError(f"algo.expert={self._name}: it chose an illegal action, or not one for each decision")
        return actions
