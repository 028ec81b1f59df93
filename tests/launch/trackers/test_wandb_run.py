"""With wandb's own client: offline with its files read back, online against a server on loopback, and in trouble."""

import hashlib
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_wandb import served
from wandb.proto import wandb_internal_pb2

from launch.config.config import stored, to_plain
from launch.matches.filming import Films
from launch.trackers.readback import history, records, rows_in
from launch.trackers.tracker import sink_context
from launch.trackers.wandb_run import WandbRun, has_key
from launch.viewers.alarms import Alarm

ROOT = Path(__file__).parents[3]
KEY = "0" * 40

# A process of its own, as a tracker is: it writes rows FIRST to LAST of a run, and may die in the end.
WRITER = """
import json, os, sys, time
from pathlib import Path
from types import SimpleNamespace
from launch.matches.filming import Films
from launch.config.config import stored
from launch.viewers.curves import Curves
from launch.trackers.readback import rows_in
from launch.trackers.make_sink import make_sink
from launch.trackers.tracker import sink_context
from launch.viewers.view import read_offline
from league.store.run_directory import RunDirectory

run, last, end = RunDirectory(Path(sys.argv[1])), int(sys.argv[2]), sys.argv[3]
config, rows = stored(run), []
config.track.project = "test"
curves = Curves(config.track, rows.append)
read_offline(run, watcher=curves)
sink = make_sink("wandb", sink_context(config, run, run.track / "wandb", print, Films(run), "old"))
began = time.monotonic()
have = sink.open()
opened = time.monotonic() - began
for row in rows[:last]:
    if row.number >= have:
        sink.write(row)
wrote = time.monotonic() - began - opened
print(json.dumps({"have": have, "id": sink.id, "rows": len(rows), "opened": opened, "wrote": wrote}), flush=True)
if end == "die":
    while os.environ.get("WANDB_MODE") == "offline" and rows_in(run.track / "wandb", "old") < last:
        time.sleep(0.1)
    os._exit(9)
if end == "close":
    sink.close()
"""


