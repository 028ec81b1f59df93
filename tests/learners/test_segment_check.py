from dataclasses import replace

import numpy as np
import pytest

from league.wire.messages import SegmentsHead
from learners.segment_check import SegmentsError, open_fitness, open_segments


def head_of(segments, **changes):
    told = {"name": "collector-0", "session": "s", "player": segments.player, "incarnation": segments.incarnation}
    return SegmentsHead(**told | {"decisions": segments.decisions} | changes)


def test_what_was_sent_comes_out(play, fresh, spec):
    segments = play(fresh)
    opened = open_segments(head_of(segments), segments.arrays(), spec)
    for name, array in segments.arrays().items():
        np.testing.assert_array_equal(getattr(opened, name), array)
    assert (opened.player, opened.incarnation) == (segments.player, segments.incarnation)


def spoil(name, index, value):
    def change(segments):
        array = getattr(segments, name).copy()
        array[index] = value
        return replace(segments, **{name: array})

    return change


def put(name, array):
    return lambda segments: replace(segments, **{name: array(getattr(segments, name))})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (spoil("reward", 0, np.nan), "reward is not finite"),
        (spoil("observation", 0, np.inf), "observation is not finite"),
        (spoil("log_prob", 0, 0.5), "above 0"),
        (spoil("action", 0, 4), "illegal: not one of the options"),
        (spoil("action", 0, -1), "illegal: not one of the options"),
        (spoil("mask", 0, False), "illegal"),
        (spoil("version", 0, -1), "version"),
        (spoil("length", 0, 3), "behind the length"),
        (spoil("end", 0, 7), "end is 7"),
        (spoil("end", (0, 1), 2), "cuts and tails"),
        (spoil("end", (0, -1), 1), "cuts and tails"),
        (spoil("tail_lane", 0, 99), "outside"),
        (spoil("tail_lane", 0, 1), "cuts and tails"),
        (spoil("tail_mask", 0, False), "a tail has no legal action"),
        (spoil("present", (0, slice(1, None)), False), "cuts and tails"),
        (put("reward", lambda a: a[:, :2]), r"reward is float32\[8, 2, 1\]"),
        (put("reward", lambda a: a.astype(np.float64)), "reward is float64"),
        (put("observation", lambda a: a[..., :3]), "observation is"),
        (put("present", lambda a: a[0]), "present has shape"),
    ],
)
def test_rubbish_is_refused(change, message, play, fresh, spec):
    spoilt = change(play(fresh))
    with pytest.raises(SegmentsError, match=message):
        open_segments(head_of(play(fresh)), spoilt.arrays(), spec)


def test_a_last_decision_must_not_continue(play, fresh, spec):
    segments = play(fresh)
    segments.present[0, 1:] = False
    kept = segments.tail_lane != 0
    tails = {name: getattr(segments, name)[kept] for name in segments.arrays() if name.startswith("tail_")}
    segments = replace(segments, **tails)
    with pytest.raises(SegmentsError, match="continues"):
        open_segments(head_of(segments), segments.arrays(), spec)


def test_head_and_arrays_must_agree(play, fresh, spec):
    segments = play(fresh)
    with pytest.raises(SegmentsError, match="the head says 5"):
        open_segments(head_of(segments, decisions=5), segments.arrays(), spec)
    arrays = segments.arrays()
    del arrays["mask"]
    with pytest.raises(SegmentsError, match="mask"):
        open_segments(head_of(segments), arrays, spec)
    with pytest.raises(SegmentsError, match="unknown"):
        open_segments(head_of(segments), segments.arrays() | {"extra": np.zeros(1)}, spec)


def test_no_lanes_are_no_error(play, fresh, spec):
    segments = play(fresh, lanes=0)
    assert open_segments(head_of(segments), segments.arrays(), spec).decisions == 0


def fitness_arrays(**changes):
    arrays = {
        "offset": np.array([0, 9], np.int64),
        "sign": np.array([1, -1], np.int8),
        "returned": np.array([0.5, -1.0]),
        "decisions_made": np.array([3, 4], np.int32),
        "version": np.array([0, 1], np.int32),
    }
    return arrays | changes


def test_fitness_that_is_sound_is_opened():
    head = SegmentsHead(name="c", session="s", player="hero", incarnation=0, decisions=2)
    assert open_fitness(head, fitness_arrays(), offsets=10).returned.tolist() == [0.5, -1.0]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"offset": np.array([0, 10])}, "outside of the noise table"),
        ({"offset": np.array([-1, 0])}, "outside of the noise table"),
        ({"sign": np.array([1, 0], np.int8)}, "sign"),
        ({"sign": np.array([1, -1], np.int64)}, "sign is int64"),
        ({"returned": np.array([np.nan, 0])}, "not finite"),
        ({"returned": np.zeros(3)}, "returned is"),
        ({"decisions_made": np.array([0, 4], np.int32)}, "no decision"),
        ({"version": np.array([-1, 4], np.int32)}, "version"),
        ({"more": np.zeros(2)}, "evolves: expected arrays"),
    ],
)
def test_fitness_that_is_not_is_refused(changes, why):
    head = SegmentsHead(name="c", session="s", player="hero", incarnation=0, decisions=2)
    with pytest.raises(SegmentsError, match=why):
        open_fitness(head, fitness_arrays(**changes), offsets=10)
