"""Slots in another Python (`far_game`): the same rows as in this one; a lost process is a fault of its slots."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import far_games
import numpy as np
import odd_envs as odd
import pytest

from collectors.check import check, speed
from collectors.conformance import RuleChecker
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.config import EnvConfig, EnvError, VariantConfig, make_environment, planned
from collectors.envs.referee import Referee


def play(env, seeds):
    return RuleChecker(env).play(seeds)


def alive(pid):
    """Whether a process still runs; one that has ended but was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(there, what):
    """Wait until something has ended: the kernel ends a process soon, but not at once."""
    until = time.monotonic() + 30
    while there():
        assert time.monotonic() < until, f"{what} still runs"
        time.sleep(0.01)


def groups(leader):
    """Return the processes in the group of one, those that have ended left out."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, group = place.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(group) == leader and state != "Z":
            found.append(int(place.parent.name))
    return found


@pytest.mark.parametrize("name", ["Composite", "continuous"])
def test_rows_are_those_of_this_python(far, name):
    env, here = far(f"odd_envs:{name}"), adapt(getattr(odd, name), 3, name=f"odd_envs:{name}")
    assert env.spec == here.spec
    assert env.spaces == here.spaces
    assert play(env, range(8)) == play(here, range(8))


def test_states_pictures_and_texts_come_over(far):
    env, here = (
        far("far_games:Pictured", state=True, render_mode="rgb_array"),
        adapt(lambda: far_games.Pictured("rgb_array"), 3, name="far_games:Pictured", state=True),
    )
    assert env.spec == here.spec
    assert env.render_modes == ("rgb_array", "ansi")
    for one in (env, here):
        one.start(np.array([2]), np.array([5]))
    for _ in range(3):
        rows, other = env.rows(), here.rows()
        assert rows.state.tolist() == other.state.tolist()
        assert (env.picture(2) == here.picture(2)).all()
        assert env.render(2) == here.render(2)
        env.step(np.zeros(len(rows), np.int32))
        here.step(np.zeros(len(rows), np.int32))
    assert env.picture(0) is None
    text = far("far_games:Pictured", render_mode="ansi")
    text.start(np.array([0]), np.array([5]))
    assert text.render(0) == "tick 0"


def test_late_rewards_and_absent_agents_come_over(far):
    def ends(env):
        env.start(np.arange(3), np.arange(3))
        found = [env.step(np.zeros(len(env.rows()), np.int32)) for _ in range(3)]
        return [(one.slot.tolist(), one.over.tolist(), one.idle, one.late) for one in found], found[-1].present.tolist()

    ticks, present = ends(far("far_games:PaysTheDead"))
    assert (ticks, present) == ends(adapt(far_games.PaysTheDead, 3))
    assert [late.reward for late in ticks[-1][-1]] == [10.0] * 3
    assert present == [[True, True, False]] * 3


def test_the_winner_that_an_info_names_counts(far):
    def ranks(env):
        env = Referee(env)
        env.start(np.arange(3), np.arange(3))
        while not len((ends := env.step(np.zeros(len(env.rows()), np.int32))).over):
            pass
        return ends.ranks.tolist()

    assert ranks(far("far_games:Judged")) == ranks(adapt(far_games.Judged, 3)) != [[0, 0, 0]] * 3
    assert ranks(far("far_games:Large")) == [[1, 0, 1]] * 3


INFOS = {
    "unshown": "",
    "winner": r"its info names the winner .*<Unshown that cannot be shown>",
    "array": r"the last info of agent 'runner_0' is .*; give a dict",
    "huge": r"infos raised ValueError: Exceeds the limit",
}


@pytest.mark.parametrize("how", INFOS)
def test_whatever_infos_hold_is_a_matter_of_their_slot(far, how):
    env = far("far_games:Informing", slots=2, how=how)
    first, referee = env.pid, Referee(env)
    episodes = play(referee, [1, 2, 3])
    assert env.pid == first, "the process was not lost"
    assert all(re.search(INFOS[how], episode.fault) for episode in episodes)
    assert [episode.ranks for episode in episodes] == [None if INFOS[how] else (1, 0)] * 3


def test_a_winner_that_cannot_be_shown_is_a_fault_here_as_well():
    (episode,) = play(Referee(adapt(lambda: far_games.Informing("winner"), 1)), [1])
    assert "names the winner <Unshown that cannot be shown>; give the name of an agent" in episode.fault


LOST = {
    "crash": r"crashed with signal 11 \(SIGSEGV\) in step, at .*far_games.py:\d+ in crash",
    "die": r"crashed with signal 9 \(SIGKILL\) in step",
    "leave": r"ended with exit code 7 in step",
    "garble": r"answered nonsense",
    "claim": r"answered nonsense: a message of 4,294,967,295 bytes",
    "misstate": r"answered nonsense: b'42'",
    "hang": r"does not come back from step within 0.3 s, at .*far_games.py:\d+ in hang",
    "fork_and_die": r"crashed with signal 9 \(SIGKILL\) in step",
}


FAST = ("crash", "garble")


@pytest.mark.parametrize("how", [pytest.param(how, marks=[pytest.mark.slow] * (how not in FAST)) for how in LOST])
def test_a_lost_process_is_a_fault_of_its_slots_and_is_started_again(far, how, caplog):
    seconds = 0.3 if how == "hang" else 30.0
    env = far("far_games:Misbehaving", slots=2, seconds=seconds, how=how)
    first = env.pid
    lost = play(env, [1, 2])
    for episode in lost:
        assert re.search(rf"far_games:Misbehaving: the process of env.python=.* is lost: it {LOST[how]}", episode.fault)
    assert not alive(first)
    assert "is lost" in caplog.text
    gone(lambda: groups(first), "what it started")
    lawful = play(adapt(far_games.Misbehaving, 2), [4, 6])
    assert play(env, [4, 6]) == lawful, "the next episodes play in another process"
    assert env.pid not in (None, first)


def test_an_exit_of_the_game_is_a_fault_of_its_slot_alone(far):
    env = far("far_games:Misbehaving", slots=2, how="exit")
    first = env.pid
    odd_one, even = play(env, [1, 2])
    assert odd_one.fault == "far_games:Misbehaving: step raised SystemExit: enough (far_games.py:42)"
    assert even.complete
    assert env.pid == first


def test_all_lines_that_a_game_prints_are_counted(far):
    env = far("far_games:Misbehaving", slots=2, how="chat")
    play(env, [1])
    assert (env._output.lines, env._output.characters) == (6, 3 + 5 * 10_001)


def test_a_broken_observation_has_the_remedy_that_it_has_here(far):
    found = [
        play(one, [1])[0].fault
        for one in (far("odd_envs:Unlisted", slots=1), adapt(odd.Unlisted, 1, name="odd_envs:Unlisted"))
    ]
    assert found[0] == found[1]
    assert found[0].endswith("Fix it there, or let Ludus convert it: env.cast=true")


@pytest.mark.parametrize("error", ["file", "none"])
def test_whatever_an_error_says_is_a_fault_of_its_slot_alone(far, error):
    env = far("odd_envs:Saying", slots=2, error=error)
    first = env.pid
    here = play(adapt(lambda: odd.Saying(error), 2, name="odd_envs:Saying"), [1, 2])
    assert play(env, [1, 2]) == here
    assert here[0].fault
    assert env.pid == first


def test_what_a_game_prints_is_bounded_and_disturbs_nobody(far):
    env = far("far_games:Misbehaving", slots=2, how="shout")
    assert all(episode.complete for episode in play(env, range(1, 9)))
    assert len(env._far._process.printed()) <= 1 << 14
    assert os.fstat(env._far._process._log.fileno()).st_size <= 1 << 23


@pytest.mark.slow
def test_a_process_that_cannot_start_again_is_a_fault_of_each_episode(far, tmp_path):
    env = far("far_games:Changing", slots=1, file=str(tmp_path / "more"))
    (tmp_path / "more").touch()
    faults = [episode.fault for episode in play(env, [1, 2, 3])]
    assert "exit code 1" in faults[0]
    assert faults[1] == faults[2] == "far_games:Changing: its agents or spaces changed since the league began"


@pytest.mark.slow
def test_faults_of_two_starts_are_both_reported(far, tmp_path):
    env = far("far_games:Changing", slots=2, file=str(tmp_path / "more"))
    os.killpg(env.pid, signal.SIGKILL)
    env.start(np.array([0]), np.array([1]))
    env.start(np.array([1]), np.array([2]))
    assert {fault.slot for fault in env.step(np.zeros(len(env.rows()), np.int32)).faults} >= {0}


OWNER = """
import sys, time
import numpy as np
sys.path[:0] = {paths!r}
from collectors.envs.other_python.far_environment import FarEnvironment
from collectors.envs.other_python.far_order import FarOrder, opening_of
opening = opening_of("far_games:Misbehaving", {{"how": {how!r}}}, [], allow=["far_games"])
env = FarEnvironment(FarOrder(sys.executable, "far_games:Misbehaving", opening), 1)
print(env.pid, flush=True)
env.start(np.array([0]), np.array([1]))
while True:
    env.step(np.zeros(len(env.rows()), np.int32))
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hang", "hold"])
def test_a_collector_that_is_killed_takes_its_process_with_it(how):
    paths = [str(Path(__file__).parents[4]), far_games.HERE]
    words = [sys.executable, "-c", OWNER.format(paths=paths, how=how)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=far_games.HERE) as owner:
        pid = int(owner.stdout.readline())
        assert alive(pid)
        owner.kill()
    gone(lambda: alive(pid), "the process of a collector that was killed")


