"""A tracker between a coordinator and a sink, with a wire of memory: it dies, and the next one goes on."""

import csv
import itertools

import msgspec
import pytest
import wandb

from coordinator.coordinator import Coordinator
from coordinator.opening import open_league
from coordinator.replica import Replica
from coordinator.service import NOTES, Service
from launch.config.config import stored
from launch.matches.filming import Films
from launch.topology.parts import topology
from launch.trackers.make_sink import make_sink
from launch.trackers.sink import SinkError
from launch.trackers.tracker import Kept, Tracker, ask_kept, beginning, keeper, sink_context
from launch.viewers.curves import Position
from league.events import TermBegan
from league.store.fold import write_fold
from league.store.ledger import Ledger
from league.wire.in_memory import Exchange


class World:
    """A coordinator that serves whenever somebody listens."""

    def __init__(self, run):
        self.run, self.config = run, stored(run)
        self.config.track.every = 4
        self.exchange, self.ledger = Exchange(), Ledger.open(run.ledger)
        founded = next(event for _, event in self.ledger.events())
        state = open_league(self.ledger, self.config.league, founded.seed, founded.env, run.config_hash())
        self.server, feed = self.exchange.server("replica"), self.exchange.server("feed")
        self.clock = itertools.count(0.0, 0.05).__next__  # time passes whenever somebody looks at it
        coordinator = Coordinator(state, ["learner-0"])
        self.service = Service(coordinator, self.ledger, self.exchange.server("coordinator"), self.clock, feed=feed)
        self.replica = Replica(self.exchange.client(feed.address), self.server, self.config.league, self.clock)
        self.client = self.exchange.client(self.server.address)

    def send(self, message, arrays=None):
        return self.client.send(message, arrays)

    def receive(self, timeout):
        for _ in range(8):
            self.service.step(0)
            self.replica.step(0)
        return self.client.receive(0)

    def close(self):
        pass

    def track(self, folder):
        kept = ask_kept(self, "csv", lambda: False)
        sink = make_sink("csv", sink_context(self.config, self.run, folder, print, Films(self.run), kept.id))
        return kept, Tracker("csv", sink, self, self.config, self.run.fold, kept)


def read(folder):
    with (folder / "points.csv").open() as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("with_fold", [False, True])
def test_the_next_tracker_goes_on_where_the_last_one_died(run, tmp_path, with_fold):
    world = World(run)
    kept, tracker = world.track(tmp_path / "live")
    assert kept == Kept()
    while not tracker.step(0.0):
        pass
    world.service.step(0)
    tracker._sink.close()  # it was killed: nothing else is done in order
    before = read(tmp_path / "live")
    if with_fold:
        write_fold(run.fold, world.service.coordinator.state, world.ledger.head)
    for i in range(4):
        world.ledger.commit([TermBegan(term=9)], [(i, "collector-0", {"x": 1.0}), (i, "coordinator", {"y": i})])
    kept, tracker = world.track(tmp_path / "live")
    assert kept.position.number > 0
    while not tracker.step(0.0):
        pass
    tracker.finish(5.0)
    tracker._sink.close()
    world.service.close()
    assert len(read(tmp_path / "live")) > len(before)
    rows = [(row[0], row[4]) for row in read(tmp_path / "live")]
    assert len(rows) == len(set(rows)), "no point twice"
    numbers = [int(row[0]) for row in read(tmp_path / "live")[1:]]
    assert sorted(set(numbers)) == list(range(numbers[-1] + 1)), "no row is missing"


def test_a_sink_that_lost_rows_gets_all_of_them_again(run, tmp_path):
    world = World(run)
    start = Position(number=10, seq=40, measured=0, gathered=35)
    write_fold(run.fold, world.service.coordinator.state, 30)
    assert beginning(start, 10, run.fold, world.config.league)[0] == start
    assert beginning(start, 12, run.fold, world.config.league)[2] == 30, "the checkpoint saves the way to it"
    assert beginning(start, 9, run.fold, world.config.league) == (Position(), None, 0)
    world.service.close()


def test_a_tracker_that_dies_when_its_run_is_made_leaves_the_id_to_the_next(run, monkeypatch):
    world, found = World(run), []

    def die(id, **_):
        found.append((id, world.ledger.notes()["wandb"]))  # what is durable when W&B first hears of the run
        raise KeyboardInterrupt

    monkeypatch.setattr(wandb, "init", die)
    monkeypatch.setenv("WANDB_MODE", "offline")
    for _ in range(2):
        kept = ask_kept(world, "wandb", lambda: False)
        keep = keeper(world, "wandb", lambda: False)
        sink = make_sink("wandb", sink_context(world.config, run, run.track, print, Films(run), kept.id, keep))
        with pytest.raises(KeyboardInterrupt):
            Tracker("wandb", sink, world, world.config, run.fold, kept)
    (first, noted), (second, _) = found
    assert msgspec.json.decode(noted, type=Kept).id == first == second
    world.service.close()


def test_no_run_is_made_whose_id_the_ledger_does_not_have(run):
    world = World(run)
    with pytest.raises(SinkError, match="time to stop"):
        keeper(world, "wandb", lambda: True)("e97cc011")
    for number in range(NOTES):
        keeper(world, f"sink-{number}", lambda: False)("e97cc011")
    with pytest.raises(SinkError, match="there are 32 notes already"):
        keeper(world, "one more", lambda: False)("e97cc011")
    world.service.close()


def test_what_is_kept_fits_into_a_note():
    kept = Kept("e97cc011", Position(1 << 40, 1 << 50, 1 << 50))
    assert msgspec.json.decode(msgspec.json.encode(kept), type=Kept) == kept
    assert len(msgspec.json.encode(kept)) < 1000


def test_each_tracker_is_a_process(run):
    config = stored(run)
    config.track.to = ["csv", "wandb"]
    assert [part.name for part in topology(config)][-2:] == ["tracker-0", "tracker-1"]


class RingingSink:
    """A sink that can call somebody."""

    id = ""

    def __init__(self):
        self.alarms = []

    def open(self):
        return 0

    def write(self, row):
        pass

    def flush(self):
        pass

    def close(self):
        pass

    def alert(self, alarm):
        self.alarms.append(alarm)


def test_a_sink_that_can_call_somebody_gets_each_alarm_once(run):
    world, sink = World(run), RingingSink()
    world.service.coordinator.state.voids = 2
    tracker = Tracker("csv", sink, world, world.config, run.fold, Kept())
    while not tracker.step(0.0):
        pass
    tracker._viewer.state.voids = 2
    for _ in range(3):
        tracker._rang_at = float("-inf")
        tracker._ring()
    world.service.close()
    assert [alarm.name for alarm in sink.alarms] == ["void"]
    assert tracker._trails["main"].points, "the course of the main's rating is known"
