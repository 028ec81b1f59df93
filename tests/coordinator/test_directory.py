"""The directory: collectors get the hosts when they changed."""


def test_collectors_get_the_directory_when_it_changed(league):
    orders = league.report()
    assert [(host.player, host.address) for host in orders.hosts] == [
        ("main", "memory://learner-0"),
        ("exploiter", "memory://learner-0"),
    ]
    assert league.report(directory=orders.directory).hosts is None
    league.progress(address="memory://elsewhere")
    moved = league.report(directory=orders.directory)
    assert moved.directory != orders.directory
    assert moved.hosts[0].address == "memory://elsewhere"


def test_a_directory_of_another_term_is_known_by_what_is_in_it(league):
    known = league.report().directory
    league.crash()
    assert league.report(directory=known).hosts == ()
    league.progress(address="memory://elsewhere")
    assert league.report(directory=known).hosts[0].address == "memory://elsewhere"
    league.crash()
    league.progress()
    assert league.report(directory=known).hosts is None
