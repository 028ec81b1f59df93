"""Perturbed weights: the same in every process, and only where play depends on them."""

import subprocess
import sys

import numpy as np
import pytest

from league.policies.layout import PolicyConfig, describe, initial
from league.policies.perturbation import NoiseTable, perturbed_part
from league.spec import Array, EnvSpec, Seat

SPEC = EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), 2)
POLICY = PolicyConfig(hidden=[4], critic="central")
PRINT = """
from league.policies.layout import PolicyConfig
from league.policies.perturbation import NoiseTable
import numpy as np
print(NoiseTable(np.ones(5, bool)).noise(1234567).tolist())
"""


def test_both_signs_lie_on_either_side_of_the_weights():
    table, flat = NoiseTable(perturbed_part(POLICY, SPEC)), initial(POLICY, SPEC, 0)
    up, down = (table.perturbed(flat, 77, sign, 0.5) for sign in (1, -1))
    np.testing.assert_allclose(up + down, 2 * flat, atol=1e-6)
    np.testing.assert_allclose((up - down)[table.part], table.noise(77), atol=1e-6)
    assert up.dtype == np.float32


def test_only_what_acts_is_perturbed():
    table, flat = NoiseTable(perturbed_part(POLICY, SPEC)), initial(POLICY, SPEC, 0)
    views = describe(POLICY, SPEC).views(table.perturbed(flat, 5, 1, 1.0))
    before = describe(POLICY, SPEC).views(flat)
    same = {name for name in views if np.array_equal(views[name], before[name])}
    assert same == {name for name in views if name.startswith(("critic_", "value."))}


def test_every_process_has_the_same_table():
    mine = NoiseTable(np.ones(5, np.bool_)).noise(1234567)
    found = subprocess.run([sys.executable, "-c", PRINT], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == str(mine.tolist())


@pytest.mark.parametrize("seed", [0, 1, 2**62])
def test_every_offset_has_room_for_its_noise(seed):
    table = NoiseTable(np.ones(1000, np.bool_))
    assert len(table.noise(table.offset_of(seed))) == 1000
    assert len(table.noise(table.offsets - 1)) == 1000