def config(id, **more):
    return EnvConfig(name="pettingzoo", id=id, python=sys.executable, **more)


HALF = 1 << 15  # seeds below it play the first of two variants


def test_variants_share_one_process_and_all_lose_it(monkeypatch):
    monkeypatch.chdir(far_games.HERE)
    variants = {"lawful": VariantConfig(), "odd": VariantConfig(kwargs={"how": "leave"})}
    two = config("far_games:Misbehaving", variants=variants)
    env = make_environment(two, 4, [sys.executable, "far_games"])
    try:
        parts = env._env._envs
        first = {part.pid for part in parts}
        assert len(first) == 1
        faults = {episode.fault for episode in play(env, [2, 4, HALF + 1, HALF + 3])}
        assert len(faults) == 1, "those of the other variant are told the same reason"
        assert re.search("is lost: it ended with exit code 7 in step", faults.pop())
        assert all(episode.complete for episode in play(env, [2, 4, HALF, HALF + 2]))
        assert {part.pid for part in parts}.isdisjoint(first)
        assert len({part.pid for part in parts}) == 1
    finally:
        env.close()


def test_a_variant_that_cannot_be_made_leaves_no_process(monkeypatch):
    monkeypatch.chdir(far_games.HERE)
    variants = {"good": VariantConfig(), "bad": VariantConfig(kwargs={"colour": 1})}
    wrong = config("far_games:Misbehaving", variants=variants)
    with pytest.raises(EnvError, match=r"env.variants.bad: cannot make .*Take 'colour' out of"):
        make_environment(wrong, 1, [sys.executable, "far_games"])
    gone(lambda: children(os.getpid()), "the process of the other variant")


