"""Real processes, kill -9 at random moments: nothing acknowledged is lost, nothing is counted twice."""

import json
import os
import random
import signal
import time
from collections import Counter

import pytest

from launch.processes.supervisor import FATAL
from launch.verify.verify import verify
from launch.viewers.view import open_view, read_offline
from league.store.snapshots import SnapshotStore

KILLS = 30
SMALL = [
    "experiment=tic_tac_toe",
    "league.budget.minutes=30",
    "league.lease.seconds=4",
    "league.lease.attempts=50",
    "league.promotion.min_decisions=20000",
    "league.promotion.max_decisions=40000",
    "learner.candidate_decisions=8192",
    "collector.slots=32",
    "launch.collectors=2",
]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_kill_anybody_at_any_moment(start, patiently, figure):
    league = start(*SMALL)
    rng = random.Random(5)
    patiently(league.results, 90, "the first result")
    killed: Counter[str] = Counter()
    while killed.total() < KILLS:
        role = rng.choice(["coordinator", "collector", "collector", "learner", "replica"])
        pids = league.children()[role]
        if pids:
            os.kill(rng.choice(pids), signal.SIGKILL)
            killed[role] += 1
        time.sleep(rng.uniform(0.2, 3.0))
        assert league.process.poll() is None, "ludus run gave up"

    before = league.results()
    patiently(lambda: league.results() > before + 50, 120, "play going on after the last kill")
    assert league.interrupt() == 130, "Ctrl-C leaves a resumable run"

    run = league.run
    assert verify(run) == 0
    state = read_offline(run).state
    lines = [line for path in run.journals.glob("*.jsonl") for line in path.read_text().splitlines()]
    told = [json.loads(line) for line in lines if line.endswith("}")]  # a kill may tear the last line
    accepted = [(line["ticket"], line["attempt"]) for line in told if line["verdict"] == "accepted"]
    assert accepted
    assert len(accepted) == len(set(accepted))
    store = SnapshotStore(run.snapshots)
    assert [name for name in store.hashes() if store.verify(name)] == []
    figure(
        f"kills: {dict(killed)}; {sum(state.results.values()):,} results counted, {len(accepted):,} acknowledged and "
        f"found, {state.term} terms, {state.voids} void, {len(store.hashes())} snapshots, 0 unreadable"
    )
    assert state.term > 1, "the coordinator was killed, and came back"


def test_a_coordinator_that_signals_end_is_started_again_as_long_as_the_league_goes_forward(start, patiently, figure):
    league = start(*SMALL)
    patiently(league.results, 90, "the first result")
    for number in range(FATAL + 1):
        for _ in range(2):  # the supervisor looks once in a while, and must have seen it begin
            before = league.results()
            patiently(lambda before=before: league.results() > before + 20, 60, "play going on")
        os.kill(patiently(lambda: league.children()["coordinator"], 30, "a coordinator")[0], signal.SIGABRT)
        patiently(lambda n=number: open_view(league.run).term > n + 1, 60, "the next term")
        assert league.process.poll() is None, league.log.read_text()
    assert league.interrupt() == 130, league.log.read_text()
    assert verify(league.run) == 0
    figure(f"{FATAL + 1} aborts of the coordinator in a row (given up after {FATAL} without progress): play goes on")


def test_interrupt_resume_and_interrupt_twice(start, patiently):
    league = start(*SMALL)
    patiently(league.results, 90, "the first result")
    assert league.interrupt() == 130
    before = read_offline(league.run).state
    assert verify(league.run) == 0

    # It may have played on Slurm before, where claims are ordered by the ids of jobs.
    league.run.claim("learner-0").write_text("000000999999.000000 elsewhere\n")
    league = start(*SMALL, "launch.drain_seconds=3600")  # the same command in the same directory goes on
    patiently(lambda: league.results() > sum(before.results.values()), 90, "new results")
    league.process.send_signal(signal.SIGINT)
    word = "Ctrl-C again stops at once"  # it was said when the first one was interrupted, too
    patiently(lambda: league.log.read_text().count(word) == 2, 30, "the word that it finishes")
    assert league.interrupt() == 130, "a second Ctrl-C does not wait for the hour that everybody has"
    assert "leaving it to that one" not in league.run.log("learner", 0).read_text()
    state = read_offline(league.run).state
    assert state.term == before.term + 1
    assert set(before.candidates) <= set(state.candidates)
    assert all(state.candidates[p].decisions >= c.decisions for p, c in before.candidates.items())
    assert verify(league.run) == 0


def test_a_league_that_is_under_way_is_not_started_again(start, patiently):
    league = start(*SMALL)
    patiently(league.results, 90, "the first result")
    second = start(*SMALL)
    assert second.process.wait(60) == 2
    assert "the league league is under way already. Look at it: ludus attach league." in league.log.read_text()
    before = league.results()
    patiently(lambda: league.results() > before, 60, "play going on")
    assert league.interrupt() == 130
    assert verify(league.run) == 0


def test_of_two_that_start_at_the_same_moment_one_goes_on(start, patiently, figure):
    races, terms = 3, []
    for race in range(races):
        rivals = [start(*SMALL, name=f"race-{race}") for _ in range(2)]
        patiently(lambda rivals=rivals: any(r.process.poll() is not None for r in rivals), 60, "one of them refused")
        refused, league = sorted(rivals, key=lambda rival: rival.process.poll() is None)
        assert refused.process.returncode == 2
        patiently(league.results, 90, "the first result")
        assert league.interrupt() == 130
        assert verify(league.run) == 0
        terms.append(read_offline(league.run).state.term)
    assert terms == [1] * races, "one coordinator opened the ledger"
    figure(f"{races} races of two `ludus run`: {sum(terms) - races} double starts")


def test_children_end_with_their_parent(start, patiently):
    league = start(*SMALL)
    patiently(league.results, 90, "the first result")
    league.process.kill()
    patiently(lambda: not any(league.children().values()), 15, "the end of orphans")
