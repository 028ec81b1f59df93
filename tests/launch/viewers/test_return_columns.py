"""Mean return with its interval and value over replacement, in every place that shows standings: known answers."""

from xml.etree import ElementTree

import pytest
from hunting import MEAN_OF_TIGER_A, SKILL, folded, hunt_events
from rich.console import Console

from launch.config.config import Config, to_plain
from launch.config.track import TrackConfig
from launch.viewers.curves import Curves
from launch.viewers.payoff_matrix import payoff_json
from launch.viewers.reporting import page, read_story
from launch.viewers.tables import standings_json, standings_table
from launch.viewers.view import read_offline
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory

OVER = {name: SKILL[name] for name in ("tiger_a", "tiger_b", "deer_a", "deer_b")}


@pytest.fixture
def hunt(tmp_path):
    """Return the run of a hunt, read from its ledger as every viewer reads it."""
    run = RunDirectory(tmp_path / "hunt").create()
    run.write_config(to_plain(Config(name="hunt")))
    with Ledger.open(run.ledger) as ledger:
        ledger.commit(hunt_events())
    return run


def test_standings_have_them(hunt):
    state = read_offline(hunt).state
    rows = {row["player"]: row for row in standings_json(state)}
    assert rows["tiger_a"]["returns"]["tiger"]["mean"]["mean"] == pytest.approx(MEAN_OF_TIGER_A)
    over = {name: next(iter(rows[name]["returns"].values()))["over"] for name in OVER}
    assert {name: one["mean"] for name, one in over.items()} == pytest.approx(OVER, abs=1e-9)
    assert all(one["low"] < OVER[name] < one["high"] for name, one in over.items())
    console = Console(width=120)
    with console.capture() as shown:
        console.print(standings_table(state))
    line = next(line for line in shown.get().splitlines() if "tiger_a" in line)
    assert "51.67 ±0.41" in line
    assert "2.00 ±0.3" in line


def test_the_payoff_has_them(hunt):
    evaluate = payoff_json(read_offline(hunt).state)["evaluate"]
    tiger = evaluate["roles"]["tiger_a"]["tiger"]
    assert tiger["mean"]["mean"] == pytest.approx(MEAN_OF_TIGER_A)
    assert tiger["over"]["mean"] == pytest.approx(2.0)
    assert tiger["over"]["low"] < 2.0 < tiger["over"]["high"]
    row, column = map(evaluate["players"].index, ("tiger_a", "deer_b"))
    met = evaluate["cells"][row][column]["returned"]
    assert met["mean"] == pytest.approx(50 + 2 + 2)
    assert met["low"] < 54 < met["high"]
    assert "roles" not in payoff_json(folded(hunt_events()))["train"]


def test_the_report_has_them(hunt):
    text = "\n".join(page(read_story(hunt), {}, hunt))
    table = next(ElementTree.fromstring(text.partition("\n")[2]).iter("table"))
    heads, *rows = [[cell.text for cell in row] for row in table.iter("tr")]
    cells = {row[1]: dict(zip(heads, row, strict=True)) for row in rows}
    assert cells["tiger_a"]["mean return"] == "51.67 ±0.41"
    assert cells["tiger_a"]["over median"] == "2.00 ±0.3"
    assert cells["deer_b"]["over median"] == "-2.00 ±0.3"
    assert cells["random"]["over median"] == "tiger 0.00 ±0, deer 0.00 ±0"


def test_trackers_have_them(hunt):
    rows = []
    read_offline(hunt, watcher=Curves(TrackConfig(every=1), rows.append))
    last = [row.values for row in rows if "return/tiger_a" in row.values][-1]
    assert last["return/tiger_a"] == pytest.approx(MEAN_OF_TIGER_A)
    assert last["return/tiger_a_low"] < MEAN_OF_TIGER_A < last["return/tiger_a_high"]
    assert {name: last[f"over_median/{name}"] for name in OVER} == pytest.approx(OVER, abs=1e-9)
    assert last["over_median/tiger_a_low"] < 2.0 < last["over_median/tiger_a_high"]
    assert last["over_median/random_as_deer"] == pytest.approx(0.0, abs=1e-9)
