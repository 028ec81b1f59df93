"""What a tracker writes to."""

import pytest

from launch.trackers.sink import closing_sink


class Broken:
    """A sink that can neither be written to nor closed."""

    closed = 0

    def close(self):
        self.closed += 1
        raise OSError("it cannot be closed, either")


def test_the_first_error_of_a_broken_sink_is_raised():
    sink = Broken()
    with pytest.raises(ValueError, match="the first"), closing_sink(sink):
        raise ValueError("the first")
    assert sink.closed == 1


def test_an_error_at_the_end_is_not_hidden():
    with pytest.raises(OSError, match="cannot be closed"), closing_sink(Broken()):
        pass
