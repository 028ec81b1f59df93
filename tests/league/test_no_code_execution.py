"""Nothing that comes from the wire or from a file is executed: the shipped code has no means to do so."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ("league", "coordinator", "collectors", "learners", "launch", "conf")
FORBIDDEN_MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_ATTRIBUTES = {"instantiate", "recv_pyobj", "send_pyobj", "load_pyobj"}
FORBIDDEN_PAIRS = {("torch", "load"), ("yaml", "load"), ("yaml", "unsafe_load"), ("yaml", "full_load")}


def shipped_files() -> list[Path]:
    found = [path for package in SHIPPED for path in sorted((ROOT / package).rglob("*.py"))]
    return [*found, *(path for path in [ROOT / "ludus.py"] if path.exists())]


def imports(node: ast.AST) -> list[tuple[str, str]]:
    """(module, name) of everything that an import statement brings in."""
    if isinstance(node, ast.Import):
        return [(alias.name, "") for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "", alias.name) for alias in node.names]
    return []


def problems(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        for module, name in imports(node):
            if module.split(".")[0] in FORBIDDEN_MODULES or name in FORBIDDEN_MODULES | FORBIDDEN_ATTRIBUTES:
                found.append(f"line {node.lineno}: import of {module} {name}".rstrip())
            if (module, name) in FORBIDDEN_PAIRS:
                found.append(f"line {node.lineno}: import of {module}.{name}")
        if isinstance(node, ast.Name) and node.id in FORBIDDEN_CALLS:
            found.append(f"line {node.lineno}: {node.id}")
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in FORBIDDEN_ATTRIBUTES or (owner, node.attr) in FORBIDDEN_PAIRS:
                found.append(f"line {node.lineno}: {owner}.{node.attr}")
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and not is_false(node.value):
            found.append(f"line {node.value.lineno}: allow_pickle")
        if isinstance(node, ast.keyword) and node.arg == "weights_only" and is_false(node.value):
            found.append(f"line {node.value.lineno}: weights_only=False")
    return found


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_the_shipped_code_cannot_execute_what_it_reads():
    found = {str(path.relative_to(ROOT)): problems(path.read_text()) for path in shipped_files()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_the_walker_sees_the_code():
    names = {str(path.relative_to(ROOT)) for path in shipped_files()}
    assert {"league/wire/codec.py", "collectors/envs/rows.py", "conf/__init__.py"} <= names


@pytest.mark.parametrize(
    "bad",
    [
        "import pickle",
        "import os, pickle as p",
        "from pickle import loads",
        "def f():\n    import cloudpickle.sub",
        "import dill",
        "import shelve",
        "import marshal",
        "from six.moves import cPickle",
        "import torch\ntorch.load('x')",
        "from torch import load",
        "reader = torch.load",
        "torch.load('x', weights_only=True)",
        "x.load_file('y', weights_only=False)",
        "eval('1')",
        "run = exec",
        "__import__('os')",
        "hydra.utils.instantiate(config)",
        "from hydra.utils import instantiate",
        "from hydra.utils import instantiate as make",
        "socket.recv_pyobj()",
        "socket.send_pyobj(1)",
        "np.load('x', allow_pickle=True)",
        "np.load('x', allow_pickle=flag)",
        "yaml.load(text)",
        "from yaml import unsafe_load",
    ],
)
def test_a_planted_snippet_is_found(bad):
    assert problems(bad)


@pytest.mark.parametrize(
    "good",
    [
        "json.load(file)",
        "np.load('x', allow_pickle=False)",
        "re.compile('x')",
        "model.eval()",
        "yaml.safe_load(text)",
        "load_state(x)",
        "'pickle.loads'",
    ],
)
def test_harmless_code_is_left_alone(good):
    assert problems(good) == []
