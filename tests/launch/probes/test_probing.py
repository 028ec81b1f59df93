"""Probes: best responses that are really trained, on small leagues."""

import os
import re
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

import ludus
from launch.config.config import stored, to_plain
from launch.config.env_spec import prepare_league
from launch.probes.probe_config import ProbeOrder, find_target, probe_config
from launch.probes.probing import ProbeCurve, probe
from launch.processes.inline import assemble, play
from launch.start import begin
from launch.verify.verify import verify
from launch.viewers.probe_reports import ProbeError, read_probe_report
from launch.viewers.view import read_offline
from league.events import LeagueFounded, PlayerAdded, ResultCounted, TicketIssued
from league.player import Player
from league.rulebook import LeagueConfig
from league.state import FINAL, OVER, TRAINING, LeagueState, apply
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Episode, Purpose, Ticket

QUICK = {"games": 20, "inline": True}


def bytes_of(run):
    """Return the hash of everything in a run that is not a probe's."""
    files = [path for path in sorted(run.root.rglob("*")) if path.is_file() and run.probes not in path.parents]
    return {path: sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_probe_is_a_run_of_its_own_and_leaves_the_league_alone(run):
    before = bytes_of(run)
    report = probe(run, "main", ProbeOrder(steps=1000, **QUICK))
    assert bytes_of(run) == before
    place = RunDirectory(Path(report.path))
    assert place.root.parent == run.probes
    assert verify(place) == 0
    assert read_probe_report(place) == report
    state = read_offline(place).state
    assert report.env_steps == state.env_steps >= 1000
    assert report.decisions == state.candidates["probe"].decisions > 0
    assert sum(point.games for point in report.curve) == state.episodes["train"]
    assert report.curve[-1].env_steps == report.env_steps
    assert report.start_score.games == report.score.games == report.anchors["random"].games == 20
    assert {entry.player for ticket in state.open.values() for entry in ticket.entries} <= {"probe", "target"}


def test_a_probe_of_a_mixture_meets_the_mixture_only(run, state):
    report = probe(run, "pool", ProbeOrder(steps=1000, **QUICK))
    place = RunDirectory(Path(report.path))
    found = read_offline(place).state
    frozen = state.population.frozen()
    assert len(frozen) > 1
    (target,) = [player for player in found.population if player.members]
    assert len(target.members) == len(frozen)
    pairs = found.training.raw_row("probe")
    met = {player.id for player in found.population if found.training.games("probe", player.id) > 0}
    assert met - {"probe"} == {"target"}, pairs
    assert stored(place).league.players["probe"].weights == frozen[-1].snapshot, "it starts from the newest member"
    assert report.score.games == 20
    assert verify(place) == 0


def test_the_same_order_is_done_and_a_larger_one_goes_on(run):
    first = probe(run, "main.0", ProbeOrder(steps=1000, **QUICK))
    assert probe(run, "main.0", ProbeOrder(steps=1000, **QUICK)) == first
    assert read_offline(RunDirectory(Path(first.path))).state.term == 1, "nothing was started again"
    second = probe(run, "main.0", ProbeOrder(steps=2000, **QUICK))
    assert second.path == first.path
    assert second.env_steps >= 2000
    assert second.decisions > first.decisions
    assert [p.name for p in run.probes.iterdir()] == [Path(first.path).name]


def test_a_probe_that_was_never_trained_says_nothing(run):
    for _ in range(2):
        with pytest.raises(ProbeError, match=r"an update needs 256 decisions of it") as refusal:
            probe(run, "main", ProbeOrder(steps=10, **QUICK))
    assert re.search(r"Give more --steps: about \d+,\d+ are enough$", str(refusal.value))


def kill_before_a_candidate(run, order):
    """Play the whole budget of a probe, and end it as kill -9 would: its learner writes nothing. Return its run."""
    state = read_offline(run).state
    config = probe_config(run, stored(run), state, find_target(run, state, "main"), order)
    with begin(config, allow=(), accept=False, notify=print) as place:
        prepare_league(stored(place), place, ())
        league = assemble(stored(place), place)
        while league.state.phase == TRAINING:
            league.step()
        league.coordinator.close()
    return place


@pytest.mark.parametrize("over", [False, True])
def test_a_probe_that_kills_left_without_a_candidate_completes_with_the_same_call(run, over):
    order = ProbeOrder(steps=1500, **QUICK)
    place = kill_before_a_candidate(run, order)
    if over:
        play(stored(place), place)
    before = read_offline(place).state
    assert (before.phase, before.candidates["probe"].decisions) == (OVER if over else FINAL, 0)
    report = probe(run, "main", order)
    assert report.decisions > 0
    assert report.env_steps >= before.env_steps + 1500, "it trained for a whole budget"
    assert probe(run, "main", order) == report
    assert verify(place) == 0


def test_the_python_api_probes(run):
    config = stored(run)
    config.launch.name = "inline"
    run.write_config(to_plain(config))
    report = ludus.open(str(run.root)).probe("random", steps=1500, games=10)
    assert (report.player, report.start, report.snapshot) == ("random", "scratch", None)


def test_the_curve_counts_the_games_of_the_probe_wherever_it_sits(state):
    league, curve = LeagueState(LeagueConfig()), ProbeCurve()
    entries = (Entry("target", "a" * 64), Entry("probe"))
    players = [Player(id="probe", kind="main_exploiter"), Player(id="target", kind="frozen", snapshot="a" * 64)]
    events = [LeagueFounded(seed=1, config="c", env=state.env), *(PlayerAdded(player=player) for player in players)]
    for number in range(1, 5):
        ticket = Ticket(number=number, purpose=Purpose.TRAIN, entries=entries, episodes=2, trains=("probe",))
        won = Episode(ranks=(1, 0), returns=(-1.0, 1.0), length=5)
        drawn = Episode(ranks=(0, 0), returns=(0.0, 0.0), length=5)
        episodes = (won, won) if number > 2 else (drawn, drawn)
        events += [TicketIssued(ticket=ticket), ResultCounted(ticket=number, attempt=0, episodes=episodes)]
    for seq, event in enumerate(events, start=1):
        curve.observe(seq, event, league)
        apply(league, event)
    points = curve.points(2)
    assert [(point.env_steps, point.score, point.games) for point in points] == [(20, 0.5, 4), (40, 1.0, 4)]
    assert points[1].low < 1.0
    assert ProbeCurve().points() == ()


def league(tmp_path, *overrides):
    """Play a league of seconds and return its run."""
    league = ludus.run(
        ["env=tic_tac_toe", "league=selfplay", "launch=inline", f"runs={tmp_path}", "name=soon", "policy.hidden=[32]",
         "algo.batch=1024", "algo.minibatch=256", "algo.lr=2e-3", "collector.slots=64",
         "learner.candidate_decisions=2048", "league.budget.minutes=null", "league.budget.env_steps=1000",
         "league.evaluation.final_games=8", *overrides]
    )  # fmt: skip
    return RunDirectory(league.path)


@pytest.mark.slow
def test_weights_that_play_at_random_are_soon_beaten(tmp_path):
    run = league(tmp_path)
    report = probe(run, "main.0", ProbeOrder(steps=60_000))
    assert 0.4 < report.start_score.score < 0.6, "it starts as its target"
    assert report.score.low > 0.7
    assert report.exploitable
    assert report.curve[-1].score > report.curve[0].score + 0.15


@pytest.mark.slow
@pytest.mark.parametrize("start", [None, "self"])
def test_a_perfect_player_is_never_exploited(tmp_path, start):
    run = league(tmp_path, "league.budget.env_steps=20_000")
    bot = "perfect_marks:PerfectMarks"
    if start is not None:
        start = str(next(iter(sorted(run.snapshots.glob("*.safetensors")))))
    report = probe(run, bot, ProbeOrder(steps=40_000, start=start), allow=["perfect_marks"])
    assert report.score.wins == report.start_score.wins == 0
    assert report.score.score <= 0.5
    assert not report.exploitable
    assert all(point.score <= 0.5 for point in report.curve)


@pytest.mark.slow
@pytest.mark.league
def test_a_probe_in_processes_goes_on_after_kill_9(tmp_path, patiently):
    run = league(tmp_path)
    config = stored(run)
    config.launch.name, config.launch.collectors = "local", 1
    run.write_config(to_plain(config))
    before = bytes_of(run)
    command = [sys.executable, "-m", "launch", "probe", str(run.root), "main", "--steps", "150000", "--json"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)

    def steps():
        place = next(run.probes.glob("*/ledger.sqlite"), None) if run.probes.exists() else None
        return 0 if place is None else read_offline(RunDirectory(place.parent)).state.env_steps

    try:
        patiently(lambda: steps() > 20_000, 60, "the first env steps of the probe")
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    done = steps()
    assert 0 < done < 150_000
    second = subprocess.run(command, capture_output=True, env=environment, timeout=110, check=True)
    (place,) = [RunDirectory(path) for path in run.probes.iterdir()]
    report = read_probe_report(place)
    assert report.env_steps >= 150_000 > done
    assert second.stdout.splitlines()[-1]
    state = read_offline(place).state
    assert state.term == 2, "it went on with its own ledger"
    assert verify(place) == 0
    assert bytes_of(run) == before
