"""Environments that fork, start threads, print in C and are slow to build: leagues end and leave nothing behind."""

import re
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from launch.verify.verify import verify
from launch.viewers.view import read_offline

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
SMALL = [
    "policy.hidden=[8]",
    "collector.slots=4",
    "algo.batch=64",
    "algo.minibatch=64",
    "league.evaluation.final_games=4",
    "--allow",
]


def busy(name, *more, steps=120):
    return [
        "env=pettingzoo",
        f"env.id=busy_envs:{name}",
        "league=selfplay",
        f"league.budget.env_steps={steps}",
        *SMALL,
        "busy_envs",
        *more,
    ]


def left_behind(directory):
    """Return the words of all processes that run in this directory."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (place / "cwd").readlink() == directory and "Z" not in (place / "stat").read_text().rpartition(")")[2]:
                found.append((place / "cmdline").read_bytes())
    return found


@pytest.mark.parametrize("launch", ["local", "inline"])
@pytest.mark.parametrize("name", ["Forks", "Asks", "Threads", "ComesBack"])
def test_a_league_ends_and_leaves_no_process(start, patiently, tmp_path, launch, name):
    league = start(*busy(name, f"launch={launch}"), name=name.lower())
    assert league.process.wait(150) == 0, league.log.read_text()[-2000:]
    assert read_offline(league.run).state.phase == "over"
    assert verify(league.run) == 0
    patiently(lambda: not left_behind(tmp_path), 5, "the end of all that was started")
    if name != "Threads":  # threads that print between two calls do so on the terminal if they live in this process
        assert "busy_envs prints" not in re.sub("the first: .*", "", league.log.read_text())
    for log in league.run.root.glob("logs/*"):
        assert log.stat().st_size < 50_000, log.read_text()[-500:]


def test_what_native_code_prints_is_counted_in_the_log(start):
    league = start(*busy("Native", "launch=local", "launch.collectors=1"))
    assert league.process.wait(150) == 0
    log = league.run.log("collector", 0).read_text()
    assert "busy_envs steps" not in re.sub("the first: .*", "", log)
    assert re.search(r"the environment busy_envs:Native: it printed [\d,]+ lines", log)
    assert not re.search("busy_envs (steps|writes|complains|is imported)", league.log.read_text())


def test_a_slow_construction_is_told_before_and_while_it_is_felt(start):
    more = ("launch=local", "launch.collectors=1", "collector.slots=16", "collector.hang_seconds=2")
    league = start(*busy("SlowToBuild", *more))
    assert league.process.wait(150) == 0
    told = " ".join(league.log.read_text().split())
    assert re.search(
        r"SlowToBuild takes 0.5\d* s to build, so each collector needs about [89] s for its 16 slots", told
    )
    log = league.run.log("collector", 0).read_text()
    assert re.search(r"\d+ of 16 slots built, about \d s left", log)
    assert "hangs" not in log, "eight seconds in one call, but a sign of life after each slot"


THERE = ["launch=inline", f"env.python={sys.executable}", "--allow", sys.executable]
KILLED = {
    "inline": ("Keeps", ["launch=inline"]),
    "inline, in a session of its own": ("KeepsApart", ["launch=inline"]),
    "local": ("Keeps", ["launch=local", "launch.collectors=1"]),
    "in another Python": ("Keeps", THERE),
    "in another Python, in a session of its own": ("KeepsApart", THERE),
}


@pytest.mark.parametrize("case", KILLED)
def test_a_run_that_is_killed_leaves_no_process(start, patiently, tmp_path, case):
    name, launch = KILLED[case]
    for file in ("busy_envs.py", "odd_envs.py"):  # another Python finds modules of the current directory only
        (tmp_path / file).symlink_to(Path(__file__).parents[1] / "support" / file)
    league = start(*busy(name, *launch, steps=10**9))
    patiently(lambda: league.run.ledger.exists() and read_offline(league.run).state.env_steps, 90, "a match")
    assert any(b"busy_envs sleeps" in words for words in left_behind(tmp_path))
    league.process.kill()
    league.process.wait()
    patiently(lambda: not left_behind(tmp_path), 15, "the end of all that was started")
