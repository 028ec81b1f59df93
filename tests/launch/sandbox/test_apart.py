"""An environment that crashes or hangs is told at the start, in one message, by a command that lives on."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from collectors.envs.config import EnvConfig
from launch.config.compose import compose
from launch.sandbox import apart as module
from launch.sandbox.apart import Limit, LostError, apart, check_apart, where
from launch.sandbox.trial import Check, Tried, Try
from launch.start import rehearse

SUPPORT = Path(__file__).parents[2] / "support"


DEADLY = ["env=pettingzoo", "env.id=deadly_env:Deadly", "--allow", "deadly_env"]


STEP = "deadly_env.py:"


@pytest.fixture
def command(tmp_path):
    """Return a function that starts `ludus` in an empty directory."""
    started = []
    path = os.pathsep.join([str(Path(sys.modules["launch"].__file__).parents[1]), str(SUPPORT)])
    environment = {**os.environ, "PYTHONPATH": path, "DEADLY_NOTE": str(tmp_path / "note"), "TMPDIR": str(tmp_path)}
    environment.pop("LUDUS_TRACEBACK", None)

    def start(*words):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        process = subprocess.Popen([sys.executable, "-m", "launch", *words], cwd=tmp_path, env=environment, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


SEGFAULT = "deadly_env:Deadly crashed with signal 11 (SIGSEGV) while it made a step, at "


HANG = "deadly_env:Deadly does not come back from step within 1 s, at "


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "launch", "expected", "remedy"),
    [
        ("segfault", "inline", SEGFAULT, "fix its native code, or report it to its authors."),
        ("hang", "local", HANG, "give it more time: collector.hang_seconds=2."),
    ],
)
def test_run_refuses_it_in_one_line(command, tmp_path, how, launch, expected, remedy):
    process = command("run", *DEADLY, f"env.kwargs.how={how}", "collector.hang_seconds=1", f"launch={launch}")
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert error.startswith(f"ludus: {expected}")
    assert STEP in error
    assert remedy in error
    assert error.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_what_is_being_done_apart_is_told(monkeypatch):
    monkeypatch.syspath_prepend(str(SUPPORT))
    order = Try(env=EnvConfig(name="pettingzoo", id="deadly_env:Deadly"), slots=2, allow=("deadly_env",))
    told = []
    assert apart(order, Limit("deadly_env:Deadly", 60.0, "collector.hang_seconds="), told.append) is not None
    assert set(told) <= {
        "loading",
        *(one for one in told if re.fullmatch(r"call [\d,]+ of the environment \(.+\)", one)),
    }
    assert told


@pytest.mark.slow
@pytest.mark.parametrize(("how", "expected"), [("segfault", SEGFAULT), ("hang", HANG)])
def test_check_env_tells_it_as_a_problem(command, how, expected):
    words = ["deadly_env:Deadly", f"how={how}", "--allow", "deadly_env", "--hang-seconds", "1"]
    process = command("check-env", *words)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (1, "")
    first, problem, remedy = out.splitlines()
    assert first == "deadly_env:Deadly: 1 problem"
    assert problem.startswith(f"  problem        {expected}")
    assert STEP in problem
    assert remedy.startswith("    remedy       ")


def test_ctrl_c_ends_the_wait_without_a_word(command, tmp_path, patiently):
    process, note = command("run", *DEADLY, "env.kwargs.how=hang"), tmp_path / "note"
    patiently(lambda: note.exists() and note.read_text(), 60, "the hang")
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 130
    assert not Path(f"/proc/{note.read_text()}").exists()


@pytest.mark.slow
def test_what_hangs_does_not_outlive_the_command(command, tmp_path, patiently):
    process, note = command("run", *DEADLY, "env.kwargs.how=hang"), tmp_path / "note"
    child = patiently(lambda: note.exists() and note.read_text(), 60, "the hang")
    process.kill()
    patiently(lambda: not Path(f"/proc/{child}").exists(), 10, "the end of the child")


@pytest.fixture
def deadly(monkeypatch):
    """Let this process, and those it starts, import the deadly game."""
    monkeypatch.syspath_prepend(str(SUPPORT))
    monkeypatch.delenv("LUDUS_TRACEBACK", raising=False)


def order(how="", where="step"):
    env = EnvConfig(name="pettingzoo", id="deadly_env:Deadly", kwargs={"how": how, "where": where})
    return Try(env=env, slots=2, allow=("deadly_env",))


def limit(seconds=60.0):
    return Limit("the game", seconds, "collector.hang_seconds=")


@pytest.mark.usefixtures("deadly")
@pytest.mark.parametrize(
    ("how", "where", "expected"),
    [
        ("segfault", "build", "the game crashed with signal 11 (SIGSEGV) while it was loaded and built, at "),
        ("segfault", "reset", "the game crashed with signal 11 (SIGSEGV) while it was reset, at "),
        ("segfault", "close", "the game crashed with signal 11 (SIGSEGV) while it was closed, at "),
        ("abort", "step", "the game crashed with signal 6 (SIGABRT) while it made a step, at "),
        ("killed", "step", "(SIGKILL) while it made a step. Somebody else ended it; where memory is short"),
        ("exit", "step", "the game ended its process, with exit code 0. Make it raise an exception where it calls"),
        ("sys.exit", "reset", "the game ended its process, with exit code 3. "),
    ],
)
def test_what_takes_its_process_with_it_is_told(how, where, expected):
    with pytest.raises(LostError) as told:
        apart(order(how, where), limit())
    assert expected in str(told.value)


@pytest.mark.usefixtures("deadly")
def test_all_but_a_step_may_take_longer():
    with pytest.raises(LostError, match=r"does not come back from build within 1 s, at .*deadly_env.py:\d+ in"):
        apart(order("hang", "build"), limit(0.2))
    assert [limit(0.2).of(stage) for stage in ("step", "reset", "")] == [0.2, 1.0, float("inf")]


@pytest.mark.usefixtures("deadly")
def test_what_hung_is_told_even_if_it_goes_on_while_it_writes_its_stack():
    with pytest.raises(LostError, match=r"does not come back from step within 0.5 s, at .*deadly_env.py:\d+ in wake"):
        apart(order("wakes"), limit(0.5))


@pytest.mark.usefixtures("deadly")
def test_the_stack_is_there_for_those_who_ask(monkeypatch, capsys):
    monkeypatch.setenv("LUDUS_TRACEBACK", "1")
    with pytest.raises(LostError):
        apart(order("segfault"), limit())
    assert "in string_at\n" in capsys.readouterr().err


@pytest.mark.usefixtures("deadly")
def test_the_limit_is_for_one_step_and_not_for_all():
    answer = apart(order("slow"), limit(0.9))  # three ticks of two slots, 0.15 s each
    assert msgspec.json.decode(answer, type=Tried).spec.agents == ("player_0", "player_1")


@pytest.mark.usefixtures("deadly")
def test_who_answered_may_end_as_it_likes(monkeypatch):
    monkeypatch.setattr(module, "END_SECONDS", 0.1)
    assert apart(order("lingers", "close"), limit()) is not None


@pytest.mark.usefixtures("deadly")
def test_what_raises_is_left_to_the_caller():
    assert apart(order("raise"), limit()) is None


def test_what_only_this_process_knows_is_tried_here(monkeypatch):
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(SUPPORT))
        import deadly_env
    monkeypatch.setitem(sys.modules, "__main__", deadly_env)
    config = compose(["env=pettingzoo", "env.id=__main__:Deadly"])
    assert rehearse(config, ["__main__"]).agents == ("player_0", "player_1")


def test_a_game_of_ours_needs_no_other_process(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert rehearse(compose(["env=tic_tac_toe"])).name == "tic_tac_toe"
    assert check_apart(Check(env="rock_paper_scissors", words=("max_cycles=3",)), 60.0).fit


def test_a_place_is_that_of_the_environment_if_its_stack_goes_on_in_pythons_own_library():
    library = f'  File "{threading_file()}", line 320 in wait\n'
    mine = '  File "/games/words.py", line 12 in step\n'
    assert where(f"Stack (most recent call first):\n{library}{mine}") == ", at /games/words.py:12 in step"
    assert where(library) == f", at {threading_file()}:320 in wait"
    assert where("") == ""


def threading_file():
    import threading

    return threading.__file__
