"""Leagues on a real Slurm, that go on whatever happens to their nodes; what was counted is what was played."""

import csv
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launch.config.config import stored
from launch.trackers.readback import history
from launch.viewers.curves import Curves
from launch.viewers.view import open_view
from league.events import CandidateWritten

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(1200)]

# One kind of node for each role, and room on a second one of that kind.
APART = [
    "launch.slurm.coordinator.constraint=cpu",
    "launch.slurm.learner.constraint=gpu",
    "launch.slurm.learner.gres=gpu:1",
    "launch.slurm.collector.exclude='node1,node3'",
    "launch.slurm.collector.cpus=5",
]


def accepted(run):
    lines = [line for path in run.journals.glob("*.jsonl") for line in path.read_text().splitlines()]
    told = [json.loads(line) for line in lines if line.endswith("}")]  # a kill may tear the last line
    return [(line["ticket"], line["attempt"]) for line in told if line["verdict"] == "accepted"]


def check(league):
    """Hold the run against itself: counted is what was played."""
    assert league.is_sound()
    known = accepted(league.run)
    assert known
    assert len(known) == len(set(known))
    state = league.view().state
    print(f"\n{sum(state.results.values()):,} results counted, {len(known):,} known to be accepted, {state.term} terms")


def alone(rows, name):
    return not any(row.node == rows[name].node for other, row in rows.items() if other != name)


def rows_of(league):
    """Return the numbers of all rows of curves that follow from the ledger."""
    rows = []
    open_view(league.run, watcher=Curves(stored(league.run).track, rows.append))
    return [row.number for row in rows]


def versions(league, player="main"):
    """Return the version of each candidate of a player: one that did not begin at its checkpoint begins at 0 again."""
    events = []
    open_view(league.run, observe=lambda seq, event, state: events.append(event))
    return [event.version for event in events if isinstance(event, CandidateWritten) and event.player == player]


def check_resumed(league):
    found = versions(league)
    assert found == sorted(found), "it went on from its checkpoint"
    assert 0 not in found[1:]


