"""The pages in a real browser: they show the numbers of a real run, live and afterwards, and everybody can use them."""

import json
import re
import threading

import pytest

from launch.config.config import stored, to_plain
from launch.dashboard.play_table import PlayTable
from launch.dashboard.serving import ServerPlace, serve_table
from launch.processes.inline import play
from launch.viewers.payoff_matrix import payoff_json
from launch.viewers.reading import Matches
from launch.viewers.tables import standings_json
from launch.viewers.view import read_offline
from league.store.run_directory import RunDirectory

pytestmark = pytest.mark.browser

PAGES = ("overview", "standings", "payoff", "curves", "family", "why", "machines", "matches")
QUIET = ("status of 403", "Refused to execute inline script", "Executing inline script")  # what is tried on purpose


# Functions, not expressions: the pages forbid eval, also to us.
DRAWN = "() => Number(document.querySelector('canvas.heatmap')?.dataset.players) > 2"
MATCHES_CHANGED = """before => {
    const fact = [...document.querySelectorAll(".fact")].find((one) => one.innerText.includes("Matches"));
    return fact.querySelector("dd").innerText !== before;
}"""
INLINE_SCRIPT = """() => {
    const script = document.createElement("script");
    script.textContent = "window.broken = 1";
    document.body.append(script);
    return window.broken ?? null;
}"""


def show(page, address, view):
    page.goto(f"{address.partition('?')[0]}#/{view}")


def rows(page, selector):
    return page.eval_on_selector_all(
        f"{selector} tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.innerText.trim()))"
    )


# --- numbers -------------------------------------------------------------------------------------------------


def test_runs_are_cards_and_those_that_cannot_be_read_say_why(page):
    cards = page.locator(".card")
    cards.nth(2).wait_for()
    texts = {text.splitlines()[0]: text for text in cards.all_inner_texts()}
    assert set(texts) == {"first", "empty", "foreign"}
    assert "not started" in texts["empty"]
    assert "layout version '99'" in texts["foreign"]
    assert "over" in texts["first"]


def test_standings_have_the_numbers_of_the_command(page, address, state):
    show(page, address, "first/standings")
    page.locator(".standings tbody tr").first.wait_for()
    shown = rows(page, ".standings")
    printed = standings_json(state)
    assert [(row[0], row[1]) for row in shown] == [(str(one["place"]), one["player"]) for one in printed]
    for row, one in zip(shown, printed, strict=True):
        if one["rating"] is not None:
            assert int(row[3].split()[0]) == pytest.approx(one["rating"], abs=0.51)
    page.get_by_role("searchbox").fill("main.")
    page.wait_for_function(f"() => document.querySelectorAll('.standings tbody th').length < {len(printed)}")
    assert all("main" in row[1] for row in rows(page, ".standings"))


def test_numbers_lead_to_the_games_behind_them(page, address, played):
    show(page, address, "first/standings")
    page.locator(".standings tbody tr", has_text="main").first.locator("td.rating a").click()
    page.get_by_role("heading", name="Matches").wait_for()
    page.locator("table tbody tr").first.wait_for()
    player = re.search(r"player=([^&]*)", page.url)[1]
    seen = Matches(player, 50)
    read_offline(played[0], seen)
    printed = [str(one["ticket"]) for one in reversed(seen.newest) if one["purpose"] == "evaluate"]
    shown = [row[0] for row in rows(page, "table")]
    assert shown[: len(printed)] == printed


def test_the_overview_shows_what_the_status_says(page, address, state):
    show(page, address, "first/overview")
    page.get_by_text("tic_tac_toe").first.wait_for()
    text = page.locator("main").inner_text()
    assert f"{sum(state.results.values()):,}" in text
    assert f"{state.env_steps:,}" in text
    assert "over: " in text
    page.locator(".uplot canvas").first.wait_for()


def test_the_heat_map_says_what_a_pair_did_by_mouse_and_by_keys(page, address):
    show(page, address, "first/payoff")
    canvas = page.locator("canvas.heatmap")
    page.wait_for_function(DRAWN)
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    line = page.locator(".pair")
    page.wait_for_function("() => / scores | predict|have not met/.test(document.querySelector('.pair').innerText)")
    by_keys = line.inner_text()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Matches").wait_for()
    first, second = (re.search(rf"{name}=([^&]*)", page.url)[1] for name in ("player", "against"))
    assert first in by_keys
    assert second in by_keys


def test_the_heat_map_has_the_numbers_of_the_command(page, address, state):
    printed = payoff_json(state)["evaluate"]
    show(page, address, "first/payoff")
    page.wait_for_function(DRAWN)
    page.locator("canvas.heatmap").focus()
    page.keyboard.press("ArrowRight")
    compared = 0
    for _ in range(len(printed["players"]) - 1):
        page.keyboard.press("ArrowRight")  # the first cell is a player against itself
        page.wait_for_function("() => / scores | predict|have not met/.test(document.querySelector('.pair').innerText)")
        found = re.match(r"(\S+) scores (\d+) ?%.* against (\S+) over (\d+) games", page.locator(".pair").inner_text())
        if found:
            row, column = (printed["players"].index(found[name]) for name in (1, 3))
            cell = printed["cells"][row][column]
            assert int(found[2]) == pytest.approx(100 * cell["score"], abs=0.51)
            assert int(found[4]) == round(cell["games"])
            compared += 1
    assert compared >= 2


