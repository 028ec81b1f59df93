"""Names of metrics are declared once."""

import ast
from pathlib import Path

import pytest

from league import metrics

ROOT = Path(metrics.__file__).parents[1]
SHIPPED = ("league", "coordinator", "collectors", "learners", "launch")
NAMES = {
    value
    for name, value in vars(metrics).items()
    if name.isupper() and isinstance(value, str) and ("_" in value or "/" in value) and not value.endswith("/")
}
OTHERS = {"env_steps", "env_steps_per_second", "lag_mean", "lag_p95"}  # are keys of `ludus status --json`, too


@pytest.mark.parametrize("package", SHIPPED)
def test_no_module_spells_the_name_of_a_metric_itself(package):
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.value}"
        for path in sorted((ROOT / package).rglob("*.py"))
        if path != Path(metrics.__file__)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in NAMES - OTHERS
    ]
    assert found == []


def test_the_names_are_many_and_different():
    values = [value for name, value in vars(metrics).items() if name.isupper() and isinstance(value, str)]
    assert len(values) > 20
    assert len(values) == len(set(values))


@pytest.mark.parametrize(
    ("name", "curve"),
    [
        (metrics.ENV_STEPS_PER_SECOND, metrics.SPEED),
        (metrics.WAIT_SHARE, "wait/p"),
        (metrics.LOAD_PER_CORE, "system/load_per_core"),
        (metrics.WAITING_TICKETS, "queue/waiting_tickets"),
        (metrics.INFERENCE + metrics.WAIT_SHARE, "process/p/inference/wait_share"),
        (metrics.player_metric("main", metrics.ROLLBACKS), "losses/rollbacks/main"),
        (metrics.player_metric("main", "version"), "player/version/main"),
        (metrics.SECONDS, None),
    ],
)
def test_every_metric_becomes_a_curve(name, curve):
    assert metrics.curve_name(name, "p") == curve
