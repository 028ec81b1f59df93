"""From the name of a tracker to its sink."""

import pytest

from launch.trackers.make_sink import check_trackers
from launch.trackers.sink import SinkError


def test_a_tracker_that_is_not_installed_is_refused(monkeypatch):
    monkeypatch.setattr("launch.trackers.make_sink.find_spec", lambda name: None)
    check_trackers(["csv"])
    with pytest.raises(SinkError, match="pip install tensorboard"):
        check_trackers(["csv", "tensorboard"])
