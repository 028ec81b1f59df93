"""The worked example for adapters of batched simulators keeps every rule, and is what the page shows."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from driving import play

from collectors.check import check
from collectors.conforming import conform
from collectors.envs.config import EnvConfig, EnvError, make_environment

ROOT = Path(__file__).parents[2]


@pytest.fixture
def example(monkeypatch):
    path = ROOT / "examples" / "batched_simulator.py"
    spec = importlib.util.spec_from_file_location("batched_simulator", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "batched_simulator", module)
    spec.loader.exec_module(module)
    return module


def test_it_conforms(example):
    findings = conform(example.SumoRows, range(1, 40), slots=8)
    assert findings.problems == ()
    endings = {end[1] for episode in findings.complete for end in episode.ends.values()}
    assert endings == {True, False}  # some run out of time, some out of the ring
    assert all(abs(sum(episode.returns.values())) < 1e-6 for episode in findings.complete)


@pytest.mark.usefixtures("example")
def test_it_is_fit_for_a_league(monkeypatch):
    monkeypatch.setattr("collectors.check.SPEED_SECONDS", 0.01)
    report = check("batched_simulator:SumoRows", allow=["batched_simulator"], episodes=4)
    assert report.fit, report.lines()
    assert report.zero_sum


@pytest.mark.usefixtures("example")
def test_the_key_that_truncates_is_the_same_for_batches():
    config = EnvConfig(name="batched_simulator:SumoRows", max_steps=3)
    env = make_environment(config, 2, ["batched_simulator"])
    ends = play(env, 1, 2, choose=lambda rows: np.zeros((len(rows), 1), np.float32))
    assert len(ends) == 3
    assert ends[-1].truncated.all()
    with pytest.raises(EnvError, match=r"env\.max_steps: darts:Darts takes no 'max_steps'\. A batch of slots"):
        make_environment(EnvConfig(name="darts:Darts", max_steps=3), 2, ["darts"])


def test_who_pushes_wins(example):
    env = example.SumoRows(slots=3)
    env.start(np.arange(3, dtype=np.int32), np.arange(3))
    paid = np.zeros(2)
    while len(rows := env.rows()):
        ends = env.step(np.where(rows.agent == 0, 1.0, 0.2).astype(np.float32)[:, None])
        np.add.at(paid, ends.agent, ends.reward)
    assert paid.tolist() == [3, -3]


def test_the_page_shows_the_adapter():
    page = (ROOT / "docs" / "your-environment.md").read_text()
    code = (ROOT / "examples" / "batched_simulator.py").read_text()
    assert code[code.index("class SumoRows:") :].strip() in page
