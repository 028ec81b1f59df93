"""One recorded episode, position by position: what stood on the board, what each player considered, what it expected.

    python -m launch.dashboard.match_replay < order.json > answer.json

The game is played again in a process of its own: an environment may hang or crash, and the dashboard does not. Action
probabilities and values are recomputed from the snapshots that played.
"""

import base64
import io
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, Environment, HasPicture, IntArray, Rows
from collectors.episode import Frame, Frames, difference, replay
from launch.config.config import stored
from launch.dashboard.board_view import board_of
from launch.dashboard.considering import Considering
from launch.matches.match import PICTURE, TEXT, describe_entry, describe_outcome, open_environment
from launch.matches.recording import Picture
from launch.spawn.child import child_process, wait_for
from launch.spawn.interpreter import environment, prepare_child, python
from launch.viewers.view import ViewError
from league.spec import EnvSpec
from league.store.run_directory import RunDirectory
from league.ticket import Episode, Ticket, seating

MOST_POSITIONS = 1000  # of an episode that are shown
MOST_PICTURES = 200  # of an episode that are sent, each of so many pixels at most:
LARGEST = 360
REPLAY_SECONDS = 60.0  # for a game to be played again


class ReplayOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed to play an episode again."""

    run: str
    ticket: Ticket
    attempt: int
    episode: int
    recorded: Episode
    seed: int  # of the run
    allow: tuple[str, ...] = ()


def replay_apart(order: ReplayOrder) -> bytes:
    """Return the answer of `replay_json` from a process of its own; raise ViewError with its last line if it fails."""
    deadline = time.monotonic() + REPLAY_SECONDS
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answered, tempfile.TemporaryFile() as errors:
        asked.write(msgspec.json.encode(order))
        asked.seek(0)
        command = python("launch.dashboard.match_replay")
        with child_process(command, stdin=asked, stdout=answered, stderr=errors, env=environment()) as child:
            why = wait_for(child, lambda: "it takes too long" if time.monotonic() > deadline else "")
        if why or child.returncode:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            raise ViewError(f"this episode cannot be played again: {why or (lines or ['it crashed'])[-1]}")
        answered.seek(0)
        return answered.read()


class LookedAt:
    """An environment of one slot that remembers the last rows that it returned."""

    def __init__(self, env: Environment) -> None:
        self.spec: EnvSpec = env.spec
        self.slots = env.slots
        self._env = env
        self.last: Rows | None = None

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode."""
        self._env.start(slots, seeds)

    def rows(self) -> Rows:
        """Return the rows of the environment."""
        self.last = self._env.rows()
        return self.last

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take the actions."""
        return self._env.step(actions)

    def render(self, slot: int) -> str:
        """Return the position as text."""
        return self._env.render(slot)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def replay_json(order: ReplayOrder) -> dict[str, Any]:
    """Play an episode again.

    players: of each seat, with agents and who played; positions: each with text, board (rows of cells, or null),
    picture (or null), moves (that led to it) and decisions (in it: agent, player, legal, probabilities, value, why
    there are none); outcome: in words; wrong: how it differs from the record, empty if it does not.
    """
    run = RunDirectory(Path(order.run))
    config, ticket = stored(run), order.ticket
    with closing(open_environment(config.env, order.allow, (PICTURE, TEXT))) as env:
        looked, considering = LookedAt(env), Considering(run, env.spec, ticket, order.episode, order.allow)
        frames = replay(looked, ticket, order.attempt, order.episode, order.recorded.actions, order.seed)
        positions, outcome = _positions(env, looked, considering, frames, ticket)
        spec = env.spec
    return {
        "match": f"{ticket.number}.{order.episode}",
        "purpose": ticket.purpose.value,
        "players": _players(spec, ticket, order.episode),
        "positions": positions,
        "outcome": describe_outcome(ticket, outcome, spec.cooperative).strip(),
        "wrong": difference(order.recorded, outcome),
    }


def _players(spec: EnvSpec, ticket: Ticket, episode: int) -> list[dict[str, Any]]:
    seats = enumerate(seating(spec.roles, episode, spec.sides))
    return [
        {
            "agents": [spec.agents[agent] for agent in spec.seats[seat].agents],
            "player": ticket.entries[entry].player,
            "text": describe_entry(ticket.entries[entry]),
        }
        for seat, entry in seats
    ]


def _positions(
    env: Environment, looked: LookedAt, considering: Considering, frames: Frames, ticket: Ticket
) -> tuple[list[dict[str, Any]], Episode]:
    """Play to the end. The rows of a position are known when the next one is there."""
    positions: list[dict[str, Any]] = []
    while True:
        try:
            frame = next(frames)
        except StopIteration as stop:
            return positions, stop.value
        if positions and looked.last is not None:
            decisions = considering.decisions(looked.last, [move.action for move in frame.moves])
            if len(positions) <= MOST_POSITIONS:
                positions[-1]["decisions"] = decisions
        if len(positions) < MOST_POSITIONS:
            pictured = len(positions) < MOST_PICTURES
            positions.append(_position(env.spec, frame, ticket, _picture(env) if pictured else None))


def _position(spec: EnvSpec, frame: Frame, ticket: Ticket, picture: str | None) -> dict[str, Any]:
    moves = [
        {"agent": spec.agents[move.agent], "player": ticket.entries[move.entry].player, "action": move.action}
        for move in frame.moves
    ]
    return {"text": frame.text, "board": board_of(frame.text), "picture": picture, "moves": moves, "decisions": []}


def _picture(env: Environment) -> str | None:
    """Return the position as a PNG in an address of its own; None if the environment draws nothing."""
    found = env.picture(0) if isinstance(env, HasPicture) else None
    if found is None:
        return None
    return f"data:image/png;base64,{base64.b64encode(_png(np.asarray(found, np.uint8))).decode()}"


def _png(picture: Picture) -> bytes:
    from PIL import Image

    image = Image.fromarray(picture[..., :3])
    image.thumbnail((LARGEST, LARGEST))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def main() -> None:
    """Read an order from standard input, and write the answer to standard output."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=ReplayOrder)
    prepare_child(order.allow)
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # an environment may print
    try:
        answer = msgspec.json.encode(replay_json(order))
    except Exception as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    with suppress(BrokenPipeError):
        out.write(answer)
        out.flush()


if __name__ == "__main__":
    main()
