"""One league of a name at a time: the lock of a run, and races for it."""

import errno
import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys

import pytest
from spawned import PATIENCE, contend, overrides

from collectors.conformance import MANY
from collectors.envs.config import EnvError
from launch.cli import main
from launch.config.compose import compose
from launch.config.config import ConfigError, stored
from launch.start import begin, held, rehearse
from league.store.run_directory import RunDirectory, RunError

RACES = 200


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_of_two_starts_at_the_same_moment_one_is_refused(tmp_path, figure):
    spawn = multiprocessing.get_context("spawn")
    barrier, results = spawn.Barrier(2), spawn.Queue()
    arguments = (tmp_path, RACES, barrier, results)
    rivals = [spawn.Process(target=contend, args=arguments, daemon=True) for _ in range(2)]
    for rival in rivals:
        rival.start()
    told = [results.get(timeout=PATIENCE) for _ in range(2 * RACES)]
    for rival in rivals:
        rival.join(PATIENCE)
    started = [sum(had for race, had, _ in told if race == number) for number in range(RACES)]
    assert [right for _, _, right in told if right is not True] == [], (
        "the winner has a run, and the other one is told what to do"
    )
    assert started == [1] * RACES
    figure(f"{RACES} races of two starts: {sum(count > 1 for count in started)} double starts")


def test_the_second_one_changes_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = compose(overrides(tmp_path / "runs", "first"))
    with begin(config, allow=(), accept=False, notify=print) as run:
        before = {path: path.read_bytes() for path in run.root.rglob("*") if path.is_file()}
        assert main(["run", "--accept-changes", *overrides(tmp_path / "runs", "first"), "seed=5"]) == 2
        assert "the league first is under way already. Look at it: ludus attach first." in capsys.readouterr().err
        assert main(["resume", "first"]) == 2
        assert {path: path.read_bytes() for path in run.root.rglob("*") if path.is_file()} == before
    with held(run):
        pass


def test_a_league_in_one_process_cannot_be_attached_to(tmp_path):
    config = compose([*overrides(tmp_path, "first"), "launch=inline"])
    with (
        begin(config, allow=(), accept=False, notify=print) as run,
        pytest.raises(RunError, match=r"under way already\. It plays inside of the command that started it") as refusal,
        held(run),
    ):
        pass
    assert "attach" not in str(refusal.value)


