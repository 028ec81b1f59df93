import numpy as np
import pytest
import torch

from league.policies.layout import Layout
from learners.algorithms.config import GroupConfig, assign_groups
from learners.algorithms.parameter_groups import ParameterGroups

SHAPES = {"encoder.weight": (2,), "torso.weight": (3,), "policy.weight": (1,), "seen": (1,)}
LAYOUT = Layout(SHAPES, frozenset({"seen"}))
CPU = torch.device("cpu")


def groups(**rows):
    return ParameterGroups({name: GroupConfig(**row) for name, row in rows.items()}, LAYOUT, CPU)


def stepped(found, gradient, steps=3):
    flat = torch.nn.Parameter(torch.ones(7))
    optimizer = torch.optim.Adam([flat], lr=0.1)
    for _ in range(steps):
        flat.grad = gradient.clone()
        assert found.clip(flat.grad, 100.0)
        found.step(optimizer, flat)
    return flat.detach() - 1


def test_each_group_has_its_rate_and_a_frozen_one_stays():
    gradient = torch.arange(1.0, 8.0)
    plain = stepped(groups(), gradient)
    found = stepped(groups(slow={"match": "torso.*", "lr": 0.1}, fixed={"match": "encoder.*", "lr": 0.0}), gradient)
    torch.testing.assert_close(found[2:5], 0.1 * plain[2:5])
    torch.testing.assert_close(found[5:], plain[5:])
    assert not found[:2].any()


def test_gradients_are_clipped_by_group():
    gradient = torch.full((7,), 3.0)
    found = groups(own={"match": "torso.*", "max_grad_norm": 1.5}, fixed={"match": "encoder.*", "lr": 0.0})
    assert found.clip(gradient, 2.0)
    assert gradient[:2].tolist() == [0, 0]
    assert float(gradient[2:5].norm()) == pytest.approx(1.5)
    assert float(gradient[5:].norm()) == pytest.approx(2.0)


def test_without_groups_all_is_clipped_together():
    gradient = torch.full((7,), 3.0)
    assert groups().clip(gradient, 1.0)
    assert float(gradient.norm()) == pytest.approx(1.0)


@pytest.mark.parametrize("rows", [{}, {"own": {"match": "torso.*", "max_grad_norm": 1.0}}])
def test_a_gradient_that_is_not_finite_is_found(rows):
    gradient = torch.ones(7)
    gradient[3] = np.nan
    assert not groups(**rows).clip(gradient, 1.0)


def test_a_pattern_without_a_parameter_is_refused():
    with pytest.raises(ValueError, match=r"algo.groups.x: no parameter is called 'encodr.\*'. .*encoder.weight"):
        assign_groups({"x": GroupConfig(match="encodr.*")}, LAYOUT)
    with pytest.raises(ValueError, match="no parameter"):
        assign_groups({"x": GroupConfig(match="seen")}, LAYOUT)
    assert assign_groups({"a": GroupConfig(match="*er.*"), "b": GroupConfig(match="*")}, LAYOUT) == [0, 1, 1, 1]


@pytest.mark.parametrize("wrong", [{"match": ""}, {"match": "x", "lr": -1.0}, {"match": "x", "max_grad_norm": 0.0}])
def test_a_group_that_cannot_train_is_refused(wrong):
    with pytest.raises(ValueError, match=r"algo\.groups"):
        GroupConfig(**wrong)
