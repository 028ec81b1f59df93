"""A dashboard over the run that was really played."""

import pytest

from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.run_feed import RunFeed
from launch.dashboard.site import make_site


@pytest.fixture(scope="session")
def runs(played):
    """Return the runs of a dashboard that shows one run; nobody may close them."""
    found = Runs(only=played[0])
    yield found
    found.close()


@pytest.fixture(scope="session")
def feed(runs, patiently) -> RunFeed:
    """Return the feed of that run, once it is read."""
    feed = runs.feed("first")
    feed.look()
    patiently(lambda: feed.status or feed.problem, 20, "the first status")
    assert not feed.problem
    return feed


@pytest.fixture(scope="session")
def history(runs, patiently):
    """Return the past of that run, once it is read."""
    history = runs.history("first")
    history.look()
    patiently(lambda: history.complete, 60, "the end of the past")
    return history


@pytest.fixture(scope="session")
def site(runs, feed, history):
    """Return the site, behind no entrance."""
    return make_site(runs)
