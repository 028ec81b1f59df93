"""Once round, in one process: ticket, segments, candidate, freeze, rating; and the same again from the same seed."""

import hashlib

import pytest

from launch.config.compose import compose
from launch.config.config import to_plain
from launch.processes.inline import play
from launch.verify.verify import verify
from launch.viewers.curves import Curves
from launch.viewers.view import open_view, read_offline
from league.events import PhaseBegan
from league.state import FINAL, OVER, TRAINING
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from learners.checkpoint import load

SMALL = [
    "experiment=tic_tac_toe",
    "league=alphastar",
    "launch=inline",
    "launch.collectors=1",
    "collector.slots=64",
    "collector.flush_decisions=200",
    "policy.hidden=[32]",
    "algo.batch=512",
    "algo.minibatch=128",
    "algo.lr=3e-3",
    "learner.candidate_decisions=2048",
    "league.promotion.min_decisions=3000",
    "league.promotion.max_decisions=6000",
    "league.evaluation.final_games=100",
    "league.budget.minutes=null",
]


def start(tmp_path, *overrides):
    config = compose([*SMALL, *overrides])
    run = RunDirectory(tmp_path).create()
    run.write_config(to_plain(config))
    return config, run


def fingerprint(run):
    """The events in order, and the snapshots by their hashes."""
    with Ledger.open(run.ledger) as ledger:
        events = hashlib.sha256(b"\n".join(body for _, body in ledger.read())).hexdigest()
    return events, sorted(SnapshotStore(run.snapshots).hashes())


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    config, run = start(tmp_path_factory.mktemp("walk") / "first", "league.budget.env_steps=60000")
    return config, run, play(config, run)


def test_a_match_goes_all_the_way_round(walked):
    _, _, state = walked
    assert state.phase == OVER
    assert state.results["train"] > 100
    assert state.voids == 0
    learning = state.population.learning()
    assert {p.kind for p in learning} == {"main", "main_exploiter", "league_exploiter"}
    assert all(state.candidates[p.id].version > 0 or state.incarnations[p.id] for p in learning)
    assert state.starts["main_exploiter"], "it began again from weights of the main"
    assert len(state.population.frozen_of("main")) >= 2
    assert not state.open


def test_evaluation_keeps_to_its_share(walked):
    config, run, _ = walked
    shares = []

    def look(seq, event, state):
        if isinstance(event, PhaseBegan) and event.phase == FINAL:
            shares.append(state.steps["evaluate"] / state.env_steps)

    open_view(run, look)
    assert shares == [pytest.approx(config.league.evaluation.share, abs=0.02)]


def test_the_final_evaluation_is_exact(walked):
    _, _, state = walked
    for player in state.population.learning():
        for anchor in state.population.anchors():
            assert state.games_of_newest(player.id, anchor.id) >= 100


def test_training_is_shared_by_rates(walked):
    _, _, state = walked
    asked = {p.id: state.asked[p.id] / p.rate for p in state.population.learning()}
    assert max(asked.values()) <= 1.25 * min(asked.values())


def test_main_learns(walked):
    _, _, state = walked
    assert state.evaluation.win_share("main", "random")[0] > 0.62


def test_a_short_league_has_tens_of_points_in_its_curves(walked, figure):
    config, run, _ = walked
    rows = []
    curves = Curves(config.track, rows.append)
    read_offline(run, watcher=curves)
    losses = [row.values["losses/policy_loss/main"] for row in rows if "losses/policy_loss/main" in row.values]
    speeds = [row.values["charts/SPS"] for row in rows if "charts/SPS" in row.values]
    figure(f"{len(set(losses))} different losses of main in {len(losses)} points, {len(speeds)} points of speed")
    assert len(set(losses)) >= 20
    assert all(speeds[1:-1]), "collectors play in every window"


def test_verify_finds_nothing(walked):
    _, run, _ = walked
    assert verify(run) == 0


def test_the_same_seed_gives_the_same_league(tmp_path):
    prints = []
    for name in ("a", "b"):
        config, run = start(tmp_path / name, "league.budget.env_steps=15000", "launch.collectors=2")
        play(config, run)
        prints.append(fingerprint(run))
    assert prints[0] == prints[1]
    config, run = start(tmp_path / "c", "league.budget.env_steps=15000", "launch.collectors=2", "seed=2")
    play(config, run, on_round=lambda state: state.env_steps < 1000)
    assert set(fingerprint(run)[1]).isdisjoint(prints[0][1]), "another seed begins with other weights"


def test_the_final_evaluation_is_about_the_last_candidate_of_every_player(tmp_path):
    """Two games are over long before a learner's next report, which would bring the last weights."""
    config, run = start(tmp_path, "league.budget.env_steps=15000", "league.evaluation.final_games=2")
    state = play(config, run)
    assert state.phase == OVER
    for player in state.population.learning():
        newest = load(run.checkpoints / f"{player.id}.safetensors")
        assert (state.candidates[player.id].version, state.candidates[player.id].snapshot) == (
            newest.version,
            newest.candidate,
        )
        assert state.games_of_newest(player.id, "random") >= 2


def test_a_league_that_was_stopped_goes_on(tmp_path):
    config, run = start(tmp_path / "r", "league.budget.env_steps=15000")
    state = play(config, run, on_round=lambda state: state.env_steps < 7_000)
    assert state.phase == TRAINING
    before = {player: c.decisions for player, c in state.candidates.items()}
    state = play(config, run)
    assert state.phase == OVER
    assert state.term == 2
    assert all(state.candidates[player].decisions >= decisions for player, decisions in before.items())
    assert state.env_steps >= 15_000
    assert verify(run) == 0


def test_a_finished_league_goes_on_with_a_larger_budget(tmp_path):
    config, run = start(tmp_path / "r", "league.budget.env_steps=8000")
    assert play(config, run).phase == OVER
    assert play(config, run).env_steps == pytest.approx(8000, rel=0.6), "nothing more to play"
    config.league.budget.env_steps = 20_000
    run.write_config(to_plain(config))
    assert play(config, run).env_steps >= 20_000
    assert verify(run) == 0


@pytest.mark.slow
def test_players_of_different_networks_and_algorithms_meet_in_one_league(tmp_path):
    """One main is the common network; the other has a memory, smaller batches and a learning rate of its own."""
    own = "{kind: main, policy: {hidden: [8], memory: gru, memory_size: 4}, algo: {batch: 256, lr: 0.01}}"
    config, run = start(
        tmp_path, "league=pfsp", f"+league.players.other={own}", "league.budget.env_steps=14000",
        "league.promotion.min_decisions=1000", "league.promotion.max_decisions=2000",
        "league.evaluation.final_games=20",
    )  # fmt: skip
    state = play(config, run)
    assert state.phase == OVER
    assert state.voids == 0
    store = SnapshotStore(run.snapshots)
    for player, memory in (("main", "none"), ("other", "gru")):
        frozen = state.population.frozen_of(player)
        assert {store.get(past.snapshot).manifest.policy["memory"] for past in frozen} == {memory}
        assert state.candidate(player).version > 2
