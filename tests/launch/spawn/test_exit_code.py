"""Exit codes."""

from launch.spawn.exit_code import describe_exit


def test_a_negative_code_is_a_signal():
    assert [describe_exit(code) for code in (0, 2, -9, -15)] == ["exit code 0", "exit code 2", "signal 9", "signal 15"]
