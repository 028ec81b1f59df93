"""Videos of evaluation episodes for trackers: an episode that the ledger recorded is played again, and rendered.

    films = Films(run, allow, notify)
    path = films.make(recorded)                # runs/first/videos/match-812.0.gif; None if it cannot be rendered

The environment renders in a process of its own, `python -m launch.matches.filming`: there it may hang or crash, and
only the video is lost. A video is made once for all trackers.
"""

import argparse
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import msgspec

from launch.spawn.child import child_process, wait_for
from launch.spawn.exit_code import describe_exit
from launch.spawn.interpreter import environment, prepare_child, python
from launch.viewers.curves import RecordedEpisode
from league.store.run_directory import RunDirectory

log = logging.getLogger("ludus.filming")

RENDER_SECONDS = 120.0  # that rendering one episode may take
STOPPED = "the tracker had to stop before it was rendered; ludus export makes it"


class Films:
    """Makes the videos of one run; notifies once why one cannot be made."""

    def __init__(
        self,
        run: RunDirectory,
        allow: Collection[str] = (),
        notify: Callable[[str], None] = log.warning,
        stopped: Callable[[], bool] = lambda: False,
        seconds: float = RENDER_SECONDS,
    ) -> None:
        self._run, self._allow, self._notify, self._stopped, self._seconds = run, allow, notify, stopped, seconds
        self._notified = False

    def make(self, recorded: RecordedEpisode) -> Path | None:
        """Return the video of an episode, made now if it does not exist; None if it cannot be made, or not in time."""
        path = self._run.videos / f"match-{recorded.name}.gif"
        if path.exists():
            return path
        try:
            why = self._render(recorded, path)
        except OSError as error:
            why = str(error) or type(error).__name__
        if path.exists():
            return path
        log.warning("no video of match %s: %s", recorded.name, why)
        if why != STOPPED and not self._notified:
            self._notified = True
            self._notify(f"videos are left out, the match {recorded.name} cannot be rendered: {why}")
        return None

    def _render(self, recorded: RecordedEpisode, path: Path) -> str:
        """Render in a process of its own; return what went wrong, STOPPED if it was time to stop."""
        if self._stopped():
            return STOPPED
        path.parent.mkdir(parents=True, exist_ok=True)
        command = python("launch.matches.filming", "--run", str(self._run.root.resolve()), "--out", str(path))
        command += [word for package in self._allow for word in ("--allow", package)]
        with tempfile.TemporaryFile() as order, tempfile.TemporaryFile() as errors:
            order.write(msgspec.json.encode(recorded))
            order.seek(0)
            nothing = subprocess.DEVNULL
            with child_process(command, stdin=order, stdout=nothing, stderr=errors, env=environment()) as child:
                late = wait_for(child, self._deadline())
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
        return late or (lines[-1] if lines else describe_exit(child.returncode))

    def _deadline(self) -> Callable[[], str]:
        """Return a function that returns why a video is not waited for any longer; empty as long as it is."""
        deadline = time.monotonic() + self._seconds

        def give_up() -> str:
            if self._stopped():
                return STOPPED
            return f"it took longer than {self._seconds:g} s" if time.monotonic() > deadline else ""

        return give_up


def main(argv: Sequence[str] | None = None) -> None:
    """Render the episode on standard input."""
    parser = argparse.ArgumentParser(prog="python -m launch.matches.filming")
    parser.add_argument("--run", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--allow", action="append", default=[])
    arguments = parser.parse_args(argv)
    prepare_child(arguments.allow)
    from launch.matches.recording import render_recorded

    recorded = msgspec.json.decode(sys.stdin.buffer.read(), type=RecordedEpisode)
    render_recorded(RunDirectory(arguments.run).check(), recorded, arguments.out, arguments.allow)


if __name__ == "__main__":
    main()
