"""Segments: some lanes of them with the tails that belong there, and how many decisions are inside."""

from dataclasses import replace

import numpy as np
import pytest

from league.ids import PlayerId
from league.segment import CUT, EXTRAS, FIELDS, TERMINATED, Segments, not_finite


@pytest.fixture
def segments():
    """Three lanes of two ticks: the first and the last lane are cut."""
    steps = (3, 2, 1)
    end = np.full(steps, TERMINATED, np.uint8)
    end[[0, 2], 1] = CUT
    return Segments(
        player=PlayerId("hero"),
        incarnation=4,
        observation=np.arange(6, dtype=np.float32).reshape(3, 2, 1, 1),
        mask=np.ones((*steps, 2), bool),
        action=np.zeros(steps, np.int32),
        log_prob=np.zeros(steps, np.float32),
        reward=np.ones(steps, np.float32),
        end=end,
        present=np.array([[[True], [True]], [[True], [False]], [[True], [True]]]),
        length=np.array([2, 1, 2], np.int32),
        version=np.array([5, 6, 7], np.int32),
        tail_lane=np.array([0, 2], np.int32),
        tail_tick=np.array([1, 1], np.int32),
        tail_agent=np.zeros(2, np.int32),
        tail_observation=np.array([[10], [20]], np.float32),
        tail_mask=np.ones((2, 2), bool),
    )


def test_absent_agents_decide_nothing(segments):
    assert segments.decisions == 5
    assert [segments.lanes(lane, lane + 1).decisions for lane in range(3)] == [2, 1, 2]


def test_lanes_keep_their_tails_under_their_new_numbers(segments):
    last = segments.lanes(1, 3)
    assert (last.player, last.incarnation, last.version.tolist()) == ("hero", 4, [6, 7])
    assert (last.tail_lane.tolist(), last.tail_observation.tolist()) == ([1], [[20]])
    assert np.shares_memory(last.observation, segments.observation)
    assert len(segments.lanes(1, 2).tail_lane) == 0


def test_extras_travel_only_where_there_are_any(segments):
    assert tuple(segments.arrays()) == FIELDS
    remembering = replace(segments, memory=np.zeros((3, 1, 4), np.float32))
    assert tuple(remembering.arrays()) == (*FIELDS, EXTRAS[0])
    assert remembering.lanes(0, 2).memory.shape == (2, 1, 4)


def test_arrays_with_nan_or_infinity_are_named():
    numbers = {"fine": np.ones(2), "nan": np.array([1, np.nan]), "inf": np.array([-np.inf], np.float32)}
    assert not_finite({**numbers, "whole": np.array([7])}) == ["nan", "inf"]
