"""What the near side may order of one environment: each `do_` is an order."""

from __future__ import annotations

import mmap
import os
from typing import Any

from .channel import Channel
from .errors import show
from .loading import builder, describe
from .own_loop import OwnLoop, own_complaints
from .slots import FarGames
from .spaces import Plain


class Opened:
    """An environment that was opened: how to build it, and its slots."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.build: Any = None
        self.first: Any = None
        self.games: Any = None

    def do_open(self, order: Plain) -> Plain:
        """Build one environment, and describe it."""
        self.build = builder(order)
        self.first = self.build()
        return describe(self.first)

    def do_seat(self, order: Plain) -> Plain:
        """Map the shared memory."""
        try:
            memory = mmap.mmap(order["memory"], order["size"])
        finally:
            os.close(order["memory"])
        self.games = FarGames(self.build, self.first, order, memory)
        self.first = None
        return {}

    def do_build(self, order: Plain) -> Plain:
        """Build the environment of a slot; one that fails fails again when its episode begins, and is a fault then."""
        try:
            self.games.at(order["slot"])
        except (Exception, SystemExit):
            show()
        return {}

    def do_start(self, order: Plain) -> Plain:
        """Begin episodes."""
        return self.games.start(order["slots"], order["seeds"], order["drop"])  # type: ignore[no-any-return]

    def do_step(self, order: Plain) -> Plain:
        """Step all slots whose agents move."""
        return self.games.step()  # type: ignore[no-any-return]

    def do_render(self, order: Plain) -> Plain:
        """Return a slot as text."""
        return {"text": self.games.render(order["slot"])}

    def do_picture(self, order: Plain) -> Plain:
        """Return the shape of a slot's picture, and send the picture after it."""
        shown = self.games.picture(order["slot"])
        if shown is None:
            return {}
        self.channel.answer({"shape": shown.shape, "dtype": str(shown.dtype)})
        self.channel.send(shown.tobytes())
        return {}

    def do_returns(self, order: Plain) -> Plain:
        """Play an episode in PettingZoo's own loop."""
        env = self.build()
        try:
            return OwnLoop(env).play(order["seed"], order["ticks"])
        finally:
            env.close()

    def do_complaints(self, order: Plain) -> Plain:
        """Run PettingZoo's own tests."""
        return {"complaints": own_complaints(self.build)}

    def close(self) -> None:
        """Close what was built."""
        for part in (self.games, self.first):
            if part is not None:
                part.close()
        self.games = self.first = None
