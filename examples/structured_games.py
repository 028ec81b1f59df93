"""Two small Gymnasium games whose observations have a structure, for `policy=structured` and `policy=entities`.

cd examples
ludus run env=gymnasium env.id=structured_games:Glyphs policy=structured league=cooperative --allow structured_games
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

ROUNDS = 8
SIDE = 10
GLYPHS = np.array(
    [
        [[1, 1, 1], [1, 0, 1], [1, 1, 1]],
        [[0, 1, 0], [1, 1, 1], [0, 1, 0]],
        [[1, 0, 1], [0, 1, 0], [1, 0, 1]],
        [[1, 1, 1], [0, 1, 0], [0, 1, 0]],
    ],
    np.float32,
)
UNITS, COLOURS = 10, 2


class Rounds(gymnasium.Env[Any, Any]):
    """A question in each of eight rounds; a right answer earns 1."""

    answer: int

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        self.round = 0
        self.begin()
        return self.ask(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Score the answer, and ask the next question."""
        earned = float(action == self.answer)
        self.round += 1
        return self.ask(), earned, self.round == ROUNDS, False, {}

    def begin(self) -> None:
        """Prepare an episode."""

    def ask(self) -> Any:
        """Return an observation, and keep the right answer."""
        raise NotImplementedError


class Glyphs(Rounds):
    """A glyph somewhere in a noisy picture. If the dial points up, name the glyph, else the one that follows it."""

    def __init__(self) -> None:
        self.observation_space = Dict({"dial": Box(-1, 1, (2,)), "picture": Box(0, 1, (SIDE, SIDE, 1))})
        self.action_space = Discrete(len(GLYPHS))

    def ask(self) -> Any:
        """Draw a picture."""
        glyph, row, column = self.np_random.integers(0, (len(GLYPHS), SIDE - 2, SIDE - 2))
        picture = 0.3 * self.np_random.random((SIDE, SIDE), np.float32)
        picture[row : row + 3, column : column + 3] += 0.7 * GLYPHS[glyph]
        angle = self.np_random.uniform(0, 2 * np.pi)
        dial = np.array([np.cos(angle), np.sin(angle)], np.float32)
        self.answer = int(glyph + (dial[1] < 0)) % len(GLYPHS)
        return {"dial": dial, "picture": picture[..., None].clip(0, 1)}


class Crowd(Rounds):
    """Two to ten units, each somewhere in the list: point at the strongest one of the colour that is asked for.

    A row is a unit: its strength, then its colour as one-hot. Rows of zeros are empty.
    """

    def __init__(self) -> None:
        self.observation_space = Dict({"colour": Discrete(COLOURS), "units": Box(0, 1, (UNITS, 1 + COLOURS))})
        self.action_space = Discrete(UNITS)

    def begin(self) -> None:
        """Choose how many units there are in this episode."""
        self.count = int(self.np_random.integers(2, UNITS + 1))

    def ask(self) -> Any:
        """Place the units."""
        places = self.np_random.permutation(UNITS)[: self.count]
        colours = self.np_random.integers(0, COLOURS, self.count)
        strength = self.np_random.random(self.count, np.float32)
        units = np.zeros((UNITS, 1 + COLOURS), np.float32)
        units[places, 0], units[places, 1 + colours] = strength, 1
        asked = int(self.np_random.choice(colours))
        self.answer = int(places[np.where(colours == asked, strength, -1).argmax()])
        return {"colour": asked, "units": units}
