import pytest

from league.probe_rules import ProbeConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seconds": None}, "seconds or steps must say when it ends"),
        ({"seconds": 0.0}, "probe.seconds must be positive, got 0.0"),
        ({"steps": -1}, "probe.steps must be positive, got -1"),
        ({"games": 0}, "probe.games must be positive, got 0"),
    ],
)
def test_a_probe_that_never_ends_or_never_begins_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        ProbeConfig(**settings)


def test_a_probe_may_end_by_steps_alone():
    assert ProbeConfig(seconds=None, steps=1000).steps == 1000
