"""Observations of all kinds of spaces as rows."""

import numpy as np
import odd_envs as odd
from driving import begin
from unit_game import UnitGame

from collectors.envs.adapters.pettingzoo import adapt, make


def test_every_kind_of_observation_is_flattened_and_padded():
    env = begin(adapt(odd.Composite, 1), 1)
    assert env.spec.observation.shape == (17,)
    assert env.spec.observation.dtype == "float32"
    first = env.rows()
    assert first.mask.tolist() == [[True, True, False, False]]
    bits, box, many, pair = [1, 0, 1], [0.5, -0.5, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 7]
    assert first.observation[0].tolist() == [*bits, *box, *many, *pair]
    env.step(np.array([1], np.int32))
    second = env.rows()
    assert second.observation[0].tolist() == [0, 0, 1] + [0] * 14
    assert second.mask.all()


def test_shorter_boxes_are_padded():
    env = begin(make(1, "mpe2/simple_tag_v3"), 3)
    rows = env.rows()
    assert env.spec.observation.shape == (16,)
    assert rows.observation[3, 14:].tolist() == [0, 0]
    assert rows.observation[3, :14].any()


def test_the_structure_says_where_each_part_lies():
    env = begin(adapt(UnitGame, 1), 3)
    array = env.spec.observation
    assert [(part.path, part.begin, part.shape, part.choices) for part in array.structure] == [
        (("clock", 0), 0, (), (3,)),
        (("clock", 1), 3, (2,), (2, 3)),
        (("units",), 8, (4, 2), ()),
    ]
    row = env.rows().observation[0]
    assert row[:8].tolist() == [1, 0, 0, 1, 0, 1, 0, 0]
    assert sum(part.size for part in array.structure) == array.size


def test_agents_that_differ_have_a_vector_in_common():
    assert adapt(odd.Composite, 1).spec.observation.structure == ()
    assert make(1, "mpe2/simple_tag_v3").spec.observation.structure == ()
