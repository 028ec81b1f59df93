"""Games that were written for an older PettingZoo are recognised, and can play."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from collectors.check import check
from collectors.envs.adapters.compat import compat_remedy
from collectors.envs.config import EnvConfig

SUPPORT = Path(__file__).parents[3] / "support"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old"),
    [("Older", "agent_selector had another name (AgentSelector"), ("older_conversion", "from_parallel")],
)
def test_what_is_missing_is_named_with_the_remedy(name, old):
    # In a process of its own: PettingZoo keeps its older names once it has them back.
    found = played(name, compat=False)
    assert "It was written for an older PettingZoo, in which" in found
    assert old in found
    assert "env.compat=true lets it play" in found
    assert played(name, compat=True).splitlines()[0] == f"foreign_games:{name}: fit for a league"


def played(name, compat):
    """Check a game in a process of its own; return the report."""
    call = (
        "import sys, warnings; warnings.simplefilter('ignore'); from collectors.check import check;"
        "from collectors.envs.config import EnvConfig;"
        f"env = EnvConfig(name='pettingzoo', id='foreign_games:{name}', compat={compat});"
        "print('\\n'.join(check(env, slots=1, episodes=1, allow=['foreign_games']).lines()))"
    )
    path = {"PYTHONPATH": f"{Path(__file__).parents[4]}:{SUPPORT}"}
    run = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, env=path, timeout=120)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_module_that_is_called_as_the_class_of_its_old_name_is_recognised():
    from pettingzoo.utils import agent_selector

    selector = ModuleType(agent_selector.__name__)  # as the real one is where nobody asked for its older names
    with pytest.raises(TypeError) as told:
        selector(["agent_selector"])
    assert compat_remedy(told.value).startswith("It was written for an older PettingZoo, in which agent_selector had")


def test_other_errors_get_no_such_remedy():
    def call():
        return pytest()

    with pytest.raises(TypeError) as told:
        call()
    assert compat_remedy(told.value) == ""
    assert compat_remedy(ImportError("cannot import name 'wings' from 'pettingzoo.utils'")) == ""


def test_compat_is_harmless_where_it_is_not_needed():
    env = EnvConfig(name="pettingzoo", id="classic/rps_v2", compat=True)
    assert check(env, slots=1, episodes=1).fit
