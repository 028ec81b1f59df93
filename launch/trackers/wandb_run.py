"""`track=wandb`: one Weights & Biases run for one league, however often its tracker dies.

The number of a row is its step, so the server, or the files of an offline run, know how many rows are there.
Curves are plotted over matches and env steps (`define_metric`), not over that number.
"""

import errno
import io
import netrc
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from launch.trackers.readback import rows_in
from launch.trackers.sink import SinkContext, SinkError
from launch.viewers.alarms import Alarm
from launch.viewers.curves import ENV_STEPS, MATCHES, CurveRow
from league.ids import Hash
from league.metrics import CYCLE_STRENGTH, MISFIT, NASH_CONV, NASH_ENTROPY, PROBE_SCORE
from league.standings import PayoffTable
from league.store.snapshots import SnapshotStore

if TYPE_CHECKING:
    import wandb

CLOUD = "https://api.wandb.ai"
INIT_SECONDS = 20.0  # for a server to let a run begin
FINISH_SECONDS = 5.0  # for wandb's process to write the end of its file
SERVICE = "WANDB_SERVICE"  # wandb's process of our parent: it may end before us, and we cannot reset it
ALERT_TITLE = 64  # characters, as W&B allows
ROOM = 1 << 20  # bytes that must be free: on a full disk wandb drops rows silently
LEAGUE = ("league/size", "league/frozen", "league/void", MISFIT, CYCLE_STRENGTH, NASH_ENTROPY, PROBE_SCORE)
PROCESSES = ("losses/*", "charts/*", "lag/*", "wait/*", "queue/*", "system/*", "player/*", "process/*")
AXES = {
    MATCHES: (
        *LEAGUE,
        "elo/*",
        "margin/*",
        "elo_online/*",
        "return/*",
        "over_median/*",
        "score/*",
        "variant/*",
        "payoff/*",
        "lineage",
        "video",
    ),
    ENV_STEPS: (f"{NASH_CONV}/*", *PROCESSES),
}


def has_key(environment: "os._Environ[str] | dict[str, str]") -> bool:
    """Return whether there is a key for the server, in the environment or in netrc."""
    if environment.get("WANDB_API_KEY"):
        return True
    host = urlsplit(environment.get("WANDB_BASE_URL") or CLOUD).hostname or ""
    path = Path(environment.get("NETRC") or Path.home() / ".netrc")
    try:
        return netrc.netrc(str(path)).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False


