"""Actions of every space: the parts that rows have, masks, and what the environment is given."""

from functools import partial

import numpy as np
import odd_envs as odd
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.envs.adapters.action_spaces import ActionError, flat_mask, read_actions
from collectors.envs.adapters.pettingzoo import adapt

plain = st.one_of(
    st.builds(Discrete, st.integers(1, 5), start=st.integers(-2, 2)),
    st.builds(MultiDiscrete, st.lists(st.integers(1, 4), min_size=1, max_size=3)),
    st.builds(MultiBinary, st.integers(1, 3)),
    st.builds(
        lambda low, wide, shape, dtype: Box(low, low + wide, shape, dtype),
        st.integers(-5, 5),
        st.integers(1, 9),
        st.sampled_from([(1,), (2,), (2, 2)]),
        st.sampled_from([np.float32, np.float64, np.int16]),
    ),
)
nested = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(Tuple),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3).map(Dict),
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(found=st.lists(nested, min_size=1, max_size=3), seed=st.integers(0, 2**20))
def test_any_legal_parts_are_an_action_of_the_space(found, seed):
    spaces = {f"a_{number}": space for number, space in enumerate(found)}
    actions = read_actions("toy", spaces)
    rng = np.random.default_rng(seed)
    for agent, space in spaces.items():
        begin, parts = 0, []
        for count in actions.kind.choices:
            parts.append(rng.choice(np.flatnonzero(actions.legal[agent][begin : begin + count])))
            begin += count
        parts += list(rng.uniform(-1, 1, actions.kind.continuous))
        action = int(parts[0]) if actions.single else np.array(parts, np.float32)
        assert space.contains(actions.plays[agent](action))


@settings(max_examples=100, deadline=None)
@given(space=plain, seed=st.integers(0, 2**20))
def test_every_option_is_reached(space, seed):
    actions = read_actions("toy", {"a": space})
    for part, count in enumerate(actions.kind.choices):
        told = set()
        for option in range(count):
            parts = np.zeros(len(actions.kind.choices) + actions.kind.continuous, np.float32)
            parts[part] = option
            told.add(str(actions.plays["a"](option if actions.single else parts)))
        assert len(told) == count


def test_numbers_are_scaled_to_the_box():
    box = Box(np.array([0, -np.inf, 3, -np.inf]), np.array([4, np.inf, np.inf, 1]), dtype=np.float64)
    play = read_actions("toy", {"a": box}).plays["a"]
    assert play(np.full(4, -1, np.float32)).tolist() == [0, -1, 3, -1]
    assert play(np.full(4, 1, np.float32)).tolist() == [4, 1, 5, 1]
    assert play(np.zeros(4, np.float32)).tolist() == [2, 0, 4, 0]
    assert play(np.zeros(4, np.float32)).dtype == np.float64


def test_agents_of_different_kinds_share_one_layout():
    env = adapt(odd.continuous, 1)
    assert (env.spec.choices, env.spec.continuous, env.spec.actions) == ((4, 2, 2), 2, 8)
    env.start(np.array([0], np.int32), np.array([1]))
    told = []
    for parts in ([0, 0, 0, 1, -1], [3, 0, 0, 0, 0], [2, 0, 1, 0.5, 0]):
        told.append(env.rows().mask[0].astype(int).tolist())
        env.step(np.array([parts], np.float32))
    assert told == [
        [1, 0, 0, 0, 1, 0, 1, 0],  # it only steers: each choice has one option
        [1, 1, 1, 1, 1, 0, 1, 0],  # one choice
        [1, 1, 1, 0, 1, 1, 1, 1],  # the first has three options of four
    ]
    (_, steer), (_, pick), (_, nest) = env._games[0].env.taken[::2]
    assert steer.tolist() == [4, -1]
    assert pick == 4
    assert nest["pair"][0] == 4
    assert nest["pair"][1].tolist() == [0, 1]
    assert nest["turn"].tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("space", "mask", "expected"),
    [
        (MultiDiscrete([2, 3]), ([1, 0], [0, 1, 1]), [1, 0, 0, 1, 1]),
        (MultiDiscrete([2, 3]), np.array([1, 0, 0, 1, 1], np.int8), [1, 0, 0, 1, 1]),
        (MultiDiscrete([2, 3]), [1, 0, 0, 1, 1], [1, 0, 0, 1, 1]),
        (MultiDiscrete([2, 2]), np.array([[1, 0], [0, 1]]), [1, 0, 0, 1]),
        (MultiDiscrete([[2, 1], [1, 1]]), (([0, 1], [1]), ([1], [1])), [0, 1, 1, 1, 1]),
        (MultiBinary(3), np.array([0, 1, 2], np.int8), [1, 0, 0, 1, 1, 1]),
        (MultiBinary(2), [1, 0, 1, 1], [1, 0, 1, 1]),
        (Tuple((Discrete(2), Box(0, 1, (1,)))), (np.array([0, 1]), None), [0, 1]),
        (Tuple((Discrete(2), Discrete(2))), np.array([0, 1, 1, 1]), [0, 1, 1, 1]),
        (Dict({"a": Discrete(2), "b": Discrete(3)}), {"b": [1, 0, 0]}, [1, 1, 1, 0, 0]),
        (MultiDiscrete([2, 3]), None, [1, 1, 1, 1, 1]),
    ],
)
def test_masks_of_every_form(space, mask, expected):
    assert flat_mask(space, mask).astype(int).tolist() == expected


