import os
import shutil

import msgspec
import pytest

from launch.dashboard import dashboard_runs
from launch.dashboard.dashboard_runs import Runs
from launch.viewers.listing import run_json
from launch.viewers.view import ViewError


def test_runs_of_a_folder_are_found_also_those_that_begin_later(played, tmp_path):
    runs = Runs(folder=tmp_path)
    assert runs.cards() == []
    shutil.copytree(played[0].root, tmp_path / "second")
    assert [card["name"] for card in runs.cards()] == ["second"]
    assert runs.run("second").root == tmp_path / "second"


@pytest.mark.parametrize("name", ["", "..", "second/../second", "/etc", "nothing"])
def test_only_names_of_the_folder_lead_anywhere(played, tmp_path, name):
    shutil.copytree(played[0].root, tmp_path / "second")
    with pytest.raises(ViewError, match="there are: second"):
        Runs(folder=tmp_path).run(name)


def test_a_run_that_has_not_changed_is_not_read_again(run, tmp_path, monkeypatch):
    monkeypatch.setattr(dashboard_runs, "CARD_SECONDS", 0.0)
    monkeypatch.setattr(dashboard_runs, "CARD_FACTOR", 0.0)
    runs = Runs(folder=tmp_path)
    read = []
    monkeypatch.setattr(dashboard_runs, "run_json", lambda run: read.append(run) or run_json(run))
    (first,) = runs.cards()
    (again,) = runs.cards()
    assert len(read) == 1
    assert again["age"] > first["age"]
    run.config.write_text(run.config.read_text() + "\n")
    runs.cards()
    assert len(read) == 2


def test_a_directory_whose_name_is_not_text_hides_no_other(run, tmp_path):
    strange = os.fsdecode(b"x\xff")
    shutil.copytree(run.root, tmp_path / strange)
    names = {card["name"] for card in Runs(folder=tmp_path).cards()}
    assert names == {run.name, "x?"}
    assert msgspec.json.encode(sorted(names))


def test_a_run_that_was_deleted_and_begun_again_is_followed_from_its_start(run, tmp_path):
    runs = Runs(folder=tmp_path)
    feed, past = runs.feed(run.name), runs.history(run.name)
    assert runs.feed(run.name) is feed
    kept = tmp_path / "kept"
    run.ledger.rename(kept)  # so that its number is not given to the next file
    assert runs.feed(run.name) is feed
    shutil.copy(kept, run.ledger)
    assert runs.feed(run.name) is not feed
    assert feed.closed
    assert runs.history(run.name) is not past
    runs.close()


def test_a_run_that_cannot_be_read_is_a_card_with_its_reason(run, tmp_path):
    run.layout.write_text("99\n")
    (card,) = Runs(folder=tmp_path).cards()
    assert card["state"] == "unreadable"
    assert "layout version" in card["why"]


def test_all_visitors_share_one_feed(runs):
    assert runs.feed("first") is runs.feed("first")
    assert runs.history("first") is runs.history("first")


def test_the_past_is_read_after_the_newest_state(played, patiently):
    runs = Runs(only=played[0])
    history, feed = runs.history("first"), runs.feed("first")
    history.look()
    patiently(lambda: history.complete, 60, "the end of the past")
    assert feed.settled()
    assert all(row["rating"] is not None for row in feed.rows.since(0) if row["games"])
    runs.close()