def write(run, last=1000, end="close", **environment):
    """Run a writer; return its last line and the lines before, which are for the user."""
    quiet = {k: v for k, v in os.environ.items() if not k.startswith("WANDB")}
    place = {"PYTHONPATH": str(ROOT), "HOME": str(run.root), "WANDB__SERVICE_WAIT": "30"}
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(run.root), str(last), end],
        env={**quiet, **place, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout.endswith("}\n"), done.stdout + done.stderr
    *told, answer = done.stdout.splitlines()
    return json.loads(answer), told


def online(server):
    return {"WANDB_BASE_URL": server.url, "WANDB_API_KEY": KEY}


def alive(run):
    """Return the processes that a writer started, and whoever these started."""
    home, found = f"HOME={run.root}".encode(), []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if home in entry.read_bytes().split(b"\0"):
                found.append(entry.parent.name)
    return found


def steps(run, id="old"):
    files = sorted((run.track / "wandb").glob(f"*-{id}/run-{id}.wandb"))
    return [row["_step"] for path in files for row in history(path)]


@pytest.mark.slow
def test_offline_without_a_key_and_read_back(drawn, rows_of):
    answer, told = write(drawn)
    assert told == [], "no key is no trouble: offline is the default then"
    assert answer["have"] == 0
    rows = rows_of(drawn)
    assert steps(drawn) == [row.number for row in rows]
    (path,) = (drawn.track / "wandb").glob("offline-run-*/run-old.wandb")
    for row, read in zip(rows, history(path), strict=True):
        assert {name: read[name] for name in row.values} == pytest.approx(row.values)
        assert (read["league/matches"], read["league/env_steps"]) == (row.matches, row.env_steps)
    tables = [read for read in history(path) if "payoff/table/_type" in read]
    assert [read["_step"] for read in tables] == [row.number for row in rows if row.payoff is not None] != []
    assert {read["payoff/table/_type"] for read in tables} == {"table-file"}
    assert {read["payoff/heatmap/_type"] for read in tables} == {"image-file"}
    assert rows_in(drawn.track / "wandb", "old") == len(rows)


def axes(path):
    """Return over what each curve is drawn, by its name or, with a star, by what its name begins with."""
    told = [wandb_internal_pb2.Record.FromString(body) for body in records(path)]
    metrics = [record.metric for record in told if record.WhichOneof("record_type") == "metric"]
    return {metric.name or metric.glob_name: metric.step_metric for metric in metrics if metric.step_metric}


def documented():
    """Yield the name of each curve, and over what the docs say that it is drawn."""
    for line in (ROOT / "docs/tracking.md").read_text().splitlines():
        if row := re.match(r"\| (.+?) \| (matches|env steps) \|", line):
            names = re.findall(r"`([\w/]+)`", row[1])
            for name in [name for name in names if "/" in name[1:] or name in ("video", "lineage")]:
                yield name, f"league/{row[2].replace(' ', '_')}"


@pytest.mark.slow
def test_every_curve_is_drawn_over_the_axis_that_the_docs_name(drawn):
    write(drawn, last=1)
    (path,) = (drawn.track / "wandb").glob("offline-run-*/run-old.wandb")
    over, wanted = axes(path), dict(documented())
    assert {"elo/PLAYER", "lineage", "video", "charts/SPS", "lag/mean", "wait/PROCESS"} < set(wanted)
    assert {"charts/episodic_return/PLAYER", "charts/episodic_length"} < set(wanted)
    for name, axis in wanted.items():
        assert {over[star] for star in over if fnmatchcase(name, star)} == {axis}, name


@pytest.mark.slow
def test_a_torn_file_is_read_up_to_the_tear(tmp_path, drawn):
    write(drawn, last=8)
    (path,) = (drawn.track / "wandb").glob("offline-run-*/run-old.wandb")
    data, whole = path.read_bytes(), len(list(records(path)))
    for cut in (3, 100, len(data) // 2):
        path.write_bytes(data[:-cut])
        assert 0 < len(list(records(path))) < whole
    path.write_bytes(data[:200] + bytes([data[200] ^ 1]) + data[201:])
    assert len(list(records(path))) < whole
    path.write_bytes(b"")
    assert list(records(path)) == []


def test_has_key(tmp_path):
    netrc = tmp_path / "netrc"
    assert not has_key({"NETRC": str(netrc)})
    assert has_key({"WANDB_API_KEY": KEY, "NETRC": str(netrc)})
    netrc.write_text(f"machine api.wandb.ai login user password {KEY}\n")
    assert has_key({"NETRC": str(netrc)})
    assert not has_key({"NETRC": str(netrc), "WANDB_BASE_URL": "http://elsewhere:1"})


@pytest.mark.slow
def test_offline_killed_in_the_middle_every_row_once(drawn):
    first, _ = write(drawn, last=6, end="die", WANDB_MODE="offline")
    second, _ = write(drawn, last=9, end="die", WANDB_MODE="offline")
    third, _ = write(drawn)
    assert (first["have"], third["have"]) == (0, 9)
    assert second["have"] == 6
    assert sorted(steps(drawn)) == list(range(third["rows"]))


@pytest.mark.slow
def test_online_and_resumed_every_row_once(drawn, rows_of, patiently):
    with served() as server:
        _, told = write(drawn, last=7, **online(server))
        assert [line for line in told if "wandb: http" not in line] == []
        assert [row["_step"] for row in server.rows("old")] == list(range(7))
        second, _ = write(drawn, last=10, end="die", **online(server))
        assert second["have"] == 7, "the server tells how many rows it has"
        patiently(lambda: not alive(drawn), 60, "the end of the client's helper, which may still be sending")
        third, _ = write(drawn, **online(server))
        assert third["have"] == len(range(third["have"])) >= 7
        rows = rows_of(drawn)
        assert [row["_step"] for row in server.rows("old")] == [row.number for row in rows]
        for row, read in zip(rows, server.rows("old"), strict=True):
            assert read["league/matches"] == row.matches
        episodic = [row for row in server.rows("old") if "charts/episodic_return/main" in row]
        assert len(episodic) >= 10
        assert all("charts/episodic_length" in row for row in episodic[-3:])
        assert sum("charts/win_rate/main_v_random" in row for row in episodic) >= 3, "new candidates have no games yet"
        assert server.configs["old"]["env"]["value"]["name"] == "tic_tac_toe"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "words"), [("key", "not logged in"), ("rights", "permission denied"), ("hang", "")], ids=str
)
def test_a_server_in_trouble_is_told_in_one_line_and_nothing_is_lost(drawn, fault, words):
    with served(fault) as server:
        answer, told = write(drawn, **online(server))
        assert len(told) == 1
        assert words in told[0] or "401" in told[0] or "403" in told[0]
        assert "recording offline" in told[0]
        assert "wandb sync" in told[0]
        assert steps(drawn) == list(range(answer["rows"]))
        assert answer["wrote"] < 10


