"""What is wrong with how a page looks: text over text, pages wider than their window, parts that are missing.

A picture is compared as a grid of ink: how much of each cell differs from the page's background. Fonts, numbers and the
length of tables may differ, so ink may lie one cell away; a chart that is not there leaves many cells without ink.
"""

import io
import json
from pathlib import Path

import numpy as np
from PIL import Image

REFERENCES = Path(__file__).parent / "page_looks.json"
COLUMNS, ROWS = 32, 20
LEAST = 0.004  # share of a cell that is ink, if there is any
CONTRAST = 24  # levels of grey from which a pixel is ink
DIFFERENT = 0.08  # of the inked cells of a reference: if more differ, something is missing

OVERLAPS = """() => {
    const clipped = (node, box) => {
        let { left, right, top, bottom } = box;
        for (let up = node.parentElement; up && up !== document.body; up = up.parentElement) {
            if (getComputedStyle(up).overflow === "visible") continue;
            const frame = up.getBoundingClientRect();
            [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
            [top, bottom] = [Math.max(top, frame.top), Math.min(bottom, frame.bottom)];
        }
        return { left, right, top, bottom };
    };
    const boxes = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const text = walker.currentNode;
        const parent = text.parentElement;
        if (!text.data.trim() || parent.closest(".hidden, .skip, option, script, noscript")) continue;
        if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        for (const rect of range.getClientRects()) {
            const box = clipped(text, rect);
            if (box.right - box.left > 2 && box.bottom - box.top > 4) boxes.push({ ...box, text: text.data.trim() });
        }
    }
    boxes.sort((a, b) => a.top - b.top);
    const found = [];
    for (let i = 0; i < boxes.length; i += 1) {
        for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom; j += 1) {
            const [a, b] = [boxes[i], boxes[j]];
            const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            const least = Math.min(a.bottom - a.top, b.bottom - b.top);
            if (width > 2 && height > least / 3) found.push(`${a.text.slice(0, 40)} | ${b.text.slice(0, 40)}`);
        }
    }
    return found;
}"""


def faults(page):
    """Return what is wrong with the layout of a page."""
    wide = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return page.evaluate(OVERLAPS) + ([f"{wide} pixels wider than the window"] if wide > 0 else [])


def still(page, box=None):
    """Return a picture of a page, or of a box of it, once it has stopped to change."""
    before = page.screenshot(clip=box)
    for _ in range(40):
        page.evaluate("() => new Promise((done) => setTimeout(done, 50))")
        after = page.screenshot(clip=box)
        if after == before:
            return after
        before = after
    raise AssertionError("the page does not come to rest")


def ink(png):
    """Return for each cell of a picture how much of it is ink, in tenths."""
    grey = np.asarray(Image.open(io.BytesIO(png)).convert("L"), np.int16)
    background = np.bincount(grey.ravel(), minlength=256).argmax()
    marked = np.abs(grey - background) > CONTRAST
    height, width = marked.shape
    cut = marked[: height - height % ROWS, : width - width % COLUMNS]
    return cut.reshape(ROWS, height // ROWS, COLUMNS, width // COLUMNS).mean(axis=(1, 3))


def difference(grid, name):
    """Return how many cells have ink that the other lacks around them, for each inked cell of the reference."""
    known = np.array([[letter == "#" for letter in row] for row in json.loads(REFERENCES.read_text())[name]])
    found = grid > LEAST
    return float(((known & ~around(found)) | (found & ~around(known))).sum() / known.sum())


def around(cells):
    """Return which cells are true or touch one that is."""
    height, width = cells.shape
    padded = np.pad(cells, 1)
    return np.any([padded[y : y + height, x : x + width] for y in range(3) for x in range(3)], axis=0)


def keep(grids):
    """Write references; text that people can look at."""
    plain = {
        name: ["".join("#" if cell > LEAST else "." for cell in row) for row in grid] for name, grid in grids.items()
    }
    REFERENCES.write_text(json.dumps(plain, indent=1) + "\n")
