"""`launch=inline`: all parts in one process. tests/walk plays whole leagues with it."""

import pytest

from launch.cli import main


def test_inline_an_exception_of_a_learner_propagates(tmp_path, monkeypatch):
    """In one process there is nobody to restart it."""
    (tmp_path / "broken_learning.py").write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "from learners.algorithms.ppo import PPO\n"
        "from learners.algorithms.ppo_config import PPOConfig\n\n\n"
        "@dataclass(kw_only=True)\n"
        "class BrokenConfig(PPOConfig):\n"
        "    algorithm: ClassVar[str] = 'broken_learning:Broken'\n"
        "    name: str = 'broken_learning:BrokenConfig'\n\n\n"
        "class Broken(PPO):\n"
        "    def update(self, batch, rng, between=None):\n"
        "        raise RuntimeError('this update is broken')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    league = ["experiment=tic_tac_toe", "launch=inline", "policy.hidden=[8]", "algo.batch=256", "collector.slots=16"]
    broken = ["algo=ppo", "algo.name=broken_learning:BrokenConfig", "--allow", "broken_learning"]
    with pytest.raises(RuntimeError, match="this update is broken"):
        main(["run", "name=broken", *league, *broken])