def test_the_orders_of_the_heat_map_show_something_else(page, address):
    show(page, address, "first/payoff")
    page.wait_for_function(DRAWN)
    pictures = {page.locator("canvas.heatmap").screenshot()}
    for order in ("kind", "cluster"):
        with page.expect_response(lambda answer, order=order: f"order={order}" in answer.url):
            page.get_by_label("Order by").select_option(order)
        page.wait_for_timeout(100)
        pictures.add(page.locator("canvas.heatmap").screenshot())
    assert len(pictures) >= 2


def test_a_match_is_stepped_through_with_keys(page, address):
    show(page, address, "first/matches?purpose=evaluate&player=main")
    page.get_by_label(re.compile("^Replay ")).first.click()
    page.locator(".board").wait_for()
    assert page.locator(".board .piece").count() == 0
    page.get_by_role("button", name="Next").focus()
    for moves in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"() => document.querySelectorAll('.board .piece').length === {moves}")
    page.keyboard.press("End")
    page.get_by_text("after", exact=False).first.wait_for()
    assert page.locator(".notice.problem").count() == 0
    page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelectorAll('.board .piece').length === 0")
    considered = page.locator(".decision").inner_text()
    assert "Probability" in considered
    assert "It expects" in considered


def test_family_why_and_curves_show_their_players(page, address, state):
    show(page, address, "first/family")
    page.locator(".tree text").first.wait_for()
    assert set(page.locator(".tree text").all_text_contents()) == {player.id for player in state.population}
    show(page, address, "first/why?player=main")
    page.get_by_text("Next freeze").wait_for()
    assert page.locator("table tbody tr").count() > 0
    show(page, address, "first/curves")
    page.locator(".uplot canvas").first.wait_for()
    page.wait_for_function("() => document.querySelector('.chart [role=img]').ariaLabel.includes('main')")


# --- play ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def connect_four(played, tmp_path_factory):
    """Return the run of a small league that played Connect Four."""
    config = stored(played[0])
    config.name, config.env.name, config.league.budget.env_steps = "four", "connect_four", 2000
    run = RunDirectory(tmp_path_factory.mktemp("runs") / "four").create()
    run.write_config(to_plain(config))
    play(config, run)
    return run


@pytest.mark.parametrize("game", ["tic_tac_toe", "connect_four"])
def test_a_whole_game_is_played_by_clicks(browser, request, patiently, game):
    run = request.getfixturevalue("connect_four") if game == "connect_four" else request.getfixturevalue("played")[0]
    table, lines, stop = PlayTable(run), [], threading.Event()
    arguments = (table, "main", "ada", ServerPlace(port=0, usual=0), lines.append, stop.is_set)
    server = threading.Thread(target=serve_table, args=arguments)
    server.start()
    context = browser.new_context()
    page, problems = context.new_page(), []
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(patiently(lambda: lines and lines[0].removeprefix("play: "), 10, "the address"))
    page.get_by_role("button", name="New game").click()
    page.locator(".board .move").first.wait_for()
    page.get_by_role("button", name="What would it play?").click()
    page.locator(".chance").first.wait_for()
    moves = 0
    while True:
        page.locator(".board .move, .turn:has-text('after')").first.wait_for()
        if not page.locator(".board .move").count():
            break
        before = page.locator("ol li").count()
        page.locator(".board .move").first.click()
        page.wait_for_function("before => document.querySelectorAll('ol li').length > before", arg=before)
        moves += 1
    assert moves >= 3
    assert re.search(r"(wins|draw) after \d+ moves", page.locator(".turn").inner_text())
    assert problems == []
    context.close()
    table.leave()
    stop.set()
    server.join(15)


# --- everybody -----------------------------------------------------------------------------------------------


def test_every_page_is_accessible_in_both_themes(page, address, figure):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    serious = {}
    for theme in ("light", "dark"):
        page.evaluate("theme => localStorage.setItem('ludus-theme', theme)", theme)
        page.reload()
        for name in ("", *(f"first/{one}" for one in PAGES)):
            show(page, address, name)
            page.get_by_role("heading", level=1).wait_for()
            page.wait_for_load_state("networkidle") if name == "" else page.wait_for_timeout(250)
            found = axe.run(page).response["violations"]
            grave = [
                (one["id"], [node["target"] for node in one["nodes"]][:3])
                for one in found
                if one["impact"] in ("serious", "critical")
            ]
            if grave:
                serious[theme, name] = grave
    assert serious == {}
    figure(f"axe-core on {len(PAGES) + 1} pages in 2 themes: {len(serious)} pages with serious findings")


def test_all_pages_are_reached_by_keys_alone(page, address):
    show(page, address, "first/overview")
    page.get_by_role("heading", name="Overview").wait_for()
    press_until(page, "Shift+Tab", "Skip to the content")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id == 'main'")
    press_until(page, "Shift+Tab", "Standings")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Standings").wait_for()
    page.wait_for_function("() => document.activeElement.id == 'main'")


def press_until(page, key, text):
    """Press a key until what has the focus has a text."""
    for _ in range(20):
        page.keyboard.press(key)
        if page.evaluate("() => document.activeElement.innerText") == text:
            return
    pytest.fail(f"{key} never reached {text!r}")


def test_no_page_has_the_token_and_scripts_come_from_here(page, address):
    token = address.partition("token=")[2]
    assert token not in page.content()
    assert token not in page.url
    assert page.evaluate("document.cookie") == ""
    blocked = page.evaluate(INLINE_SCRIPT)
    assert blocked is None
    show(page, address, "first/overview")
    page.get_by_role("heading", name="Overview").wait_for()
    assert token not in json.dumps(page.evaluate("Object.entries(localStorage)"))
