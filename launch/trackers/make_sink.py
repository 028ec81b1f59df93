"""From the name of a tracker to its sink."""

from collections.abc import Iterable
from importlib.util import find_spec

from launch.trackers.sink import Sink, SinkContext, SinkError


def check_trackers(names: Iterable[str]) -> None:
    """Refuse a tracker whose package is not installed; nothing is imported."""
    for name in names:
        if name != "csv" and find_spec(name) is None:
            raise SinkError(f"{name} is not installed: pip install {name}")


def make_sink(name: str, context: SinkContext) -> Sink:
    """Return a sink by its name; what it needs is imported now, and not before."""
    if name == "csv":
        from launch.trackers.csv_files import CsvFiles

        return CsvFiles(context)
    if name == "tensorboard":
        from launch.trackers.event_files import EventFiles

        return EventFiles(context)
    from launch.trackers.wandb_run import WandbRun

    return WandbRun(context)
