"""Nothing that comes from the wire or from a file is executed: the shipped code has no means to do so."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ("league", "coordinator", "collectors", "learners", "launch", "conf")
FORBIDDEN_MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_ATTRIBUTES = {"instantiate", "recv_pyobj", "send_pyobj", "load_pyobj", "read_pickle"}
# What a package, or any part of it, must not be asked for.
FORBIDDEN_OF = {
    "torch": {"load"},
    "yaml": {f"{kind}load{all}" for kind in ("", "unsafe_", "full_") for all in ("", "_all")},
    "builtins": FORBIDDEN_CALLS,
    "importlib": {"__import__"},
}
COMPUTED = "import of a name that is computed"
# Here names become code, and nowhere else. The far side gets only names that the near side has checked.
DOORS = ("league/plugins.py", "collectors/envs/other_python/far_side/loading.py")


def shipped_files() -> list[Path]:
    found = [path for package in SHIPPED for path in sorted((ROOT / package).rglob("*.py"))]
    return [*found, *(path for path in [ROOT / "ludus.py"] if path.exists())]


def aliases(tree: ast.AST) -> dict[str, str]:
    """What each name of a file stands for, by its imports and plain assignments: {"t": "torch"}, wherever they are."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                first = one.name.split(".")[0]
                known |= {one.asname: one.name} if one.asname else {first: first}
        if isinstance(node, ast.ImportFrom):
            known |= {(one.asname or one.name): f"{node.module or ''}.{one.name}" for one in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and (path := dotted(node.value, known)).split(".")[0] in FORBIDDEN_OF:
            known |= {target.id: path for target in node.targets if isinstance(target, ast.Name)}
    return known


def dotted(node: ast.AST, known: dict[str, str]) -> str:
    """The whole name behind an expression, or "" if it has none: `t.jit.load` is torch.jit.load."""
    if isinstance(node, ast.Name):
        return known.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value, known)}.{node.attr}"
    if isinstance(node, ast.Call) and len(node.args) > 1 and dotted(node.func, known) == "getattr":
        return f"{dotted(node.args[0], known)}.{text(node.args[1])}"
    if isinstance(node, ast.Call) and node.args and dotted(node.func, known).endswith("import_module"):
        return text(node.args[0])
    return ""


def text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def forbidden(path: str) -> bool:
    """Whether nobody may have what a whole name stands for."""
    first, *rest = path.split(".")
    if not rest and first in FORBIDDEN_CALLS:
        return True
    if rest and rest[-1] in {*FORBIDDEN_OF.get(first, ()), *FORBIDDEN_ATTRIBUTES}:
        return True
    return not FORBIDDEN_MODULES.isdisjoint([first, *rest]) or (first in FORBIDDEN_OF and rest[-1:] == ["*"])


def imported(node: ast.AST) -> list[str]:
    """The whole names of everything that an import statement brings in."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module or ''}.{alias.name}" for alias in node.names]
    return []


def problems(source: str) -> list[str]:
    tree = ast.parse(source)
    known, found = aliases(tree), []
    for node in ast.walk(tree):
        names = [*imported(node), dotted(node, known)]
        found += [f"line {node.lineno}: {name}" for name in names if name and forbidden(name)]
        if (
            isinstance(node, ast.Call)
            and dotted(node.func, known).endswith("import_module")
            and not dotted(node, known)
        ):
            found.append(COMPUTED)
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and not is_false(node.value):
            found.append(f"line {node.value.lineno}: allow_pickle")
        if isinstance(node, ast.keyword) and node.arg == "weights_only" and is_false(node.value):
            found.append(f"line {node.value.lineno}: weights_only=False")
    return found


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_the_shipped_code_cannot_execute_what_it_reads():
    found = {str(path.relative_to(ROOT)): problems(path.read_text()) for path in shipped_files()}
    assert {path: lines for path, lines in found.items() if lines} == {path: [COMPUTED] for path in DOORS}


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
        "import torch as t\nt.load('x')",
        "from torch import load as l\nl('x')",
        "from torch.serialization import load",
        "import torch.serialization as s\ns.load('x')",
        "import torch\ntorch.jit.load('x')",
        "from torch import jit\njit.load('x')",
        "from torch import *",
        "t = torch\nt.load('x')",
        "getattr(torch, 'load')('x')",
        "import torch as t\ngetattr(t, 'load')('x')",
        "import builtins\nbuiltins.eval('1')",
        "import builtins as b\nb.exec('1')",
        "from builtins import eval as calculate",
        "getattr(builtins, 'eval')('1')",
        "from importlib import import_module\nimport_module('pickle')",
        "from importlib import import_module as get\nget('pickle')",
        "import importlib\nimportlib.import_module('cloudpickle.sub')",
        "import importlib\nimportlib.import_module('torch').load('x')",
        "import importlib\nimportlib.import_module(name)",
        "import importlib as i\ni.__import__('os')",
        "import yaml as y\ny.load_all(text)",
        "pandas.read_pickle('x')",
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
        "import safetensors.torch\nsafetensors.torch.load(data)",
        "import torch as t\nt.compile(model)",
        "model.load(x)",
        "import_module('pettingzoo.test')",
        "getattr(config, 'load')",
        "'pickle.loads'",
    ],
)
def test_harmless_code_is_left_alone(good):
    assert problems(good) == []