def children(pid):
    """Return the processes that a process started and that have not ended."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in found if alive(int(one))]


def test_closing_ends_the_process(far):
    env = far("far_games:Misbehaving")
    pid = env.pid
    env.close()
    env.close()
    assert not alive(pid)


# --- by a config ------------------------------------------------------------------------------------------------


def test_a_config_names_a_known_game_and_its_python():
    allow = [sys.executable]
    here = make_environment(EnvConfig(name="pettingzoo", id="classic/rps_v2", kwargs={"max_cycles": 3}), 4)
    env = make_environment(config("classic/rps_v2", kwargs={"max_cycles": 3}), 4, allow)
    try:
        assert env.spec == here.spec
        assert play(env, range(8)) == play(here, range(8))
    finally:
        env.close()


@pytest.mark.slow
def test_wrappers_and_seats_are_those_of_the_config():
    wrapped = config(
        "classic/rps_v2", wrappers=["pettingzoo.utils.conversions:parallel_to_aec"], roles=["left", "right"]
    )
    env = make_environment(wrapped, 1, [sys.executable])
    env.close()
    assert env.spec.roles == ("left", "right")


@pytest.mark.slow
def test_checks_compare_with_the_loop_and_the_tests_of_that_python():
    made = planned(config("classic/tictactoe_v3"), [sys.executable])
    env = made.build(2)
    try:
        episodes = play(env, [1, 2, 3])
        assert speed(env) > 0
    finally:
        env.close()
    for episode in episodes:
        assert made.returns(episode.seed, episode.ticks) == episode.returns
    assert made.complaints() == []
    assert list(made.spaces()) == ["player_1", "player_2"]


@pytest.mark.parametrize(
    ("id", "kwargs", "match"),
    [
        ("odd_envs:Sized", {"colour": 1}, r"Add env.kwargs.size=VALUE"),
        ("odd_envs:Wordy", {}, r"agent 'walker_0' has the observation space Text.*env.wrappers"),
        ("odd_envs:Vast", {}, r"agent 'runner_0': a space has 3 axes \(3, 2400, 2400\); at most 32 axes.*env.wrappers"),
        ("odd_envs:Twins", {}, r"names 'walker_0' 2 times"),
        ("odd_envs:Nobody", {}, r"possible_agents is missing or empty"),
        ("odd_envs:np", {}, r"is a module without a function parallel_env, env or raw_env"),
        ("odd_envs:dict", {}, r"odd_envs has no dict"),
        ("no_such_games:Env", {}, r"No module named 'no_such_games'.*env.python="),
        ("json:JSONDecoder", {}, r"expected a PettingZoo environment \(AEC or Parallel\), got a JSONDecoder"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(id, kwargs, match, monkeypatch):
    monkeypatch.chdir(far_games.HERE)
    with pytest.raises(EnvError, match=match) as raised:
        make_environment(config(id, kwargs=kwargs), 2, [sys.executable, id.partition(":")[0]])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("script", "match"),
    [
        (None, r"No such file or directory. Give the python of a virtual environment"),
        ("#!/bin/sh\necho too old >&2\nexit 3\n", r"exit code 3 in open: too old. It needs Python 3.8 or newer"),
        ("not a program", r"Exec format error"),
    ],
)
def test_a_program_that_is_no_python_is_named(tmp_path, script, match):
    python = tmp_path / "python"
    if script is not None:
        python.write_text(script)
        python.chmod(0o755)
    wanted = EnvConfig(name="pettingzoo", id="classic/rps_v2", python=str(python))
    with pytest.raises(EnvError, match=match):
        make_environment(wanted, 1, [str(python)])


def test_a_directory_is_named_and_the_remedy_is_about_that_python(tmp_path):
    (problem,) = check(
        EnvConfig(name="pettingzoo", id="classic/rps_v2", python=str(tmp_path)), allow=[str(tmp_path)]
    ).problems
    assert f"env.python={tmp_path} is a directory. Give the program in it" in problem.what
    assert problem.remedy.startswith("Try in that Python what the message names")


def test_a_program_that_answers_something_else_is_named_and_not_the_spaces(tmp_path):
    python = tmp_path / "python"
    answer = (
        r"import os, sys; os.write(int(sys.argv[3]), b'\x02\0\0\0{}'); sys.stdin.read(); os.read(int(sys.argv[3]), 9)"
    )
    python.write_text(f"#!{sys.executable} -S\n{answer}\n")
    python.chmod(0o755)
    wanted = EnvConfig(name="pettingzoo", id="classic/rps_v2", python=str(python))
    (problem,) = check(wanted, allow=[str(python)]).problems
    assert f"the process of env.python={python} is lost: it answered nonsense: {{}}. It needs Python" in problem.what
    assert problem.remedy.startswith("Try in that Python what the message names")


def test_a_game_that_ends_its_process_is_to_be_fixed_and_not_its_python(monkeypatch):
    monkeypatch.chdir(far_games.HERE)
    (problem,) = check(config("far_games:Crashing"), allow=[sys.executable, "far_games"]).problems
    assert re.search(r"crashed with signal 11 \(SIGSEGV\) in open, at .*far_games.py:\d+ in __init__$", problem.what)
    assert problem.remedy.startswith("Fix the environment: ")


@pytest.mark.slow
def test_nothing_is_imported_from_the_current_directory_unless_a_package_is_allowed(tmp_path, monkeypatch):
    (tmp_path / "pettingzoo.py").write_text("raise SystemExit('hidden')")
    (tmp_path / "numpy.py").write_text("raise SystemExit('hidden')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    make_environment(config("classic/rps_v2"), 1, [sys.executable]).close()
    make_environment(config("classic/rps_v2"), 1, [sys.executable, "pettingzoo"]).close()
