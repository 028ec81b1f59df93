"""All slots: begins, steps and drops their games, and says which of them failed."""

from __future__ import annotations

import json
import os
import traceback
from typing import Any, Callable, Iterator

import numpy as np

from .errors import BrokenError, message_of, show
from .games import Together, Turns, is_parallel
from .rows import Place, Table
from .spaces import Plain

LARGEST_INFO, LARGEST_ARRAY, LARGEST_SHOWN = 1 << 16, 1000, 100


class FarGames:
    """The games of all slots."""

    def __init__(self, build: Callable[[], Any], first: Any, order: Plain, memory: Any) -> None:
        self.build, self.spare, self.fresh, self.most = build, first, order["fresh"], order["max_steps"]
        self.table = Table(first, order, memory)
        self.steps: dict[int, int] = {}  # of each slot's episode
        self.games: dict[int, Any] = {}
        self.game = Together if is_parallel(first) else Turns

    def start(self, slots: list[int], seeds: list[int], drop: list[int]) -> Plain:
        """Begin episodes; return the slots that failed, with reasons."""
        for slot in drop:
            self.drop(slot)
        faults = {}
        for slot, seed in zip(slots, seeds):
            try:
                game = self.at(slot)
                game.begin(seed)
                game.look()
                self.steps[slot] = 0
            except (Exception, SystemExit) as error:
                faults[slot] = reason("reset", error)
                self.drop(slot)
        return {"faults": faults}

    def step(self) -> Plain:
        """Take the actions of all agents that move; return slots that failed, and infos of slots that are over."""
        table, faults = self.table, {}
        moved = []
        slots, agents = np.nonzero(table.moving)
        actions = table.action[slots, agents].tolist()
        for slot, numbers, chosen in by_slot(slots.tolist(), agents.tolist(), actions):
            try:
                self.games[slot].act(numbers, chosen)
                moved.append(slot)
            except (Exception, SystemExit) as error:
                faults[slot] = reason("step", error)
        for slot in moved:
            try:
                self.games[slot].look()
                self.cut(slot)
            except (Exception, SystemExit) as error:
                faults[slot] = reason("step", error)
        over = [slot for slot in np.flatnonzero(table.over).tolist() if slot not in faults]
        infos: dict[int, Plain] = {}
        for slot in over:
            try:
                infos.update(self.infos(slot))
            except (Exception, SystemExit) as error:
                faults[slot] = reason("infos", error)
        for slot in faults:
            self.drop(slot)
        return {"faults": faults, "infos": infos} if faults or infos else {}

    def infos(self, slot: int) -> dict[int, Plain]:
        """Return the last infos of the agents of a slot that is over; nothing if all are empty."""
        place = self.games[slot].place
        return {slot: small(place.infos)} if place.has_infos() else {}

    def cut(self, slot: int) -> None:
        """Truncate an episode that has reached the limit."""
        self.steps[slot] += 1
        if self.most and self.steps[slot] >= self.most and not self.table.over[slot]:
            self.games[slot].cut()
            self.table.ready[slot] = False

    def at(self, slot: int) -> Any:
        """Return the game of a slot, built if it is new."""
        if self.fresh:
            self.drop(slot)
        if slot not in self.games:
            env, self.spare = self.build() if self.spare is None else self.spare, None
            self.games[slot] = self.game(env, Place(self.table, slot))
        return self.games[slot]

    def drop(self, slot: int) -> None:
        """Drop the environment of a slot; errors of its close() do not matter."""
        game = self.games.pop(slot, None)
        if game is not None:
            try:
                game.env.close()
            except Exception:
                show()

    def render(self, slot: int) -> str:
        """Return the environment's own text; empty if it has none."""
        game = self.games.get(slot)
        if game is None or getattr(game.env, "render_mode", None) != "ansi":
            return ""
        shown = game.env.unwrapped.render()
        return "" if shown is None else str(shown)

    def picture(self, slot: int) -> Any:
        """Return the environment's own picture; None if it has none."""
        game = self.games.get(slot)
        if game is None or getattr(game.env, "render_mode", None) != "rgb_array":
            return None
        shown = np.asarray(game.env.unwrapped.render())
        return np.ascontiguousarray(shown) if shown.ndim == 3 and shown.dtype.kind in "iu" else None

    def close(self) -> None:
        """Close every environment."""
        for slot in list(self.games):
            self.drop(slot)
        if self.spare is not None:
            self.spare.close()


def by_slot(slots: list[int], agents: list[int], actions: list[Any]) -> Iterator[tuple[int, list[int], list[Any]]]:
    """Yield each slot with its agents and their actions."""
    begin = 0
    for end in range(1, len(slots) + 1):
        if end == len(slots) or slots[end] != slots[begin]:
            yield slots[begin], agents[begin:end], actions[begin:end]
            begin = end


def reason(doing: str, error: BaseException) -> str:
    """Return what broke, and where in the environment's code."""
    said = message_of(error)
    if isinstance(error, BrokenError):
        return said
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"
    return f"{doing} raised {type(error).__name__}{said and f': {said}'} ({where})"


def small(infos: Plain) -> Plain:
    """Return infos as JSON can hold them; of large ones only the winner."""
    found = {str(agent): plain(info) for agent, info in infos.items()}
    if len(json.dumps(found)) <= LARGEST_INFO:
        return found
    named = {agent: info for agent, info in found.items() if isinstance(info, dict)}
    return {agent: {key: info[key] for key in ("winner",) if key in info} for agent, info in named.items()}


def plain(value: Any, depth: int = 8) -> Any:
    """Return a value as JSON can hold it; what it cannot becomes text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size <= LARGEST_ARRAY:
        return value.tolist()
    if depth and isinstance(value, dict):
        return {shown(key, str): plain(part, depth - 1) for key, part in value.items()}
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        return [plain(part, depth - 1) for part in value]
    return shown(value)


def shown(value: Any, form: Callable[[Any], str] = repr) -> str:
    """Return an object of the game as text; it never raises."""
    try:
        return form(value)[:LARGEST_SHOWN]
    except (Exception, SystemExit):
        return f"<{type(value).__name__} that cannot be shown>"
