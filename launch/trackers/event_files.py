"""`track=tensorboard`: event files. `tensorboard --logdir runs/first/track/tensorboard` shows them."""

import time
from typing import Any

from launch.trackers.points import Row
from launch.trackers.sink import Place

ROW = "ludus/row"  # the tag by which a later life knows what is there


class EventFiles:
    """A row is one record with a checksum, so it is there as a whole or not at all."""

    id = ""

    def __init__(self, place: Place) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2

        self._events, self._summaries = event_pb2, summary_pb2
        self._folder = place.folder
        self._writer: Any = None

    def open(self) -> int:
        """Count the rows of earlier files, and begin a new one."""
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        have = max((int(number) + 1 for number in self._numbers()), default=0)
        self._writer = EventFileWriter(str(self._folder))
        return have

    def _numbers(self) -> list[float]:
        from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

        return [
            value.simple_value
            for path in sorted(self._folder.glob("events.out.tfevents.*"))
            for event in LegacyEventFileLoader(str(path)).Load()
            for value in event.summary.value
            if value.tag == ROW
        ]

    def write(self, row: Row) -> None:
        """Write a row as one record."""
        value = self._summaries.Summary.Value
        values = [value(tag=name, simple_value=number) for name, number in row.values.items()]
        values.append(value(tag=ROW, simple_value=row.number))
        if row.payoff is not None:
            from launch.drawing import payoff_png

            png, width, height = payoff_png(row.payoff)
            image = self._summaries.Summary.Image(encoded_image_string=png, width=width, height=height, colorspace=4)
            values.append(value(tag="payoff", image=image))
        summary = self._summaries.Summary(value=values)
        self._writer.add_event(self._events.Event(wall_time=time.time(), step=row.step, summary=summary))

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
