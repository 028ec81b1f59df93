"""From segments to the cells of a replay: actions, n-step rewards, and the observations that follow.

Legend of shapes: see league.segment; C cells.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from league.segment import CONTINUES, CUT, TERMINATED, Segments

Arrays = dict[str, npt.NDArray[Any]]
Index = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Steps:
    """The cells that a replay takes in, oldest first."""

    seen: Arrays  # [C, ...] each: the inputs of the network
    action: npt.NDArray[Any]  # [C, ...]
    reward: npt.NDArray[np.float32]  # [C] summed over up to n steps, discounted
    discount: npt.NDArray[np.float32]  # [C] of the value of the cell that follows; 0 where the episode ended
    ahead: npt.NDArray[np.int32]  # [C] how many cells ahead that one is
    decides: npt.NDArray[np.bool_]  # [C] what may be sampled; False: a tail, or in the middle of a lane

    def __len__(self) -> int:
        return len(self.reward)

    @property
    def decisions(self) -> int:
        """The number of decisions to learn from."""
        return int(np.count_nonzero(self.seen.get("learn", self.decides)))


def decisions_of(segments: Segments, steps: int, gamma: float) -> Steps:
    """Return the decisions of every agent, each on its own, and the tails.

    The inputs are `observation` [C, *], `mask` [C, N] and `place` [C] of the agent in its seat.
    """
    lane, place, tick = segments.present.transpose(0, 2, 1).nonzero()  # an agent's decisions follow each other
    at = (lane, tick, place)
    count, tails = len(lane), len(segments.tail_lane)
    number = np.zeros(segments.present.shape, np.intp)
    number[at] = np.arange(count)
    end = segments.end[at]
    following = np.where(end == CONTINUES, np.arange(1, count + 1), -1)
    following[number[segments.tail_lane, segments.tail_tick, segments.tail_agent]] = count + np.arange(tails)
    seen = {
        "observation": np.concatenate([segments.observation[at], segments.tail_observation]),
        "mask": np.concatenate([segments.mask[at], segments.tail_mask]),
        "place": np.concatenate([place, segments.tail_agent]).astype(np.int16),
    }
    return _steps(seen, segments.action[at], segments.reward[at], following, (steps, gamma))


def lanes_of(segments: Segments, steps: int, gamma: float) -> Steps:
    """Return each agent's lanes as sequences, for networks with a memory.

    The cells are those of `decisions_of` in another order: a lane of an agent is a run of cells, each tail right behind
    its decision. Only the first of a run is sampled; it has the `length` of the run and the stored `memory` [C, M].
    Further inputs say where a new episode begins (`restart`) and which cells are decisions and not tails (`learn`).
    """
    assert segments.memory is not None
    each = decisions_of(segments, steps, gamma)
    lane, place, tick = segments.present.transpose(0, 2, 1).nonzero()
    lane, tick = np.concatenate([lane, segments.tail_lane]), np.concatenate([tick, segments.tail_tick])
    place = each.seen["place"]
    order = np.lexsort((~each.decides, tick, place, lane))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    ahead = position[np.arange(len(order)) + each.ahead] - position
    lane, place, decides = lane[order], place[order], each.decides[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(lane) != 0) | (np.diff(place) != 0)
    over = ~decides  # whether the episode ends with the cell
    over[decides] = segments.end[lane, tick[order], place][decides] == TERMINATED
    heads = first.nonzero()[0]
    length, memory = np.zeros(len(order), np.int32), np.zeros((len(order), segments.memory.shape[2]), np.float32)
    length[heads] = np.diff([*heads, len(order)])
    memory[heads] = segments.memory[lane[heads], place[heads]]
    more = {"learn": decides, "restart": np.roll(over, 1) & ~first, "length": length, "memory": memory}
    return Steps(
        seen={name: array[order] for name, array in each.seen.items()} | more,
        action=each.action[order],
        reward=each.reward[order],
        discount=each.discount[order],
        ahead=ahead[order].astype(np.int32),
        decides=first,
    )


def joint_steps_of(segments: Segments, steps: int, gamma: float) -> Steps:
    """Return the joint steps of the agents of a seat, one for each tick, and the tails.

    The inputs are `observation` [C, A, *], `mask` [C, A, N] and `present` [C, A]: agents that are dead or do not act
    are not present. The reward is the mean over those that are. A step ends the episode when none of them goes on.
    """
    lane, tick = np.nonzero(segments.present.any(axis=2))
    present, end = segments.present[lane, tick], segments.end[lane, tick]
    goes_on = (present & (end == CONTINUES)).any(axis=1)
    cut = ~goes_on & (present & (end == CUT)).any(axis=1)
    count, tails = len(lane), int(np.count_nonzero(cut))
    following = np.where(goes_on, np.arange(1, count + 1), -1)
    following[cut] = count + np.arange(tails)
    seen = {
        name: np.concatenate(
            [getattr(segments, name)[lane, tick], _tails_together(segments, name, (lane[cut], tick[cut]))]
        )
        for name in ("observation", "mask", "present")
    }
    reward = np.where(present, segments.reward[lane, tick], 0).sum(axis=1) / present.sum(axis=1)
    return _steps(seen, segments.action[lane, tick], reward, following, (steps, gamma))


def _tails_together(segments: Segments, name: str, cuts: tuple[Index, Index]) -> npt.NDArray[Any]:
    """Return one field of the tails at each cut (lane and tick), for every agent of the seat; zeros: no tail."""
    steps: npt.NDArray[Any] = getattr(segments, name)
    tails = np.ones(len(segments.tail_lane), np.bool_) if name == "present" else getattr(segments, f"tail_{name}")
    number = np.full(segments.present.shape[:2], -1)
    number[cuts] = np.arange(len(cuts[0]))
    cut = number[segments.tail_lane, segments.tail_tick]
    together = np.zeros((len(cuts[0]), *steps.shape[2:]), steps.dtype)
    together[cut[cut >= 0], segments.tail_agent[cut >= 0]] = tails[cut >= 0]
    return together


def _steps(
    seen: Arrays,
    action: npt.NDArray[Any],
    reward: npt.NDArray[np.float32],
    following: Index,
    returns: tuple[int, float],
) -> Steps:
    """Return the cells of decisions and tails, with their rewards summed over up to n steps.

    `following` is the cell after each decision, -1 where the episode ended; a tail ends the sum.
    """
    (steps, gamma), count = returns, len(reward)
    total = reward.astype(np.float64)
    after, discount = following.copy(), np.where(following >= 0, gamma, 0.0)
    for _ in range(steps - 1):
        more = ((after >= 0) & (after < count)).nonzero()[0]
        then = after[more]
        total[more] += discount[more] * reward[then]
        after[more] = following[then]
        discount[more] *= np.where(after[more] >= 0, gamma, 0.0)
    cells = len(seen["mask"])
    ahead = np.where(after >= 0, after - np.arange(count), 0)

    def padded(values: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        tails = np.zeros((cells - count, *values.shape[1:]), dtype)
        return np.concatenate([values.astype(dtype), tails])

    return Steps(
        seen=seen,
        action=padded(action, action.dtype),
        reward=padded(total, np.float32),
        discount=padded(discount, np.float32),
        ahead=padded(ahead, np.int32),
        decides=np.arange(cells) < count,
    )
