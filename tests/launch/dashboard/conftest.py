"""A dashboard over the run that was really played, and a browser to look at it."""

import shutil
import threading

import pytest

from launch.config.config import Config, to_plain
from launch.dashboard.dashboard_runs import Runs
from launch.dashboard.run_feed import RunFeed
from launch.dashboard.serving import ServerPlace, serve
from launch.dashboard.site import make_site
from league.store.run_directory import RunDirectory

QUIET = ("status of 403", "Refused to execute inline script", "Executing inline script")  # what is tried on purpose


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


# --- in a browser --------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def chromium():
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("needs chromium (apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def browser(chromium):
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def folder(played, tmp_path_factory):
    """Return a folder with a finished run, one that never started, and one of another version."""
    folder = tmp_path_factory.mktemp("shown")
    shutil.copytree(played[0].root, folder / "first")
    shutil.copytree(played[0].root, folder / "foreign")
    (folder / "foreign" / "layout").write_text("99\n")
    empty = RunDirectory(folder / "empty").create()
    empty.write_config(to_plain(Config(name="empty")))
    return folder


@pytest.fixture(scope="session")
def address(folder, patiently):
    """Return the address of a dashboard over that folder."""
    lines, stop = [], threading.Event()
    thread = threading.Thread(target=serve, args=(Runs(folder=folder), ServerPlace(port=0), lines.append, stop.is_set))
    thread.start()
    yield patiently(lambda: lines and lines[0].removeprefix("dashboard: "), 10, "the address")
    stop.set()
    thread.join(15)


@pytest.fixture
def page(browser, address):
    """Return a page that has the cookie; in the end nothing must have been logged as an error."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.set_default_timeout(20_000)
    page.goto(address)
    page.get_by_role("heading", name="Runs").wait_for()
    yield page
    context.close()
    assert [problem for problem in problems if not any(quiet in problem for quiet in QUIET)] == []
