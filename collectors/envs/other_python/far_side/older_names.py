"""The older names of PettingZoo, for games that were written for them (`env.compat=true`)."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from .spaces import Plain


def use_older_names(renamed: Plain) -> None:
    """Let PettingZoo have its older names, too: `renamed` has what each is called today."""
    utils = importlib.import_module("pettingzoo.utils")
    conversions = importlib.import_module("pettingzoo.utils.conversions")
    selector = sys.modules.get("pettingzoo.utils.agent_selector")
    if hasattr(selector, "AgentSelector") and not callable(getattr(utils, "agent_selector", None)):
        selector.__class__ = OlderSelector
    for old, new in renamed.items():
        for module in (utils, conversions):
            if not hasattr(module, old) and hasattr(conversions, new):
                setattr(module, old, getattr(conversions, new))


class OlderSelector(ModuleType):
    """A module that is called as the class that once had its name."""

    def __call__(self, *given: Any, **options: Any) -> Any:
        """Make an `AgentSelector`."""
        return self.AgentSelector(*given, **options)
