import base64
import re
import time
from xml.etree import ElementTree

import msgspec
import numpy as np

from launch.cli import main
from launch.viewers.drawing import payoff_figure, png_of, ratings_figure, throughput_figure
from launch.viewers.reporting import draw, page, read_story, write_report
from league.events import PhaseBegan
from league.payoff import Payoff
from league.standings import payoff_table
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


def test_the_command_says_where_it_is(run, capsys, tmp_path):
    assert main(["report", str(run.root), "--out", str(tmp_path / "here")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'here' / 'report.html'}\n"


DEUTERANOPIA = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])  # Machado et al. 2009


def seen(colours):
    """Return colours as somebody sees them who has no cones for green, from 0 to 1."""
    return np.clip(np.asarray(colours)[..., :3] ** 2.2 @ DEUTERANOPIA.T, 0, 1) ** (1 / 2.2)


def least_difference(cmap):
    """Return how far apart a score and its opposite are at least, to somebody without cones for green."""
    scores = np.linspace(0.0, 0.3, 31)
    return np.abs(seen(cmap(scores)) - seen(cmap(1 - scores))).max(axis=1).min()


def test_the_heat_map_can_be_read_without_telling_red_from_green():
    import matplotlib

    table = payoff_table(["a", "b"], Payoff())
    (axes, *_) = payoff_figure(table).get_axes()
    assert least_difference(axes.images[0].get_cmap()) > 0.3
    assert least_difference(matplotlib.colormaps["RdYlGn"]) < 0.2, "the test can fail"


def test_legends_are_beside_the_curves(run):
    story = read_story(run)
    learning = [player.id for player in story.view.state.population.learning()]
    for figure in (ratings_figure(story.rows, learning, {"random": 0.0}), throughput_figure(story.rows)):
        png_of(figure)
        (legend,) = figure.legends
        assert all(axes.get_legend() is None for axes in figure.get_axes())
        left = legend.get_window_extent().x0
        assert all(axes.get_window_extent().x1 <= left for axes in figure.get_axes())
