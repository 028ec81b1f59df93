import json
import os
import stat

import pytest

from league.store.regular_file import IrregularFile
from league.store.run_directory import LAYOUT_VERSION, Rendezvous, RunDirectory, RunError
from league.wire.addresses import LONGEST_PATH


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


def make(runs, name, modified=None):
    run = RunDirectory(runs / name).create()
    run.write_config({"name": name})
    if modified is not None:
        os.utime(run.config, (modified, modified))
    return run


def test_a_constructor_makes_nothing(runs):
    RunDirectory(runs / "a")
    assert not runs.exists()


def test_create_makes_the_folders_and_is_harmless_when_repeated(runs):
    run = RunDirectory(runs / "a").create()
    run.create()
    assert run.name == "a"
    assert {path.name for path in run.root.iterdir()} == {
        "layout", "snapshots", "checkpoints", "keys", "logs", "journals",
    }  # fmt: skip
    assert stat.S_IMODE(run.keys.stat().st_mode) == 0o700


def test_every_file_has_its_own_place_inside_the_run(runs):
    run = RunDirectory(runs / "a")
    paths = [value for value in vars(run).values() if value != run.root]
    paths += [run.log("collector", 3), run.journal("collector-3"), run.checkpoint("main")]
    assert len(set(paths)) == len(paths)
    assert all(path.is_relative_to(run.root) for path in paths)
    assert run.log("collector", 3).name == "collector-3.log"


def test_the_config_comes_back_and_its_hash_follows_its_contents(runs):
    run = RunDirectory(runs / "a").create()
    config = {"seed": 1, "env": {"name": "connect_four"}, "list": [1, 2.5, None, True]}
    first = run.write_config(config)
    assert run.read_config() == config
    assert run.config_hash() == first
    assert run.write_config(dict(reversed(config.items()))) == first
    assert run.write_config({**config, "seed": 2}) != first


def test_find_by_name_by_path_and_latest(runs):
    make(runs, "old", modified=1000)
    make(runs, "new", modified=3000)
    make(runs, "middle", modified=2000)
    assert RunDirectory.find("old", runs).root == runs / "old"
    assert RunDirectory.find(str(runs / "middle"), runs).root == runs / "middle"
    assert RunDirectory.find("latest", runs).root == runs / "new"


def test_latest_is_a_league_and_a_tournament_only_if_there_is_no_league(runs):
    for name, modified, rounds in (("cup", 3000, {"rounds": 5}), ("precise", 4000, {"until": 10.0})):
        make(runs, name, modified=modified)
        config = runs / name / "config.json"
        config.write_text(json.dumps({"league": {"tournament": {"rounds": None, "until": None, **rounds}}}))
        os.utime(config, (modified, modified))
    assert RunDirectory.find("latest", runs).root == runs / "precise"
    make(runs, "league", modified=1000)
    assert RunDirectory.find("latest", runs).root == runs / "league"


def test_a_run_that_is_not_there_is_answered_with_those_that_are(runs):
    with pytest.raises(RunError, match=r"no run 'latest'. There are no runs in .*: start one with ludus run"):
        RunDirectory.find("latest", runs)
    make(runs, "b")
    make(runs, "a")
    for text in ("c", "", "a/snapshots"):
        with pytest.raises(RunError, match=r"Runs in .*: a, b\. Give a name, a path or 'latest'"):
            RunDirectory.find(text, runs)


def test_a_run_of_another_version_is_refused_with_both_versions(runs):
    run = make(runs, "a")
    run.layout.write_text("99\n")
    for use in (run.create, run.check, lambda: RunDirectory.find("a", runs), lambda: RunDirectory.find("latest", runs)):
        with pytest.raises(RunError, match=f"layout version '99', this Ludus reads version {LAYOUT_VERSION}"):
            use()


def test_a_directory_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError, match="not the directory of a run"):
        RunDirectory(tmp_path).check()


@pytest.mark.parametrize("text", ["", "{", "[1]", "\udcff"])
def test_a_damaged_config_is_told(runs, text):
    run = make(runs, "a")
    run.config.write_text(text, errors="surrogateescape")
    with pytest.raises(RunError, match=r"cannot read .*config.json"):
        run.read_config()


def test_the_rendezvous_comes_back_and_the_newest_counts(runs):
    run = RunDirectory(runs / "a").create()
    assert run.read_rendezvous() is None
    run.publish_rendezvous(Rendezvous(address="tcp://a:1", term=1, public_key="k"))
    second = Rendezvous(address="ipc:///x", term=2)
    run.publish_rendezvous(second)
    assert run.read_rendezvous() == second


def test_ipc_addresses_are_short_stable_and_different_for_each_run(tmp_path):
    run = RunDirectory(tmp_path / ("long" * 50))
    address = run.address("coordinator")
    assert len(address.removeprefix("ipc://")) <= LONGEST_PATH
    assert RunDirectory(run.root).address("coordinator") == address
    assert run.address("learner-0") != address
    assert RunDirectory(tmp_path / "b").address("coordinator") != address


@pytest.mark.parametrize("trace", ["fold.checkpoint", "journals/c.jsonl", "checkpoints/main.safetensors", "archive/a"])
def test_a_lost_ledger_is_noticed_by_what_a_league_leaves(runs, trace):
    run = make(runs, "a")
    (run.snapshots / "copied").write_bytes(b"weights of a player that starts from a file")
    path = run.root / trace
    path.parent.mkdir(exist_ok=True)
    path.touch()
    run.refuse_lost_ledger()  # nothing was played yet
    path.write_bytes(b"something")
    with pytest.raises(RunError, match="the ledger of the run a is lost"):
        run.refuse_lost_ledger()
    run.ledger.touch()
    run.refuse_lost_ledger()


def test_a_log_is_appended_to_but_never_through_a_link(runs, tmp_path):
    run = RunDirectory(runs / "first").create()
    for line in (b"one\n", b"two\n"):
        with run.open_log("coordinator", 0) as log:
            log.write(line)
    assert run.log("coordinator", 0).read_bytes() == b"one\ntwo\n"
    run.log("collector", 0).symlink_to(tmp_path / "target")
    with pytest.raises(RunError, match=r"collector-0\.log is a link"):
        run.open_log("collector", 0)
    assert not (tmp_path / "target").exists()


@pytest.mark.timeout(10)
def test_a_config_that_is_a_pipe_is_not_waited_for(runs):
    run = make(runs, "first")
    run.config.unlink()
    os.mkfifo(run.config)
    with pytest.raises(IrregularFile, match="a pipe where a file belongs"):
        run.read_config()


def test_links_that_lead_in_a_circle_lead_nowhere(runs):
    run = make(runs, "first")
    (run.root / "loop").symlink_to("loop")
    (run.root / "there").symlink_to("back")
    (run.root / "back").symlink_to("there")
    run.refuse_links()
    assert run.inside(run.root) == run.root


def test_a_name_that_is_no_text_is_refused(runs):
    run = make(runs, "first")
    strange = run.root.rename(run.root.with_name("first\udcff"))
    with pytest.raises(RunError, match=r"first\\udcff' is no text: rename it"):
        RunDirectory.find(str(strange))


@pytest.mark.timeout(10)
def test_latest_does_not_wait_for_a_config_that_is_a_pipe(runs):
    make(runs, "first")
    second = make(runs, "second")
    second.config.unlink()
    os.mkfifo(second.config)
    assert RunDirectory.find("latest", runs).name in ("first", "second")
