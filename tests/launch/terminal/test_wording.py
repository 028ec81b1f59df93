"""Words that several commands print."""

from launch.terminal.wording import allowing


def test_options_are_repeated_for_each_package():
    assert (allowing([]), allowing(["mine", "games"])) == ("", " --allow mine --allow games")
