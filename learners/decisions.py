"""Decisions: the segments of a batch as flat tensors, with all that a loss needs.

Legend of shapes: L lanes, T ticks, A agents of the seat, K tails, B decisions of a batch or minibatch,
N options, X the observation's own shape, M numbers of a memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from league.policies.distribution import Distribution
from league.policies.flat_policy import Lanes, Observed
from league.policies.layout import PolicyConfig
from league.segment import CONTINUES, Segments


@dataclass(frozen=True, slots=True)
class Decisions:
    """The present decisions of a batch, lane by lane."""

    observation: Tensor  # [B, X]
    mask: Tensor  # [B, N]
    action: Tensor  # [B], or [B, parts]
    old_log_prob: Tensor  # [B] and so are all that follow
    old_value: Tensor  # as the network gave it
    advantage: Tensor
    target: Tensor  # of the value: the return, normalised if values are
    log_ratio: Tensor | None = None  # log-probability at the start of the update minus that when the action was chosen
    place: Tensor | None = None  # of the agent in its seat
    team: Tensor | None = None  # [B, A] who of the seat decided in that tick, for networks of other packages
    joint: Tensor | None = None  # [B, A, X] observations of all agents of the seat, or the state of the whole game
    lane: Tensor | None = None  # with a memory: the lane of each decision,
    lanes: Lanes | None = None  # and how decisions follow each other
    magnet: Distribution | None = None  # what the magnet would do

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, index_B: Tensor) -> "Decisions":
        return self._pick(index_B, None)

    @property
    def seen(self) -> Observed:
        """The inputs of the network."""
        return Observed(self.observation, self.place, self.joint, self.lanes, self.mask, self.team)

    @property
    def units(self) -> int:
        """The number of units that minibatches are made of: decisions, or with a memory whole lanes."""
        return len(self) if self.lanes is None else len(self.lanes.present)

    def minibatches(self, count: int, rng: np.random.Generator) -> Iterator["Decisions"]:
        """Yield `count` minibatches in random order."""
        if self.lanes is None:
            for index in np.array_split(rng.permutation(len(self)), count):
                yield self[torch.from_numpy(index)]
            return
        for index in np.array_split(rng.permutation(self.units), count):
            yield self.of_lanes(np.sort(index))

    def parts(self, count: int) -> Iterator["Decisions"]:
        """Yield all decisions, in order, in as many parts as there can be up to `count`."""
        count = min(count, self.units)
        if count == 1:
            yield self
            return
        for index in np.array_split(np.arange(self.units), count):
            yield self[torch.from_numpy(index)] if self.lanes is None else self.of_lanes(index)

    def of_lanes(self, lanes: npt.NDArray[np.int64]) -> "Decisions":
        """Return the decisions of some lanes, in order, with lanes renumbered from 0."""
        assert self.lane is not None
        assert self.lanes is not None
        chosen = torch.from_numpy(lanes).to(self.lane.device)
        kept = torch.zeros(len(self.lanes.present), dtype=torch.bool, device=self.lane.device)
        kept[chosen] = True
        decisions = self._pick(kept[self.lane].nonzero().squeeze(1), self.lanes[chosen])
        assert decisions.lane is not None
        return replace(decisions, lane=torch.searchsorted(chosen, decisions.lane))

    def _pick(self, index_B: Tensor, lanes: Lanes | None) -> "Decisions":
        whole: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        del whole["lanes"]
        picked: dict[str, Any] = {name: None if t is None else t[index_B] for name, t in whole.items()}
        return Decisions(**picked, lanes=lanes)


T = TypeVar("T")


def moved(thing: T, device: torch.device) -> T:
    """Return a tensor, or a dataclass of them, on a device; copies to a GPU are asynchronous, from pinned memory."""
    if device.type == "cpu" or not isinstance(thing, Tensor | Decisions | Observed | Lanes | Distribution):
        return thing
    if isinstance(thing, Tensor):
        pinned = thing.pin_memory() if thing.device.type == "cpu" else thing
        return cast(T, pinned.to(device, non_blocking=True))
    return replace(thing, **{item.name: moved(getattr(thing, item.name), device) for item in fields(thing)})


def seen_in(segments: Segments, policy: PolicyConfig, burn_in: int = 0) -> Observed:
    """Return the inputs of a network for the present decisions; `burn_in` ticks only update its memory."""
    present = segments.present
    lane, tick, place = present.nonzero()
    observation = torch.from_numpy(segments.observation[present])
    return Observed(
        observation=observation if observation.dtype == torch.uint8 else observation.float(),  # images stay small
        place=torch.from_numpy(place) if _needs_place(policy) else None,
        joint=None if not policy.oversees else _overview(segments, policy)[lane, tick],
        lanes=_lanes(segments, policy.state_size, burn_in) if policy.recurrent else None,
        mask=None if policy.ours else torch.from_numpy(segments.mask[present]),
        team=None if policy.ours else torch.from_numpy(present[lane, tick]),
    )


def _needs_place(policy: PolicyConfig) -> bool:
    return policy.agent_id or policy.oversees or not policy.ours


def seen_in_tails(segments: Segments, policy: PolicyConfig, memory_BM: Tensor | None) -> Observed:
    """Return the inputs of a network for the tails; `memory_BM` is the memory after each decision."""
    count = len(segments.tail_lane)
    lanes = None
    if memory_BM is not None:
        number_LTA = segments.present.cumsum().reshape(segments.present.shape) - 1
        memory = memory_BM[number_LTA[segments.tail_lane, segments.tail_tick, segments.tail_agent]]
        step = torch.ones(count, 1, 1, dtype=torch.bool)
        lanes = Lanes(present=step, restart=~step, memory=memory[:, None])
    return Observed(
        observation=torch.from_numpy(segments.tail_observation),
        place=torch.from_numpy(segments.tail_agent).long() if _needs_place(policy) else None,
        joint=None if not policy.oversees else _tail_overview(segments, policy),
        lanes=lanes,
        mask=None if policy.ours else torch.from_numpy(segments.tail_mask),
        team=None if policy.ours else torch.from_numpy(_tail_teams(segments)),
    )


def _tail_teams(segments: Segments) -> npt.NDArray[np.bool_]:
    """Return for each tail the agents of the tails of its lane and tick: [K, A]."""
    moment = _tail_moments(segments)
    team = np.zeros((len(moment), segments.present.shape[2]), np.bool_)
    team[moment, segments.tail_agent] = True
    return team[moment]


def _tail_moments(segments: Segments) -> npt.NDArray[np.intp]:
    """Return the same number for all tails of one lane and tick."""
    ticks = segments.present.shape[1]
    _, moment = np.unique(segments.tail_lane.astype(np.int64) * ticks + segments.tail_tick, return_inverse=True)
    return moment


def _overview(segments: Segments, policy: PolicyConfig) -> Tensor:
    """Return the inputs of a separate critic in each tick: [L, T, ...]."""
    if not policy.sees_state:
        return _together(segments)
    assert segments.state is not None
    return torch.from_numpy(segments.state).flatten(2)


def _tail_overview(segments: Segments, policy: PolicyConfig) -> Tensor:
    """Return the inputs of a separate critic after each cut: [K, ...]."""
    if not policy.sees_state:
        return _tails_together(segments)
    assert segments.tail_state is not None
    return torch.from_numpy(segments.tail_state).flatten(1)


def _together(segments: Segments) -> Tensor:
    """Return the observations of all agents of a seat in each tick; zeros for absent ones: [L, T, A, X]."""
    flat = segments.observation.reshape(*segments.present.shape, -1)
    return torch.from_numpy(np.where(segments.present[..., None], flat, 0)).float()


def _tails_together(segments: Segments) -> Tensor:
    """Return for each tail the observations of all tails of its lane and tick: [K, A, X]."""
    count, agents, moment = len(segments.tail_lane), segments.present.shape[2], _tail_moments(segments)
    flat = segments.tail_observation.reshape(count, int(np.prod(segments.tail_observation.shape[1:])))
    together = np.zeros((count, agents, flat.shape[1]), np.float32)
    together[moment, segments.tail_agent] = flat
    return torch.from_numpy(together[moment])


def _lanes(segments: Segments, size: int, burn_in: int) -> Lanes:
    present, end = segments.present, segments.end
    restart = np.zeros_like(present)
    over = np.zeros_like(present[:, 0])  # whether the agent's last decision ended its episode
    for tick in range(present.shape[1]):
        restart[:, tick] = over
        over = np.where(present[:, tick], end[:, tick] != CONTINUES, over)
    memory = segments.memory
    if memory is None:
        memory = np.zeros((len(present), present.shape[2], size), np.float32)
    lanes = Lanes(*map(torch.from_numpy, (present, restart, np.array(memory))))
    return warmed(lanes, burn_in)


def warmed(lanes: Lanes, burn_in: int) -> Lanes:
    """Mark decisions on a memory of older weights as warm-up: `burn_in` ticks, or until the episode ends."""
    if not burn_in:
        return lanes
    stored_LTA = lanes.memory.any(dim=-1)[:, None] & (lanes.restart.cumsum(dim=1) == 0)
    early_T = torch.arange(lanes.present.shape[1], device=lanes.present.device) < burn_in
    return replace(lanes, warm=stored_LTA & early_T[:, None])
