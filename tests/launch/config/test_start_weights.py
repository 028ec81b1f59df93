"""Players from files: the run has its own copy of their weights, by hash."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from packed import packed

from launch.config.compose import compose
from launch.config.config import ConfigError, stored, to_plain
from launch.config.env_spec import read_spec
from launch.config.start_weights import check_weights, copy_weights, find_weights, with_hashes
from launch.packing.packing import pack
from launch.processes.inline import play
from launch.start import begin
from launch.verify.verify import verify
from league.store.player_file import read_player
from league.store.snapshots import SnapshotStore, read_snapshot

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


@pytest.fixture
def snapshot(played):
    """Return the file of the newest candidate of a played league."""
    run, state = played
    return SnapshotStore(run.snapshots).path(state.candidates["main"].snapshot)


def wanted(snapshot, *overrides):
    """Return the config of a league with one player that starts from a file, and one that is it."""
    return compose(
        [
            "env=tic_tac_toe", "league=pfsp", "launch=inline", "name=second", "policy.hidden=[8]", "algo.batch=256",
            "algo.minibatch=256", "collector.slots=16", "learner.candidate_decisions=256",
            "league.budget.minutes=null", "league.budget.env_steps=800", "league.evaluation.final_games=8",
            f"league.players.main.weights={snapshot}", f"+league.players.old={{kind: frozen, weights: '{snapshot}'}}",
            *overrides,
        ]
    )  # fmt: skip


def silent(line):
    pass


def test_a_league_with_players_from_a_file_needs_it_only_once(snapshot, tmp_path):
    copy = Path(shutil.copy(snapshot, tmp_path / "mine.safetensors"))
    with begin(wanted(copy), allow=(), accept=False, notify=silent) as run:
        copy.unlink()
        config = stored(run)
        assert config.league.players["main"].weights == config.league.players["old"].weights == snapshot.stem
        state = play(config, run)
    assert verify(run) == 0
    assert state.population["old"].kind == "frozen"
    assert state.population["old"].snapshot == state.initial["main"] == snapshot.stem
    assert state.population["old"].parent is None
    assert state.training.games("main", "old") > 0, "who comes from a file is a member of the pool"


def test_a_learning_player_starts_from_the_weights_of_the_file(snapshot):
    with begin(wanted(snapshot), allow=(), accept=False, notify=silent) as run:
        state = play(stored(run), run)
    store = SnapshotStore(run.snapshots)
    assert state.population["main.0"].snapshot != snapshot.stem, "its manifest is its own"
    first, start = store.get(state.population["main.0"].snapshot), store.get(snapshot.stem)
    np.testing.assert_array_equal(first.arrays["flat"], start.arrays["flat"])
    assert first.manifest.parent == snapshot.stem


def test_the_same_config_goes_on_without_the_file(snapshot, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    copy = Path(shutil.copy(snapshot, folder))
    for _ in range(2):  # the second time the file is gone, but its name is its hash
        with begin(wanted(folder / snapshot.name), allow=(), accept=False, notify=silent) as run:
            assert snapshot.stem in SnapshotStore(run.snapshots)
        copy.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("nowhere.safetensors", "league.players.main.weights: there is no file nowhere.safetensors"),
        ("other.safetensors", "other.safetensors is no snapshot of Ludus"),
        ("0" * 64 + ".safetensors", "its bytes do not have the hash in its name"),
    ],
)
def test_a_file_that_is_no_snapshot_is_refused_before_there_is_a_run(weights, message, tmp_path, snapshot):
    (tmp_path / "other.safetensors").write_bytes(b"what is this?")
    shutil.copy(snapshot, tmp_path / ("0" * 64 + ".safetensors"))
    config = wanted(snapshot, f"league.players.main.weights={weights}")
    with pytest.raises(ConfigError, match=message), begin(config, allow=(), accept=False, notify=silent):
        pass
    assert not (tmp_path / "runs" / "second").exists()


def test_weights_of_another_network_or_game_are_refused(played, snapshot, tmp_path):
    store = SnapshotStore(tmp_path / "store")
    spec = read_spec(played[0])
    config = wanted(snapshot, "policy.hidden=[16]")
    found = find_weights(config, store)
    with pytest.raises(ConfigError, match=r"league\.players\.main\.weights: these weights have another network"):
        check_weights(found, config, spec)
    key = "league.players.old.weights"
    check_weights({key: found[key]}, config, spec)  # a frozen player brings its network
    with pytest.raises(ConfigError, match=r"are for another environment than go, or for other options"):
        check_weights(found, config, replace(spec, name="go", actions=spec.actions + 1))


def test_only_hashes_are_kept(snapshot, tmp_path):
    store, config = SnapshotStore(tmp_path / "store"), wanted(snapshot)
    before, found = to_plain(config), find_weights(config, store)
    copy_weights(found, store)
    hashed = with_hashes(config, found)
    assert to_plain(config) == before
    assert hashed.league.players["main"].weights == snapshot.stem
    assert with_hashes(hashed, find_weights(hashed, store)) == hashed, "what is in the store needs no file"


@pytest.mark.parametrize(
    ("arrays", "policy", "problem"),
    [
        ({"flat": np.zeros(3, np.float32)}, {}, r"these weights are flat float32\[3\], but their network needs flat"),
        ({"x": np.zeros(3, np.float32)}, {}, r"these weights are x float32\[3\]"),
        ({}, {"hidden": [10**6]}, r"their network needs flat float32\[\d{8}\]"),
        ({}, {"hidden": [10**9]}, "at most 1000 layers"),
        ({}, {"hidden": [-5]}, "a network that Ludus cannot make"),
        ({}, {"name": "strange"}, "a network that Ludus cannot make"),
    ],
)
def test_weights_that_do_not_fill_their_network_are_refused_before_it_is_made(
    arrays, policy, problem, played, snapshot, tmp_path
):
    honest = read_snapshot(snapshot)[1]
    manifest = replace(honest.manifest, policy={**honest.manifest.policy, **policy})
    other = SnapshotStore(tmp_path / "other")
    path = other.path(other.put(arrays or honest.arrays, manifest))
    config = wanted(path)
    with pytest.raises(ConfigError, match=rf"weights: .*{problem}"):
        check_weights(find_weights(config, SnapshotStore(tmp_path / "store")), config, read_spec(played[0]))


# --- packed players ------------------------------------------------------------------------------------------


@pytest.fixture
def file(played, tmp_path):
    """Return a packed player of a played league."""
    return pack(played[0], "main", tmp_path / "packed.safetensors")


@pytest.mark.slow
def test_a_packed_player_starts_rivals_anchors_and_resets(file, snapshot):
    config = wanted(
        snapshot, f"league.players.main.from={file}", "~league.players.old",
        f"+league.players.rival={{kind: frozen, from: {file}, pin: true}}", f"league.kinds.main.promotion.reset={file}",
        "league.kinds.main.promotion.min_decisions=200", "league.kinds.main.promotion.max_decisions=300",
        "league.budget.env_steps=2500",
    )  # fmt: skip
    with begin(config, allow=(), accept=False, notify=silent) as run:
        file.unlink()
        config = stored(run)
        state = play(config, run)
    assert verify(run) == 0
    reset = config.league.kinds["main"].promotion["reset"]
    assert reset == state.initial["main"] == state.population["rival"].snapshot == snapshot.stem
    assert state.population["rival"].anchor == config.league.players["rival"].anchor is not None
    assert state.incarnations["main"] > 0
    assert state.starts["main"] == snapshot.stem, "the reset took the weights of the file"


def test_a_packed_player_of_another_environment_is_refused_with_the_difference(tmp_path, snapshot, played):
    four = packed(tmp_path / "four", "connect_four")
    config, store = wanted(snapshot, f"league.players.main.from={four}"), SnapshotStore(tmp_path / "store")
    with pytest.raises(ConfigError) as caught:
        check_weights(find_weights(config, store), config, read_spec(played[0]))
    for difference in (
        'env.name is "connect_four" in the file and "tic_tac_toe" here',
        "actions is 7 in the file and 9",
    ):
        assert difference in str(caught.value)


def test_a_packed_player_brings_its_role(tmp_path):
    prey = packed(tmp_path / "prey", "simple_tag", role="agent")
    tag = ["env=simple_tag", "league=pfsp", "policy.hidden=[8]", "name=tag", "league.players.main.role=each"]
    config = compose([*tag, f"+league.players.old={{kind: frozen, from: {prey}}}"])
    found = find_weights(config, SnapshotStore(tmp_path / "store"))
    assert with_hashes(config, found).league.players["old"].role == "agent"
    bound = compose([*tag, f"+league.players.old={{kind: frozen, from: {prey}, role: adversary}}"])
    with pytest.raises(ConfigError, match="plays as agent, but the config binds it to adversary"):
        check_weights(find_weights(bound, SnapshotStore(tmp_path / "store")), bound, _spec(prey))
    pinned = compose([*tag, f"+league.players.old={{kind: frozen, from: {prey}, pin: true}}"])
    with pytest.raises(ConfigError, match="needs a packed player with a rating"):
        check_weights(find_weights(pinned, SnapshotStore(tmp_path / "store")), pinned, _spec(prey))


def test_a_config_file_may_say_from(tmp_path, file):
    (tmp_path / "conf" / "experiment").mkdir(parents=True)
    text = f"# @package _global_\nleague:\n  players:\n    old: {{kind: frozen, from: {file}}}\n"
    (tmp_path / "conf" / "experiment" / "mine.yaml").write_text(text)
    config = compose(["env=tic_tac_toe", "experiment=mine"], config_dir=tmp_path / "conf")
    assert config.league.players["old"].weights == str(file)


def test_a_damaged_packed_player_is_refused_by_name(file, snapshot, tmp_path):
    file.write_bytes(file.read_bytes()[:-1])
    config = wanted(snapshot, f"league.players.main.from={file}")
    with pytest.raises(ConfigError, match=r"league\.players\.main\.weights: .*packed.safetensors cannot be read"):
        find_weights(config, SnapshotStore(tmp_path / "store"))


def _spec(path):
    return read_player(path).card.spec
