"""The check of segments: whatever a collector sends is checked here, and nowhere else on its way to an algorithm.

Legend of shapes: see league.segment.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from league import fitness
from league.fitness import Fitness
from league.policies.actions import legal
from league.segment import CONTINUES, CUT, FIELDS, Segments, not_finite
from league.spec import EnvSpec
from league.wire.messages import SegmentsHead
from league.wire.ports import Arrays

NEWEST = 2**30  # versions beyond are nonsense
ROUNDING = 1e-3  # a log-probability may exceed 0 by as much


class SegmentsError(ValueError):
    """Segments that contradict their head, the environment or themselves: the collector's fault."""


def open_segments(head: SegmentsHead, arrays: Arrays, spec: EnvSpec, memory: int = 0, state: bool = False) -> Segments:
    """Return the segments of a message, or raise SegmentsError with what is wrong with them.

    `memory` says how many numbers the player's network remembers, `state` whether its critic sees the whole game.
    """
    names = (*FIELDS, *(("memory",) if memory else ()), *(("state", "tail_state") if state else ()))
    missing = [name for name in names if name not in arrays]
    if missing or len(arrays) != len(names):
        raise SegmentsError(f"missing {missing}" if missing else f"unknown arrays in {sorted(arrays)}")
    segments = Segments(head.player, head.incarnation, **arrays)
    _check_shapes(segments, spec, memory, state)
    _check_values(segments, spec)
    _check_ends(segments)
    if segments.decisions != head.decisions:
        raise SegmentsError(f"{segments.decisions} decisions inside, but the head says {head.decisions}")
    return segments


def open_fitness(head: SegmentsHead, arrays: Arrays, offsets: int) -> Fitness:
    """Return the fitness of a message, or raise SegmentsError; `offsets` is the number of those in the noise table."""
    if set(arrays) != set(fitness.FIELDS):
        raise SegmentsError(f"this player evolves: expected arrays {sorted(fitness.FIELDS)}, got {sorted(arrays)}")
    kinds = {"offset": "int64", "sign": "int8", "returned": "float64", "decisions_made": "int32", "version": "int32"}
    for name, kind in kinds.items():
        array = arrays[name]
        if array.shape != (head.decisions,) or array.dtype != np.dtype(kind):
            raise SegmentsError(f"{name} is {array.dtype}{list(array.shape)}, expected {kind}[{head.decisions}]")
    found = Fitness(head.player, head.incarnation, **arrays)
    if not np.isfinite(found.returned).all():
        raise SegmentsError("returned is not finite")
    if not (np.abs(found.sign) == 1).all() or (found.decisions_made < 1).any():
        raise SegmentsError("a sign is not 1 or -1, or an episode has no decision")
    if ((found.offset < 0) | (found.offset >= offsets)).any():
        raise SegmentsError("an offset lies outside of the noise table")
    if ((found.version < 0) | (found.version > NEWEST)).any():
        raise SegmentsError("a version is out of range")
    return found


def _check_shapes(segments: Segments, spec: EnvSpec, memory: int, state: bool) -> None:
    if segments.present.ndim != 3:
        raise SegmentsError(f"present has shape {segments.present.shape}, not [lanes, ticks, agents]")
    steps = segments.present.shape
    lanes, tails = steps[:1], segments.tail_lane.shape[:1]
    seen, dtype = spec.observation.shape, spec.observation.dtype
    expected: dict[str, tuple[tuple[int, ...], str]] = {
        "observation": ((*steps, *seen), dtype),
        "mask": ((*steps, spec.actions), "bool"),
        "action": ((*steps, *spec.action.shape), spec.action.dtype),
        "log_prob": (steps, "float32"),
        "reward": (steps, "float32"),
        "end": (steps, "uint8"),
        "present": (steps, "bool"),
        "length": (lanes, "int32"),
        "version": (lanes, "int32"),
        "tail_lane": (tails, "int32"),
        "tail_tick": (tails, "int32"),
        "tail_agent": (tails, "int32"),
        "tail_observation": ((*tails, *seen), dtype),
        "tail_mask": ((*tails, spec.actions), "bool"),
    }
    if memory:
        expected["memory"] = ((steps[0], steps[2], memory), "float32")
    if state and spec.state is not None:
        expected["state"] = ((*steps[:2], *spec.state.shape), spec.state.dtype)
        expected["tail_state"] = ((*tails, *spec.state.shape), spec.state.dtype)
    for name, (shape, kind) in expected.items():
        array: npt.NDArray[Any] = getattr(segments, name)
        if array.shape != shape or array.dtype != np.dtype(kind):
            raise SegmentsError(f"{name} is {array.dtype}{list(array.shape)}, expected {kind}{list(shape)}")


def _check_values(segments: Segments, spec: EnvSpec) -> None:
    present = segments.present
    if wrong := not_finite(segments.arrays()):
        raise SegmentsError(f"{wrong[0]} is not finite")
    if not legal(spec, segments.action[present], segments.mask[present]).all():
        raise SegmentsError("an action is illegal: not one of the options, or not under its mask")
    if spec.actions and not segments.tail_mask.any(axis=1).all():
        raise SegmentsError("a tail has no legal action")
    if not spec.continuous and (segments.log_prob[present] > ROUNDING).any():  # a density may exceed 1
        raise SegmentsError("a log-probability is above 0")
    if ((segments.version < 0) | (segments.version > NEWEST)).any():
        raise SegmentsError("a version is out of range")
    unused = np.arange(present.shape[1]) >= segments.length[:, None]
    if present[unused].any():
        raise SegmentsError("a decision lies behind the length of its lane")


def _check_ends(segments: Segments) -> None:
    present, end = segments.present, segments.end
    if (end > CUT).any():
        raise SegmentsError(f"end is {end.max()}, expected at most {CUT}")
    places = (segments.tail_lane, segments.tail_tick, segments.tail_agent)
    for index, size in zip(places, present.shape, strict=True):
        if ((index < 0) | (index >= size)).any():
            raise SegmentsError("a tail lies outside of the segments")
    tails = np.zeros_like(present)
    tails[places] = True
    if tails.sum() != len(segments.tail_lane) or not np.array_equal(tails, present & (end == CUT)):
        raise SegmentsError("cuts and tails do not match: each cut decision needs one tail")
    if not present.size:
        return
    last = present.shape[1] - 1 - present[:, ::-1].argmax(axis=1)
    last_end = np.take_along_axis(end, last[:, None], axis=1)[:, 0]
    if (present.any(axis=1) & (last_end == CONTINUES)).any():
        raise SegmentsError("the last decision of an agent continues: it needs a cut and a tail")