class WandbRun:
    """A run of W&B: online if there is a key and a server answers, else in files that `wandb sync` sends later."""

    def __init__(self, context: SinkContext) -> None:
        os.environ["WANDB_SILENT"] = "true"
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
        os.environ.pop(SERVICE, None)
        self._context = context
        # wandb makes a folder of its own name in the one that it is given.
        self._folder = context.folder.parent if context.folder.name == "wandb" else context.folder
        self.id = context.id or secrets.token_hex(4)
        self._run: wandb.Run | None = None
        self._notified: set[str] = set()
        self._next, self._mode = 0, ""  # how many rows were handed to wandb, and where they go

    def open(self) -> int:
        """Begin or resume the run; without a server, go on in files."""
        if self.id != self._context.id:
            self._context.keep(self.id)  # first: who dies between the two leaves a name, not a second run
        asked = os.environ.get("WANDB_MODE") or self._context.track.mode
        if asked == "online" and not has_key(os.environ):
            self._offline("there is no key (WANDB_API_KEY, or `wandb login`)")
        elif asked == "online" or (asked == "auto" and has_key(os.environ)):
            try:
                return self._online()
            except SinkError as error:
                self._offline(str(error))
        else:
            self._begin("offline")
        return rows_in(self._folder / "wandb", self.id)

    def _online(self) -> int:
        try:
            run = self._begin("online")
        except SinkError as error:
            if "deleted" not in str(error):
                raise
            old, self.id = self.id, secrets.token_hex(4)
            self._context.notify(f"wandb: somebody deleted the run {old}: all of it is sent again, as {self.id}")
            self._context.keep(self.id)
            run = self._begin("online")
        self._context.notify(f"wandb: {run.url}")
        return int(run.starting_step)

    def _offline(self, why: str) -> None:
        files = self._folder / "wandb" / f"*-{self.id}"
        self._context.notify(f"wandb: {why}; recording offline, send it later with: wandb sync {files}")
        self._begin("offline")

    def _begin(self, mode: str) -> "wandb.Run":
        import wandb

        self._folder.mkdir(parents=True, exist_ok=True)
        self._check_room()
        self._mode = mode
        try:
            self._run = wandb.init(
                project=self._context.track.project,
                entity=self._context.track.entity,
                id=self.id,
                name=self._context.run,
                resume="allow",
                dir=str(self._folder),
                config=self._context.config,
                mode=mode,  # type: ignore[arg-type]
                settings=_settings(wandb),
            )
        except Exception as error:  # wandb raises errors of many kinds; each is reported, none may stop play
            wandb.teardown(exit_code=1)
            raise SinkError(_one_line(error)) from error
        for axis, names in AXES.items():
            self._run.define_metric(axis)
            for name in names:
                self._run.define_metric(name, step_metric=axis)
        return self._run

    def write(self, row: CurveRow) -> None:
        """Log a row; it is sent when the server is ready to take it."""
        assert self._run is not None
        values: dict[str, Any] = {**row.values, MATCHES: row.matches, ENV_STEPS: row.env_steps}
        if row.elapsed is not None:
            values["league/elapsed"] = row.elapsed
        try:
            if row.snapshot is not None and self._context.track.artifacts:
                self._upload(row.frozen or "", row.snapshot)  # first: once the row is there, nobody comes back to it
            self._log(row, values)
        except Exception as error:
            raise SinkError(_one_line(error)) from error
        self._next = row.number + 1

    def _log(self, row: CurveRow, values: dict[str, Any]) -> None:
        assert self._run is not None
        if row.payoff is not None or row.recorded is not None:
            try:
                self._run.log(values | dict(self._media(row)), step=row.number, commit=True)
                return
            except Exception as error:  # tables need rights, and answers, that numbers do not need
                self._notify_once("tables and videos are left out", error)
        self._run.log(values, step=row.number, commit=True)

    def _media(self, row: CurveRow) -> Iterator[tuple[str, Any]]:
        import wandb

        if row.payoff is not None:
            yield from _tables(row, row.payoff)
        if row.recorded is not None and (video := self._context.film(row.recorded)) is not None:
            yield "video", wandb.Video(str(video), caption=f"{row.recorded.title}, match {row.recorded.name}")

    def alert(self, alarm: Alarm) -> None:
        """Send an alarm: W&B shows it with the run, and mails it to who asked for that."""
        assert self._run is not None
        try:
            self._run.alert(title=alarm.what[:ALERT_TITLE], text=f"{alarm.meaning} {alarm.advice}", level="WARN")
        except Exception as error:  # an alarm is not worth a tracker
            self._notify_once("alarms are not sent", error)

    def _upload(self, player: str, snapshot: Hash) -> None:
        import wandb

        assert self._run is not None
        path = SnapshotStore(self._context.snapshots).path(snapshot)
        name = re.sub(r"[^\w.-]", "-", f"{self._context.run}-{player}")
        artifact = wandb.Artifact(name, "snapshot", metadata={"player": player, "snapshot": snapshot})
        try:
            artifact.add_file(str(path))
            self._run.log_artifact(artifact)
        except Exception as error:  # the curves are worth more, and the store has the snapshot
            self._notify_once("snapshots are not uploaded", error)

    def _notify_once(self, what: str, error: Exception) -> None:
        if what not in self._notified:
            self._notified.add(what)
            self._context.notify(f"wandb: {what}: {_one_line(error)}")

    def flush(self) -> None:
        """Check that there is room: wandb's own process has what was logged, and its files show how much arrived."""
        self._check_room()

    def _check_room(self) -> None:
        if shutil.disk_usage(self._folder).free < ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))

    def close(self) -> None:
        """Finish the run: sends what is left. Raise SinkError if not all of it is in the files of an offline run."""
        if self._run is None:
            return
        self._run.finish()
        deadline = time.monotonic() + FINISH_SECONDS
        while self._mode == "offline" and (have := rows_in(self._folder / "wandb", self.id)) < self._next:
            if time.monotonic() > deadline:
                raise SinkError(f"only {have} of {self._next} rows are in {self._folder}: was the disk full?")
            time.sleep(0.1)


def _settings(wandb: Any) -> Any:
    """Return settings for a quiet run; names that are private to wandb are set only if it has them."""
    wanted = {
        "console": "off",
        "silent": True,
        "init_timeout": INIT_SECONDS,
        "disable_git": True,
        "disable_code": True,
        "x_disable_stats": True,
        "x_disable_meta": True,
        "x_transaction_log_flush_interval": 0.2,
        "x_graphql_timeout_seconds": INIT_SECONDS / 2,
        "x_graphql_retry_max": 2,
    }
    return wandb.Settings(**{name: value for name, value in wanted.items() if name in wandb.Settings.model_fields})


def _tables(row: CurveRow, payoff: PayoffTable) -> Iterator[tuple[str, Any]]:
    """Yield the payoff as table and picture, and the family tree."""
    import wandb
    from PIL import Image

    from launch.viewers.drawing import payoff_png

    lines = zip(payoff.players, payoff.cells, strict=True)
    cells = [[player, *(None if cell is None else cell.score for cell in line)] for player, line in lines]
    yield "payoff/table", wandb.Table(columns=["player", *payoff.players], data=cells)
    yield "payoff/heatmap", wandb.Image(Image.open(io.BytesIO(payoff_png(payoff)[0])))
    family = [[a.player, a.kind, a.parent, a.snapshot] for a in row.lineage]
    yield "lineage", wandb.Table(columns=["player", "kind", "parent", "snapshot"], data=family)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
