import base64
import re
import time
from xml.etree import ElementTree

import msgspec

from launch.viewers.reporting import draw, page, read_story, write_report
from league.events import PhaseBegan
from league.store.ledger import Ledger


def test_a_report_is_one_well_formed_file_that_needs_nothing_else(run, state):
    began = time.process_time()
    path = write_report(run)
    took = time.process_time() - began
    assert path == run.root / "report" / "report.html"
    text = path.read_text()
    root = ElementTree.fromstring(text.partition("\n")[2])  # as XML: every tag is closed, every & is escaped
    headings = [heading.text for heading in root.iter("h2")]
    assert headings == [
        "Standings", "Ratings", "Payoff", "Family tree", "Throughput", "Environment", "Versions", "Config",
    ]  # fmt: skip
    table = next(root.iter("table"))
    listed = [row[1].text for row in table.iter("tr")][1:]
    assert sorted(listed) == sorted(player.id for player in state.population)
    pictures = [image.get("src") for image in root.iter("img")]
    assert len(pictures) == 4
    for picture in pictures:
        assert base64.b64decode(picture.removeprefix("data:image/png;base64,")).startswith(b"\x89PNG")
    assert not re.findall(r"(?:src|href)=\"(?!data:)", text)
    assert sorted(p.name for p in path.parent.glob("*.png")) == [
        "family.png", "payoff.png", "ratings.png", "throughput.png",
    ]  # fmt: skip
    assert took < 5


def test_what_others_wrote_is_shown_and_not_obeyed(run):
    with Ledger.open(run.ledger) as ledger:
        ledger.commit([PhaseBegan(phase="over", why="<script>alert(1)</script> & more")])
    story = read_story(run)
    text = "\n".join(page(story, dict.fromkeys(("ratings", "payoff", "family", "throughput"), b""), run))
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_a_league_that_has_not_begun_has_a_report(run):
    with Ledger.open(run.ledger) as ledger:
        founding = [event for _, event in ledger.events()][:4]
    run.ledger.unlink()
    for beside in run.root.glob("ledger.sqlite-*"):
        beside.unlink()
    with Ledger.open(run.ledger) as ledger:
        ledger.commit([event for event in founding if "ticket" not in msgspec.to_builtins(event)["event"]])
    assert all(png.startswith(b"\x89PNG") for png in draw(read_story(run)).values())