def test_children_do_not_keep_the_lock_of_a_parent_that_was_killed(tmp_path, patiently):
    run = RunDirectory(tmp_path / "run").create()
    code = (
        "import subprocess, sys, time, pathlib\n"
        "from league.store.run_directory import RunDirectory\n"
        "from launch.start import held\n"
        "with held(RunDirectory(pathlib.Path(sys.argv[1]))):\n"
        "    child = subprocess.Popen(['sleep', '600'], stdin=subprocess.PIPE, start_new_session=True)\n"
        "    print(child.pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(run.root)], stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    try:
        with pytest.raises(RunError, match="under way already"), held(run):
            pass
        parent.kill()
        parent.wait()
        os.kill(child, 0)  # it is still there
        with held(run):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        parent.stdout.close()


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def no_locks(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(RunError, match=r"No locks available.*add runs=DIRECTORY"), held(RunDirectory(tmp_path)):
        pass


def test_the_lock_waits_for_a_coordinator_whose_parent_was_killed(tmp_path):
    """A killed parent leaves a coordinator that needs a moment to end: the next start waits for its ledger."""
    run = RunDirectory(tmp_path / "run").create()
    code = (
        "import sys, time, pathlib\n"
        "from league.store.ledger import Ledger\n"
        "with Ledger.open(pathlib.Path(sys.argv[1])):\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.read()\n"
        "    time.sleep(0.5)\n"
    )
    command = [sys.executable, "-c", code, str(run.ledger)]
    coordinator = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert coordinator.stdout.readline() == b"open\n"
    coordinator.stdin.close()
    with held(run):
        assert coordinator.wait() == 0
    coordinator.stdout.close()


@pytest.mark.parametrize("setting", ["algo.lr_schedule=linear", "algo.entropy_final=0.001"])
def test_an_anneal_over_no_budget_is_refused(setting):
    endless = ["env=tic_tac_toe", "league.budget.minutes=null", setting]
    with pytest.raises(ConfigError) as caught:
        rehearse(compose(endless))
    assert str(caught.value) == (
        f"{setting} is annealed over the league's budget, but it has none. Set league.budget.minutes or "
        "league.budget.env_steps, or say in algo.anneal_decisions over how many decisions to anneal"
    )
    rehearse(compose([*endless, "algo.anneal_decisions=1000"]))
    rehearse(compose([*endless, "league.budget.env_steps=1000"]))


def begun(runs, *more):
    """Begin a run and leave it at once; return what its config says counts as better, and what was printed."""
    lines = []
    config = compose(["env=rock_paper_scissors", f"runs={runs}", "name=game", "policy.hidden=[8]", *more])
    with begin(config, allow=(), accept=False, notify=lines.append) as run:
        return stored(run).league.payoff.by, lines


def test_the_trial_decides_what_counts_as_better_once(tmp_path):
    by, lines = begun(tmp_path)
    assert by == "return"
    assert len(lines) == 1
    assert lines[0].startswith("the league goes by return: its games end with leads of ")
    assert lines[0].endswith("not just with a winner (league.payoff=outcome to change that)")
    assert begun(tmp_path) == ("return", []), "the run keeps what was decided"
    with pytest.raises(ConfigError, match=r"league.payoff.by: return -> outcome"):
        begun(tmp_path, "league.payoff=outcome")
    assert begun(tmp_path, "league.payoff=outcome", "name=other") == ("outcome", [])


def test_a_run_without_its_ledger_is_not_founded_again(run, capsys, monkeypatch):
    monkeypatch.chdir(run.root.parent)
    run.ledger.unlink()
    before = {path: path.read_bytes() for path in run.root.rglob("*") if path.is_file()}
    assert main(["resume", str(run.root)]) == 2
    assert "the ledger of the run first is lost" in capsys.readouterr().err
    after = {path: path.read_bytes() for path in run.root.rglob("*") if path.is_file() and path != run.lock}
    assert after == {path: data for path, data in before.items() if path != run.lock}


def test_an_environment_whose_episodes_do_not_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("launch.sandbox.trial.longest", lambda env: MANY)
    with pytest.raises(
        EnvError, match=r"no episode of rock_paper_scissors ended in [\d,]+ steps of random play\. Give"
    ):
        begun(tmp_path, "env.kwargs.max_cycles=1000000000")
    assert not (tmp_path / "first").exists()


def test_an_environment_whose_episodes_may_not_end_is_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr("launch.sandbox.trial.longest", lambda env: 10**9)  # there is no time to see whether they do
    monkeypatch.setattr("launch.sandbox.trial.MANY", 1)  # on a busy machine there are few in that time
    _, (warning, *_) = begun(tmp_path, "env.kwargs.max_cycles=1000000000")
    assert warning.startswith("warning: no episode of rock_paper_scissors ended in ")
    assert "Give the environment a limit on the length of an episode" in warning


def test_a_new_run_takes_no_files_for_its_own_that_were_there_before(tmp_path):
    place = tmp_path / "first"
    (place / "journals").mkdir(parents=True)
    (place / "lock").touch()
    (place / ".part-x").touch()
    (place / "journals" / "collector-0.jsonl").touch()
    with pytest.raises(RunError, match=r"has a file journals/collector-0.jsonl, but no file layout"):
        begun(tmp_path, "name=first")
    (place / "journals" / "collector-0.jsonl").unlink()
    begun(tmp_path, "name=first")  # a start that was killed leaves this much
    assert (place / "layout").exists()


def test_a_new_run_says_what_was_guessed_and_what_random_play_showed(tmp_path):
    env = ("env=pettingzoo", "env.id=small_envs:Hunt", "league=pfsp")
    config = compose([*env, f"runs={tmp_path}", "name=hunt"])
    lines = []
    for _ in range(2):
        with begin(config, allow=("small_envs",), accept=False, notify=lines.append):
            pass
    said = [line for line in lines if not line.startswith("the league goes by")]
    assert [line.split(",")[0].split(" in all")[0] for line in said] == [
        "agents are called tiger and deer",
        "warning: tiger returned more than deer",
        "not zero-sum: the highest return wins; returns are shown beside the ratings (another rule: env.outcome)",
    ], "once, not again when it goes on"
