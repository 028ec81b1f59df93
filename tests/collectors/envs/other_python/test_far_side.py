"""The far side alone: a directory for every Python since 3.8, which needs numpy only and reads spaces as we do."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import odd_envs
import pytest
from gymnasium import spaces

from collectors.envs.adapters.action_spaces import flat_mask, read_actions
from collectors.envs.adapters.observation_spaces import observation_layout
from collectors.envs.adapters.reference_tests import complaints
from collectors.envs.adapters.space_forms import form_of
from collectors.envs.other_python.far_process import FAR_SIDE
from collectors.envs.other_python.far_side import actions as far_actions
from collectors.envs.other_python.far_side import games, observations, own_loop
from collectors.envs.other_python.far_side import spaces as far_spaces
from collectors.envs.other_python.far_side.converting import converted
from league.agent_spaces import SpaceForm

FILES = sorted(FAR_SIDE.glob("*.py"))
SUPPORTED = [f"3.{minor}" for minor in range(8, 15)]


def interpreters():
    """Return a Python of each supported version that this machine has."""
    found = {f"3.{sys.version_info.minor}": sys.executable}
    for version in SUPPORTED:
        named = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), shutil.which(f"python{version}")]
        works = [
            str(one) for one in named if one and not subprocess.run([one, "-c", ""], capture_output=True).returncode
        ]
        if works:
            found.setdefault(version, works[0])
    return found


@pytest.mark.slow
def test_every_python_here_can_compile_it(figure):
    found = interpreters()
    for python in found.values():
        for file in FILES:
            subprocess.run([python, "-c", f"compile(open({str(file)!r}).read(), {file.name!r}, 'exec')"], check=True)
    figure(f"the far side compiles on Python {', '.join(found)}")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_it_has_only_syntax_of_3_8_and_imports_only_numpy_and_itself(file):
    tree = ast.parse(file.read_text(), feature_version=(3, 8))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {one.name.partition(".")[0] for one in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level <= 1
            imported |= set() if node.level else {node.module.partition(".")[0]}
    assert imported <= {*sys.stdlib_module_names, "numpy"}


NEST = spaces.Dict(
    {"pair": spaces.Tuple((spaces.Discrete(3, start=2), spaces.MultiBinary(2))), "turn": spaces.Box(-2, 2, (1, 2))}
)
SPACES = [
    spaces.Discrete(4),
    spaces.Discrete(3, start=5),
    spaces.MultiDiscrete([2, 3, 4]),
    spaces.MultiDiscrete([[2, 2], [3, 2]]),
    spaces.MultiBinary(3),
    spaces.Box(0, 255, (4, 4, 3), np.uint8),
    spaces.Box(np.float32([0, -np.inf]), np.float32([4, np.inf])),
    spaces.Tuple((spaces.Discrete(2), spaces.Box(-1, 1, (2,), np.float64))),
    NEST,
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_spaces_become_the_same_data(space):
    assert msgspec.convert(far_spaces.form_of(space), SpaceForm) == form_of(space)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_observations_become_the_same_rows(space):
    space.seed(3)
    array, writes = observation_layout("toy", {"a": space, "b": spaces.Discrete(2)})
    write = observations.row_writer(space, array.shape, array.dtype)
    for _ in range(5):
        seen = space.sample()
        mine, other = np.zeros(array.shape, array.dtype), np.zeros(array.shape, array.dtype)
        write(seen, mine)
        writes["a"](seen, other)
        assert (mine == other).all()


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_parts_become_the_same_actions(space):
    actions, rng = read_actions("toy", {"a": space, "b": spaces.Discrete(2)}), np.random.default_rng(1)
    heads, single = list(actions.kind.choices), actions.single
    make = far_actions.action_maker(space, heads, single)
    for _ in range(5):
        chosen = [int(rng.integers(count)) for count in read_actions("toy", {"a": space}).kind.choices]
        chosen += [0] * (len(heads) - len(chosen))
        numbers = rng.uniform(-1, 1, actions.kind.continuous).astype(np.float32).tolist()
        parts = chosen[0] if single else [*chosen, *numbers]
        mine, other = make(parts), actions.plays["a"](parts if single else np.array(parts))
        assert space.contains(mine)
        assert repr(mine) == repr(other)


MASKS = [
    (spaces.Discrete(3), [1, 0, 1]),
    (spaces.Discrete(3), np.array([1, 0, 1], np.int8)),
    (spaces.MultiDiscrete([2, 3]), ([1, 0], [0, 1, 1])),
    (spaces.MultiDiscrete([2, 3]), np.array([1, 0, 0, 1, 1])),
    (spaces.MultiDiscrete([[2, 2], [3, 2]]), (((1, 0), (0, 1)), ((1, 0, 1), (1, 1)))),
    (spaces.MultiBinary(2), np.array([0, 2])),
    (spaces.Tuple((spaces.Discrete(2), spaces.Discrete(3))), ([1, 0], None)),
    (spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Discrete(3)}), {"b": [0, 0, 1]}),
]


@pytest.mark.parametrize(("space", "given"), MASKS, ids=str)
def test_masks_of_every_form_become_the_same(space, given):
    assert far_actions.flat_mask(space, given).tolist() == flat_mask(space, given).tolist()


def test_results_of_older_versions_are_read():
    assert games.both({"a": 1}) == ({"a": 1}, {})
    assert games.both(({"a": 1}, {"a": {}})) == ({"a": 1}, {"a": {}})
    assert games.five((1, 2, 3, 4)) == (1, 2, 3, {}, 4)

    class Old:
        dones = {"a": True, "b": False}  # noqa: RUF012

    assert (games.is_done(Old, "a"), games.is_done(Old, "b")) == (True, False)
    assert games.flags_of(Old) == (Old.dones, {})


@pytest.mark.filterwarnings("ignore")
def test_tests_of_an_older_pettingzoo_take_fewer_arguments(monkeypatch):
    import pettingzoo.test as own

    asked = []
    monkeypatch.setattr(own, "parallel_api_test", lambda env, num_cycles: asked.append(num_cycles))
    monkeypatch.setattr(own, "parallel_seed_test", lambda parallel_env_fn: asked.append("seed"))
    assert own_loop.own_complaints(odd_envs.OddParallel) == []
    assert asked == [100, "seed"]


@pytest.mark.filterwarnings("ignore")
def test_a_test_that_fails_itself_is_told_from_one_that_the_environment_fails(monkeypatch):
    import pettingzoo.test as own

    def older(env, cycles):
        env.reset(seed=1, return_info=True)

    monkeypatch.setattr(own, "parallel_api_test", older)
    monkeypatch.setattr(own, "parallel_seed_test", lambda build, cycles: build().reset(seed=1))
    api, seed = own_loop.own_complaints(lambda: converted(odd_envs.Misfit(), True, []))
    assert re.fullmatch(r".* unexpected keyword argument 'return_info' \(converting.py:\d+\)", api[0])
    assert api[1], "the test failed itself"
    what = "its observation has shape (3,), but its space says (1,)"
    assert seed == (f"PettingZoo's parallel_seed_test: BrokenError: {what}", False)


@pytest.mark.filterwarnings("ignore")
def test_an_assertion_without_text_is_shown_with_its_place_on_both_sides(monkeypatch):
    import pettingzoo.test as own

    def silent(env, cycles):
        raise AssertionError

    monkeypatch.setattr(own, "parallel_api_test", silent)
    found = own_loop.own_complaints(odd_envs.OddParallel)
    ((what, of_the_test),) = found
    assert re.fullmatch(r".*parallel_api_test: AssertionError: raise AssertionError \(test_far_side.py:\d+\)", what)
    assert not of_the_test
    assert [tuple(one) for one in complaints(odd_envs.OddParallel)] == found