@pytest.mark.slow
def test_a_run_that_somebody_deleted_is_sent_again_under_another_id(drawn):
    with served("deleted") as server:
        answer, told = write(drawn, **online(server))
        assert server.refused
        assert "somebody deleted the run old" in told[0]
        assert answer["id"] != "old"
        assert [row["_step"] for row in server.rows(answer["id"])] == list(range(answer["rows"]))


@pytest.mark.slow
def test_an_export_goes_on_with_its_run_and_sends_every_row_once(drawn, rows_of):
    def export():
        quiet = {k: v for k, v in os.environ.items() if not k.startswith("WANDB")}
        place = {"PYTHONPATH": str(ROOT), "HOME": str(drawn.root), "WANDB__SERVICE_WAIT": "30"}
        command = [sys.executable, "-m", "launch", "export", str(drawn.root), "--to", "wandb"]
        subprocess.run(command, env={**quiet, **place, **online(server)}, capture_output=True, timeout=100, check=True)

    with served() as server:
        export()
        export()
        (id,) = server.history
        assert [row["_step"] for row in server.rows(id)] == [row.number for row in rows_of(drawn)]


@pytest.mark.slow
def test_online_without_a_key_is_told_in_one_line_and_recorded_offline(drawn):
    config = stored(drawn)
    config.track.mode = "online"
    drawn.write_config(to_plain(config))
    answer, told = write(drawn)
    assert len(told) == 1
    assert told[0].startswith("wandb: there is no key (WANDB_API_KEY, or `wandb login`); recording offline, send it")
    assert steps(drawn) == list(range(answer["rows"]))


def ask_for_more(run):
    config = stored(run)
    config.track.videos, config.track.artifacts = 20, True
    run.write_config(to_plain(config))


@pytest.mark.slow
def test_videos_and_snapshots_reach_the_server_if_they_are_asked_for(drawn, rows_of, state):
    ask_for_more(drawn)
    with served() as server:
        answer, told = write(drawn, **online(server))
        assert [line for line in told if "wandb: http" not in line] == []
        for player in state.population.frozen():
            assert server.artifacts[f"first-{player.id}"] == {"player": player.id, "snapshot": player.snapshot}
            path = f"/up/first-{player.id}/{player.snapshot}.safetensors"
            assert hashlib.sha256(server.files[path]).hexdigest() == player.snapshot
        recordings = [row for row in rows_of(drawn) if row.recorded is not None]
        videos = [row["video"] for row in server.rows("old") if "video" in row]
        assert [video["caption"] for video in videos] == [
            f"{row.recorded.title}, match {row.recorded.name}" for row in recordings
        ]
        assert all(server.files[f"/up/{video['path']}"].startswith(b"GIF8") for video in videos)
        assert len(server.rows("old")) == answer["rows"]


class Refusing:
    """A run of W&B that takes numbers, but neither artifacts nor tables."""

    def __init__(self):
        self.steps = []

    def log(self, values, step, commit):
        if any(not isinstance(value, int | float) for value in values.values()):
            raise PermissionError("permission denied")
        self.steps.append(step)

    def log_artifact(self, artifact):
        raise PermissionError("permission denied")


def test_a_server_that_takes_no_artifacts_is_told_once_and_gets_the_numbers(drawn, rows_of, tmp_path):
    config, told, rows = stored(drawn), [], rows_of(drawn)
    config.track.artifacts = True
    sink = WandbRun(sink_context(config, drawn, tmp_path, told.append, Films(drawn)))
    sink._run = Refusing()
    for row in rows:
        sink.write(row)
    assert told == [
        "wandb: snapshots are not uploaded: permission denied",
        "wandb: tables and videos are left out: permission denied",
    ]
    assert sink._run.steps == [row.number for row in rows]


def test_an_alarm_is_an_alert_and_one_that_cannot_be_sent_is_reported_once(run):
    sent, told = [], []
    sink = WandbRun(sink_context(stored(run), run, run.track / "wandb", told.append, Films(run)))
    alarm = Alarm(name="void", what="2 tickets are void" + " again" * 20, meaning="They failed.", advice="Look.")
    sink._run = SimpleNamespace(alert=lambda **fields: sent.append(fields))
    sink.alert(alarm)
    assert sent == [{"title": alarm.what[:64], "text": "They failed. Look.", "level": "WARN"}]

    def refuse(**_):
        raise OSError("no route")

    sink._run = SimpleNamespace(alert=refuse)
    sink.alert(alarm)
    sink.alert(alarm)
    assert told == ["wandb: alarms are not sent: no route"]