def test_over_four_nodes_to_the_end_of_its_budget(league, patiently):
    """A login shell starts it and is gone; the league reaches its budget, and gives back all nodes."""
    overrides = [
        "env=connect_four",
        "experiment=null",
        "policy.hidden=[16]",
        "league.budget.env_steps=20000",
        "league.evaluation.final_games=8",
        "collector.slots=16",
        "launch.collectors=2",
        "launch.ranks=2",
        "launch.slurm.nodes=2",
        "launch.slurm.memory=1G",
        "launch.slurm.setup=['echo prepared for $LUDUS_NAME']",
        "launch.slurm.prefix='env PREFIXED=yes'",
        *APART,
    ]
    command = shlex.join([sys.executable, "-m", "launch", "run", "launch=slurm/small", "name=league", *overrides])
    shell = subprocess.run(
        ["bash", "-lc", f"export PATH={shlex.quote(os.environ['PATH'])}; {command}; exit"],
        cwd=league.place,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        start_new_session=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shell.returncode == 0, shell.stdout + shell.stderr
    assert "3 jobs are in the queue" in shell.stdout
    patiently(league.results, 150, "the first result")
    rows = league.rows()
    assert rows["learner-0"].node == "node[1-2]"
    assert {row.node for row in rows.values()} > {"node3", "node4"}
    assert json.loads(league.run.rendezvous.read_text())["address"].startswith(f"tcp://{rows['coordinator-0'].node}:")
    status = league.ludus("status", "league")
    assert all(word in status for word in ("coordinator-0", "learner-0", "collector-1", "running", "node[1-2]"))
    assert "the budget of 20,000 env steps is spent" in league.ludus("attach", "league", "--plain")
    patiently(lambda: not league.alive(), 120, "the end of all jobs")
    assert {row.state for row in league.rows().values()} == {"COMPLETED"}
    assert "the budget of 20,000 env steps is spent" in league.ludus("status", "league")
    assert "term 1 at tcp://" in league.ludus("logs", "league", "coordinator")
    for process in ("coordinator-0", "learner-0", "collector-1"):
        assert f"prepared for {process}" in league.log(process)
    check(league)


def test_jobs_at_their_time_limit_and_ranks_that_lose_a_node_go_on(league, cluster, patiently, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    league.begin(*APART, "launch.ranks=2", "launch.slurm.nodes=2", "track.to=[csv,wandb]")
    patiently(league.results, 150, "the first result")
    assert league.node("learner-0") == "node[1-2]"
    lives = "wandb/offline-run-*/*.wandb"
    patiently(lambda: list(league.run.track.glob(lives)), 150, "the files of wandb")
    due = {"coordinator-0", "learner-0"}
    for process in sorted(due):
        league.limit(process, 2)  # the lead is two minutes, so the signal is due within one

    def requeued():
        """Give each job its time back as soon as it is requeued: else the next signal would be due soon."""
        for process in [process for process in due if league.rows()[process].restarts >= 1]:
            league.limit(process, 60)
            due.remove(process)
        return not due

    patiently(requeued, 300, "the requeue of both")
    for process in ("coordinator-0", "learner-0"):
        patiently(lambda p=process: "to be continued: requeued" in league.log(p), 120, "the word that it goes on")
    log = league.log("learner-0")
    assert "torch.distributed.elastic" not in log.partition("to be continued")[0], "the agent survived the signal"
    patiently(lambda: league.view().term >= 2 and league.heard("learner-0"), 150, "their return")
    patiently(lambda: len(list(league.run.track.glob(lives))) >= 2, 150, "the tracker's return")
    league.play_on()

    # One of the nodes of the two ranks crashes: the group ends, and starts again from its checkpoint.
    patiently(league.trained, 150, "the first candidate that has learned")
    restarts = league.rows()["learner-0"].restarts
    cluster.harm("--node", "node2")
    patiently(lambda: league.rows()["learner-0"].restarts > restarts, 150, "the requeue of the learner")
    trained = league.trained()
    cluster.start()  # there are two nodes with GPUs, and it needs both
    patiently(lambda: league.trained() > trained, 150, "training that goes on")
    check_resumed(league)

    league.ludus("stop", "league")
    assert league.view().term >= 2
    whole = rows_of(league)
    points = (league.run.track / "csv/points.csv").read_text()
    live = sorted({int(line["row"]) for line in csv.DictReader(points.splitlines())})
    files = sorted(league.run.track.glob(lives))
    assert len(files) >= 2, "the tracker was requeued with its coordinator"
    assert len({path.name for path in files}) == 1, "as one run of W&B"
    sent = sorted(row["_step"] for path in files for row in history(path))
    assert sent == whole[: len(sent)], "every row once"
    assert live == whole[: len(live)]
    check(league)


def test_crashes_cuts_and_split_brains(league, cluster, patiently):
    league.begin(*APART)
    patiently(league.results, 150, "the first result")
    league.play_on()
    times = {}

    def term_after(term):
        return patiently(lambda: league.view().live and league.view().term > term, 150, "the next term")[1]

    # The coordinator's node crashes: it moves, and the others find it without a restart.
    term, sessions = league.view().term, league.log("learner-0").count("restart")
    cluster.harm("--node", league.node("coordinator-0"))
    times["crash of the coordinator's node"] = term_after(term) + league.play_on()
    assert league.log("learner-0").count("restart") == sessions
    cluster.start()

    # The node of a collector crashes, and nobody else's: the others play on, and nobody else restarts.
    before = league.rows()
    lone = next(name for name in ("collector-0", "collector-1") if alone(before, name))
    crashed = time.monotonic()
    cluster.harm("--node", before[lone].node)
    times["crash of a collector's node, for the others"] = league.play_on()
    patiently(lambda: league.rows()[lone].restarts > before[lone].restarts, 150, "the requeue of the collector")
    assert [name for name, row in league.rows().items() if row.restarts > before[name].restarts] == [lone]
    cluster.start()  # there is no second node for it
    patiently(lambda: league.heard(lone), 150, "its return")
    times["crash of a collector's node, for that collector"] = time.monotonic() - crashed

    # The node of the learner crashes: it starts on the other one, from its checkpoint.
    began, row = time.monotonic(), league.rows()["learner-0"]
    cluster.harm("--node", row.node)
    patiently(lambda: league.rows()["learner-0"].restarts > row.restarts, 150, "the requeue of the learner")
    trained = league.trained()  # not before: what it had said last may still have been on its way
    patiently(lambda: league.trained() > trained, 150, "training that goes on")
    check_resumed(league)
    times["crash of the learner's node"] = time.monotonic() - began
    cluster.start()

    # The learner's node is cut off: Slurm starts another one, and the old one sees that and leaves.
    began, node = time.monotonic(), league.node("learner-0")
    cluster.cut(node)
    patiently(lambda: "leaving it to that one" in league.log("learner-0"), 150, "the end of the one that was cut off")
    patiently(lambda: league.heard("learner-0"), 150, "the learner's return")
    times["cut of the learner's node"] = time.monotonic() - began + league.play_on()
    cluster.plug(node)

    # slurmd dies, the coordinator lives: Slurm starts another, which waits for the ledger while the first plays on.
    term, node = league.view().term, league.node("coordinator-0")
    cluster.harm("--slurmd", node)
    patiently(lambda: "waiting for it" in league.log("coordinator-0"), 150, "a second coordinator")
    league.play_on()
    assert league.view().term == term, "there is one coordinator, and it is the first"
    began = time.monotonic()
    cluster.start()
    term_after(term)
    times["takeover after a split brain"] = time.monotonic() - began + league.play_on()

    league.ludus("stop", "league")
    for what, seconds in times.items():
        print(f"\n{what}: {seconds:.0f} s until the league played on", end="")
    check(league)


DOOMED = {
    "learner-0 failed 2 times in a row": [
        "launch.slurm.learner.python=/bin/false",
        "launch.slurm.learner.setup=['FATAL=2']",
    ],
    "coordinator-0 was restarted 0 times, and launch.slurm.requeues allows no more": [
        "launch.slurm.coordinator.time=1",
        "launch.slurm.lead=50",
        "launch.slurm.requeues=0",
        "launch.slurm.learner.sbatch=['--begin=now+1hour']",
    ],
}


def test_two_learners_preemption_scale_stop_and_resume_and_what_fails_for_good(league, leagues, patiently, slurm):
    doomed = {reason: leagues(f"doomed{i}").begin(*more) for i, (reason, more) in enumerate(DOOMED.items())}
    low = ["launch.slurm.collector.partition=low", "launch.slurm.collector.constraint=gpu"]
    # A rival takes node1 and node2 below: it can preempt a collector there, but no learner and no coordinator.
    low += [f"launch.slurm.{role}.sbatch=['--exclude=node1,node2']" for role in ("coordinator", "learner")]
    league.begin("launch.learners=2", "learner.candidate_decisions=2048", *low)
    patiently(league.results, 150, "the first result")
    learning = [player.id for player in league.view().state.population.learning()]
    assert len(learning) >= 2
    patiently(lambda: all(map(league.trained, learning)), 300, "candidates of the players of both learners")
    for learner in ("learner-0", "learner-1"):
        patiently(lambda name=learner: league.heard(name), 120, f"a word of {learner}")
    league.ludus("scale", "league", "collectors=4")
    patiently(lambda: league.heard("collector-3"), 150, "a fourth collector")
    league.ludus("scale", "league", "collectors=1")
    patiently(lambda: sum(row.task is not None for row in league.alive()) == 1, 120, "one collector only")

    # Somebody with a better claim takes the nodes on which the collector may run, for a while.
    claim = [
        "--parsable",
        "--partition=main",
        "--nodelist=node1,node2",
        "--exclusive",
        "--time=10",
        "--output=/dev/null",
    ]
    rival = slurm("sbatch", *claim, "--wrap=sleep 600").strip()
    patiently(lambda: league.rows()["collector-0"].restarts >= 1, 150, "the preemption")

    def pending():
        status = json.loads(league.ludus("status", "league", "--json"))
        reasons = [job["reason"] for job in status["jobs"] if job["state"] == "PENDING"]
        return reasons and all(reasons)  # it is COMPLETING for a moment before, and Slurm may not know at once why

    patiently(pending, 120, "a job that waits for its nodes, and says why")
    slurm("scancel", rival)
    patiently(lambda: league.heard("collector-0"), 150, "the collector's return")
    league.play_on()

    for reason, other in doomed.items():
        patiently(other.run.ended.exists, 300, reason)
        patiently(lambda other=other: not other.alive(), 120, "the end of all jobs")
        assert reason in other.ludus("status", other.run.name)

    assert "stopped; it goes on with: ludus resume league" in league.ludus("stop", "league")
    patiently(lambda: not league.alive(), 120, "the end of all jobs")
    before = league.results()
    assert "ludus stop" in league.ludus("status", "league")
    league.ludus("resume", "league")
    patiently(lambda: league.results() > before, 150, "new results")
    assert "has jobs in the queue already" in league.ludus("resume", "league", code=2)
    league.ludus("stop", "league")
    check(league)
