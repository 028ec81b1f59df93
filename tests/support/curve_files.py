"""Sinks of a run, and the points that their files have."""

import csv

from launch.config.config import stored
from launch.matches.filming import Films
from launch.trackers.make_sink import make_sink
from launch.trackers.tracker import sink_context


def read_csv(folder):
    with (folder / "points.csv").open() as file:
        return [(int(r["row"]), r["axis"], int(r["step"]), r["name"], float(r["value"])) for r in csv.DictReader(file)]


def read_events(folder):
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    found = []
    for path in sorted(folder.glob("events.out*")):
        for event in LegacyEventFileLoader(str(path)).Load():
            values = {v.tag: v.simple_value for v in event.summary.value if v.HasField("simple_value")}
            if values:
                number = int(values.pop("ludus/row"))
                found += [(number, event.step, name, value) for name, value in values.items()]
    return found


def expected(rows):
    return [(row.number, *point) for row in rows for point in row.points()]


def sink_at(run, name, folder, **more):
    say = more.pop("say", print)
    return make_sink(name, sink_context(stored(run), run, folder, say, Films(run, notify=say), **more))
