"""Settings of a collector that could never play are refused."""

import pytest

from collectors.config import CollectorConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"slots": 0}, r"collector\.slots must be at least 1, got 0"),
        ({"flush_seconds": -1.0}, r"collector\.flush_seconds must be at least 0"),
        ({"heartbeat": 0.0}, r"collector\.heartbeat must be positive"),
        ({"hang_seconds": float("nan")}, r"collector\.hang_seconds must be positive"),
        ({"record_share": 1.5}, r"collector\.record_share must lie between 0 and 1"),
        ({"inference": "cloud"}, r"unknown 'cloud'; choose one of local, central"),
        ({"act_in": "jax"}, r"unknown 'jax'; choose one of numpy, torch"),
        ({"inference": "central", "slots": 1}, r"the slots take turns, so 2 at least"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        CollectorConfig(**settings)


def test_the_smallest_collector():
    assert CollectorConfig(slots=2, flush_seconds=0, inference="central").slots == 2