def test_masks_reach_the_rows_and_are_obeyed():
    build = partial(odd.Acting, MultiDiscrete([2, 3]), Discrete(2), masks=None)

    class Masked(odd.Acting):
        def __init__(self):
            super().__init__(*build.args)

        def make_info(self, agent):
            return {"action_mask": ([0, 1], [1, 0, 1]) if agent == "walker_0" else np.array([0, 1])}

    env = adapt(Masked, 1)
    env.start(np.array([0], np.int32), np.array([1]))
    assert env.rows().mask[0].astype(int).tolist() == [0, 1, 1, 0, 1]
    with pytest.raises(
        ValueError, match=r"option 1 of choice 1 is illegal in slot 0 \(row 0\); legal there are \[0, 2"
    ):
        env.step(np.array([[1, 1]], np.float32))
    env.step(np.array([[1, 2]], np.float32))
    assert env.rows().mask[0].astype(int).tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize("mask", [([1, 0], [1, 1]), [1, 0, 1], np.ones(9), 3, {"a": 1}])
def test_a_mask_that_does_not_fit_is_a_fault_that_names_the_agent(mask):
    env = adapt(partial(odd.Acting, MultiDiscrete([2, 3]), masks=mask), 1, name="masked")
    env.start(np.array([0], np.int32), np.array([1]))
    fault = env.step(np.zeros((0, 2), np.float32)).faults[0]
    assert fault.reason.startswith("masked: agent 'walker_0': its action mask")


def test_a_choice_without_a_legal_option_is_a_fault():
    env = adapt(partial(odd.Acting, MultiDiscrete([2, 3]), masks=([1, 1], [0, 0, 0])), 1)
    env.start(np.array([0], np.int32), np.array([1]))
    assert "allows no action" in env.step(np.zeros((0, 2), np.float32)).faults[0].reason


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.array([[0, 0, 0, 2, 0]], np.float32), "continuous number 0 of row 0 .* between -1 and 1"),
        (np.array([[0, 0, 0, 0, np.nan]], np.float32), "continuous number 1"),
        (np.array([[1, 0, 0, 0, 0]], np.float32), "option 1 of choice 0 is illegal"),
        (np.array([[0.5, 0, 0, 0, 0]], np.float32), "option 0.5 of choice 0 is illegal"),
        (np.array([[-1, 0, 0, 0, 0]], np.float32), "option -1 of choice 0 is illegal"),
        (np.zeros((1, 4), np.float32), r"has 5 parts; give floats of shape \(1, 5\)"),
        (np.zeros(1, np.int32), "has 5 parts"),
    ],
)
def test_wrong_parts_are_the_callers_fault(actions, message):
    env = adapt(odd.continuous, 1)
    env.start(np.array([0], np.int32), np.array([1]))
    env.rows()
    with pytest.raises(ValueError, match=message):
        env.step(actions)


def test_nothing_to_choose_is_refused():
    with pytest.raises(ValueError, match="anything to choose"):
        read_actions("toy", {"a": Tuple(())})


def test_wrong_mask_errors_name_the_counts():
    with pytest.raises(ActionError, match=r"\[2, 2\] options.*\[2, 3\]"):
        flat_mask(MultiDiscrete([2, 3]), ([1, 0], [1, 1]))


def test_unknown_action_spaces_are_refused_with_agent_space_and_remedy():
    with pytest.raises(ValueError, match=r"agent 'walker_0' has the action space Sequence.*Wrap.*env.wrappers"):
        adapt(odd.unknown_actions, 1)
