"""A tracker's process."""

import logging
from types import SimpleNamespace

from launch.config.compose import compose
from launch.processes import run_tracker as module
from launch.trackers.sink import SinkError


def test_a_sink_that_cannot_be_fed_is_an_exit_code_and_one_line(monkeypatch, caplog):
    def track(*arguments):
        raise SinkError("the disk is full")

    context = SimpleNamespace(config=compose(["track=csv"]), run=None, index=0, stop=None, allow=())
    monkeypatch.setattr(module, "track", track)
    with caplog.at_level(logging.ERROR):
        assert module.run_tracker(context) == 1
    assert caplog.messages == ["csv: the disk is full"]
    monkeypatch.setattr(module, "track", lambda *arguments: None)
    assert module.run_tracker(context) == 0
