"""Names that ship: a class name means one thing, a module name leads to one file, a constant says what it is."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("league", "coordinator", "collectors", "learners", "launch")
# Each package may have its own config; a `__main__` runs its package.
SHARED_MODULES = {"__init__", "__main__", "config"}
# A program for another Python, which imports nothing of ours: its modules and classes may be called as ours are.
FAR_SIDE = Path("collectors/envs/other_python/far_side")


@cache
def shipped():
    """Return every shipped module with its syntax tree."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(paths) > 100
    ours = [path.relative_to(ROOT) for path in paths if ROOT / FAR_SIDE not in path.parents]
    return [(path, ast.parse((ROOT / path).read_text())) for path in ours]


def repeated(names):
    """Return the names that occur in more than one place, with the places."""
    places = defaultdict(set)
    for name, path in names:
        places[name].add(str(path))
    return {name: sorted(found) for name, found in places.items() if len(found) > 1}


def test_shipped_class_names_are_unique():
    names = [
        (node.name.lstrip("_"), f"{path}:{node.lineno}")
        for path, tree in shipped()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    assert repeated(names) == {}


def test_module_names_are_unique():
    assert repeated((path.stem, path) for path, _ in shipped() if path.stem not in SHARED_MODULES) == {}


def test_waiting_times_say_what_is_waited_for():
    names = [
        (target.id, f"{path}:{node.lineno}")
        for path, tree in shipped()
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in ast.walk(node)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    ]
    assert [place for name, place in names if name.strip("_") == "PATIENCE"] == []


MIRRORED = PACKAGES
# Modules without a test file of their own name, and the file that covers each.
COVERED = {
    "collectors/envs/other_python/far_game.py": "tests/collectors/envs/other_python/test_far_environment.py",
    "collectors/envs/adapters/pgx_arrays.py": "tests/collectors/envs/adapters/test_pgx.py",
    "launch/processes/run_beside_learner.py": "tests/process/test_central.py",
    "launch/processes/run_replica.py": "tests/process/test_replica.py",
    "league/policies/actor.py": "tests/conformance/test_policies.py",
    "league/policies/torch_return_heads.py": "tests/league/policies/test_return_heads.py",
    "league/wire/ports.py": "tests/conformance/test_ports.py",
    "learners/algorithms/a2c_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/appo_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/c51_config.py": "tests/learners/algorithms/test_c51.py",
    "learners/algorithms/ddpg_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/discrete_sac_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/dqn_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/impala_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/mmd_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/qmix_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/qplex_config.py": "tests/learners/algorithms/test_qplex.py",
    "learners/algorithms/qr_dqn_config.py": "tests/learners/algorithms/test_qr_dqn.py",
    "learners/algorithms/rainbow_config.py": "tests/learners/algorithms/test_rainbow.py",
    "learners/algorithms/return_distributions.py": "tests/learners/algorithms/test_c51.py",
    "learners/algorithms/rnad_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/sac_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/td3_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/off_policy_config.py": "tests/learners/algorithms/test_off_policy.py",
    "learners/algorithms/vdn_config.py": "tests/learners/algorithms/test_config.py",
    "learners/algorithms/bc_config.py": "tests/learners/algorithms/test_bc.py",
    "learners/algorithms/dagger_config.py": "tests/learners/algorithms/test_dagger.py",
    "learners/algorithms/happo_config.py": "tests/learners/algorithms/test_happo.py",
    "learners/algorithms/upgo_config.py": "tests/learners/algorithms/test_upgo.py",
    "learners/algorithms/vpg_config.py": "tests/learners/algorithms/test_vpg.py",
    "learners/expert.py": "tests/learners/test_imitation.py",
}


def mirror_of(path):
    return Path("tests") / path.parent / f"test_{path.stem}.py"


def test_tests_mirror_the_packages():
    modules = [path for path, _ in shipped() if path.parts[0] in MIRRORED and not path.stem.startswith("__")]
    without = {str(path) for path in modules if not (ROOT / mirror_of(path)).exists()}
    assert without == set(COVERED), "move its tests to a file of its name; a module that has one is no exception"


def test_what_covers_a_module_without_a_test_file_names_it():
    assert [
        module
        for module, file in COVERED.items()
        if not re.search(rf"\b{Path(module).stem}\b", (ROOT / file).read_text())
    ] == []
