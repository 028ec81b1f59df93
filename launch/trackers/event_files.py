"""`track=tensorboard`: event files. `tensorboard --logdir runs/first/track/tensorboard` shows them."""

import struct
import time
from typing import Any

from launch.trackers.sink import SinkContext
from launch.viewers.curves import CurveRow
from league import limits
from league.store.regular_file import read_regular, refuse_irregular

ROW = "ludus/row"  # the tag by which a later tracker knows what is there


class EventFiles:
    """A row is one record with a checksum, so it is there as a whole or not at all."""

    id = ""

    def __init__(self, context: SinkContext) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2

        self._events, self._summaries = event_pb2, summary_pb2
        self._folder, self._film = context.folder, context.film
        self._writer: Any = None

    def open(self) -> int:
        """Count the rows of earlier files, and begin a new one."""
        from tensorboard.summary.writer.record_writer import RecordWriter

        have = max((int(number) + 1 for number in self._numbers()), default=0)
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"events.out.tfevents.{time.time_ns() / 1e9:020.9f}"  # read in the order of their names
        # TensorBoard's own writer has a thread, in which the error of a full disk would be lost.
        self._writer = RecordWriter(path.open("xb"))
        self._write(self._events.Event(wall_time=time.time(), file_version="brain.Event:2"))
        return have

    def _write(self, event: Any) -> None:
        self._writer.write(event.SerializeToString())

    def _numbers(self) -> list[float]:
        from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

        for path in self._folder.glob("events.out.tfevents.*"):
            refuse_irregular(path)
        return [
            value.simple_value
            for path in sorted(self._folder.glob("events.out.tfevents.*"))
            for event in LegacyEventFileLoader(str(path)).Load()
            for value in event.summary.value
            if value.tag == ROW
        ]

    def write(self, row: CurveRow) -> None:
        """Write a row as one record."""
        value = self._summaries.Summary.Value
        values = [value(tag=name, simple_value=number) for name, number in row.values.items()]
        values.append(value(tag=ROW, simple_value=row.number))
        if row.payoff is not None:
            from launch.viewers.drawing import payoff_png

            png, width, height = payoff_png(row.payoff)
            image = self._summaries.Summary.Image(encoded_image_string=png, width=width, height=height, colorspace=4)
            values.append(value(tag="payoff", image=image))
        if row.recorded is not None and (video := self._film(row.recorded)) is not None:
            gif = read_regular(video, limits.WEIGHTS_FILE)  # TensorBoard's images may move
            width, height = struct.unpack("<HH", gif[6:10])
            image = self._summaries.Summary.Image(encoded_image_string=gif, width=width, height=height, colorspace=3)
            values.append(value(tag="video", image=image))
        summary = self._summaries.Summary(value=values)
        self._write(self._events.Event(wall_time=time.time(), step=row.step, summary=summary))

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
