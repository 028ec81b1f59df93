"""Videos of evaluation episodes for trackers: an episode that the ledger recorded is played again, and drawn.

    films = Films(run, allow, say)
    path = films.make(scene)                # runs/first/videos/match-812.0.gif; None if it cannot be drawn

The environment draws in a process of its own, `python -m launch.matches.filming`: there it may hang or crash, and
only the video is lost. What was drawn once, for whatever tracker, is not drawn again.
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

from launch.spawn.exit_code import describe_exit
from launch.spawn.interpreter import environment, prepare_child, python
from launch.viewers.curves import Scene
from league.store.run_directory import RunDirectory

log = logging.getLogger("ludus.filming")

PATIENCE = 120.0  # seconds that an episode may take to be drawn
LOOK = 0.05  # seconds between two looks whether it is
STOPPED = "the tracker had to stop before it was drawn; ludus export makes it"


class Films:
    """Makes the videos of one run; says once why one cannot be made."""

    def __init__(
        self,
        run: RunDirectory,
        allow: Collection[str] = (),
        say: Callable[[str], None] = log.warning,
        stopped: Callable[[], bool] = lambda: False,
        patience: float = PATIENCE,
    ) -> None:
        self._run, self._allow, self._say, self._stopped, self._patience = run, allow, say, stopped, patience
        self._said = False

    def make(self, scene: Scene) -> Path | None:
        """Return the video of a scene, made now if it is not there yet; None if it cannot be made, or not in time."""
        path = self._run.videos / f"match-{scene.name}.gif"
        if path.exists():
            return path
        try:
            why = self._draw(scene, path)
        except OSError as error:
            why = str(error) or type(error).__name__
        if path.exists():
            return path
        log.warning("no video of match %s: %s", scene.name, why)
        if why != STOPPED and not self._said:
            self._said = True
            self._say(f"videos are left out, the match {scene.name} cannot be drawn: {why}")
        return None

    def _draw(self, scene: Scene, path: Path) -> str:
        """Draw in a process of its own; return what went wrong, STOPPED if it only was time to stop."""
        if self._stopped():
            return STOPPED
        path.parent.mkdir(parents=True, exist_ok=True)
        command = python("launch.matches.filming", "--run", str(self._run.root.resolve()), "--out", str(path))
        command += [word for package in self._allow for word in ("--allow", package)]
        with tempfile.TemporaryFile() as order, tempfile.TemporaryFile() as told:
            order.write(msgspec.json.encode(scene))
            order.seek(0)
            child = subprocess.Popen(command, stdin=order, stdout=subprocess.DEVNULL, stderr=told, env=environment())
            try:
                late = self._wait(child)
            finally:
                child.kill()
                child.wait()
            told.seek(0)
            lines = told.read().decode(errors="replace").strip().splitlines()
        return late if late is not None else lines[-1] if lines else describe_exit(child.returncode)

    def _wait(self, child: subprocess.Popen[bytes]) -> str | None:
        """Wait for the end; None if it came, else why nobody waits any longer."""
        deadline = time.monotonic() + self._patience
        while child.poll() is None:
            if self._stopped():
                return STOPPED
            if time.monotonic() > deadline:
                return f"it took longer than {self._patience:g} s"
            time.sleep(LOOK)
        return None


def main(argv: Sequence[str] | None = None) -> None:
    """Draw the scene on standard input."""
    parser = argparse.ArgumentParser(prog="python -m launch.matches.filming")
    parser.add_argument("--run", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--allow", action="append", default=[])
    arguments = parser.parse_args(argv)
    prepare_child(arguments.allow)
    from launch.matches.recording import draw_scene

    scene = msgspec.json.decode(sys.stdin.buffer.read(), type=Scene)
    draw_scene(RunDirectory(arguments.run).check(), scene, arguments.out, arguments.allow)


if __name__ == "__main__":
    main()
