"""Every page looks as it should, in all sizes and both themes; what is broken on purpose is found.

LUDUS_KEEP_LOOKS=1 rewrites the references, after somebody has looked at the pages.
"""

import os

import pytest
from page_looks import DIFFERENT, LEAST, difference, faults, ink, keep, still

pytestmark = pytest.mark.browser

READY = {
    "overview": ".uplot canvas",
    "standings": ".standings tbody tr",
    "payoff": "canvas.heatmap[data-players]",
    "curves": ".uplot canvas",
    "family": ".tree text",
    "why": "table tbody tr",
    "machines": ".facts",
    "matches": "table tbody tr",
}
LAYOUTS = [name for name in READY if name != "why"]  # whose tables are as long as its league makes them
PARTS = {  # of a page, each of which must not be missing
    "overview": (".chart", ".facts"),
    "standings": (".standings",),
    "payoff": ("canvas.heatmap",),
    "curves": (".chart",),
    "family": (".tree",),
    "why": ("table",),
    "machines": (".facts",),
    "matches": ("table",),
}
WIDTHS = (640, 1280, 1600, 1920, 3840)  # 1600: a window of 1280 at 80 % zoom
HIDE = "part => document.querySelectorAll(part).forEach((one) => { one.style.visibility = 'hidden'; })"
CROSS = """() => {
    const [first, second] = document.querySelectorAll("main h1, main dt, main th");
    second.style.position = "fixed";
    const box = first.getBoundingClientRect();
    second.style.left = `${box.left}px`;
    second.style.top = `${box.top}px`;
}"""
WIDEN = "() => { document.querySelector('main').style.width = '6000px'; }"


def visit(page, address, name):
    page.goto(f"{address.partition('?')[0]}#/first/{name}")
    page.wait_for_function("name => document.title.toLowerCase().startsWith(name)", arg=name[:4])
    page.locator(f"main {READY[name]}").first.wait_for()


def choose_theme(page, theme):
    page.evaluate("theme => localStorage.setItem('ludus-theme', theme)", theme)
    page.reload()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_text_lies_over_another_and_nothing_is_wider_than_its_window(page, address, history, theme):
    choose_theme(page, theme)
    found = {}
    for name in READY:
        visit(page, address, name)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            still(page)
            found[name, width] = faults(page)
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


def test_what_is_broken_on_purpose_is_found(page, address):
    visit(page, address, "overview")
    assert faults(page) == []
    page.evaluate(WIDEN)
    assert any("wider" in fault for fault in faults(page))
    visit(page, address, "machines")
    page.evaluate(CROSS)
    assert any("|" in fault for fault in faults(page))


def test_every_page_has_ink_where_its_reference_has(page, address, history, figure):
    found = {}
    for theme in ("light", "dark"):
        choose_theme(page, theme)
        for name in LAYOUTS:
            visit(page, address, name)
            page.wait_for_function("() => !document.querySelector('.unread')")
            found[f"{name} {theme}"] = ink(still(page))
    if os.environ.get("LUDUS_KEEP_LOOKS"):
        keep({name.split()[0]: grid for name, grid in found.items() if name.endswith("light")})
    away = {name: difference(grid, name.split()[0]) for name, grid in found.items()}
    assert {name: share for name, share in away.items() if share > DIFFERENT} == {}
    figure(f"pictures of {len(away)} pages: at most {max(away.values()):.1%} of inked cells differ")


def test_a_page_without_its_chart_differs_from_its_reference(page, address, history):
    visit(page, address, "overview")
    page.evaluate(HIDE, ".chart")
    assert difference(ink(still(page)), "overview") > DIFFERENT


def test_every_part_of_a_page_is_drawn(page, address, history):
    for name, parts in PARTS.items():
        visit(page, address, name)
        for part in parts:
            box = page.locator(f"main {part}").first.bounding_box()
            assert ink(still(page, box)).mean() > LEAST, (name, part)
            page.evaluate(HIDE, part)
            assert ink(still(page, box)).mean() <= LEAST, (name, part)  # else what is drawn there is something else


def test_pages_print_without_what_only_screens_need(page, address):
    visit(page, address, "standings")
    page.emulate_media(media="print")
    assert not page.locator("header").is_visible()
    assert page.locator(".standings").is_visible()
