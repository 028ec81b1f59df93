"""A small Gymnasium game of pictures: catch the ball that falls through noise, with a bar at the bottom.

cd examples
ludus run env=gymnasium env.id=picture_game:Catch policy=cnn algo=dqn algo.curl=1 league=selfplay --allow picture_game
"""

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete

SIDE = 20
BALL, BAR = 2, 4  # pixels


class Catch(gymnasium.Env[Any, Any]):
    """The ball falls two pixels in each step and drifts; the bar moves left, stays, or moves right. A catch earns 1.

    Every picture has other noise, nearly as bright as the ball.
    """

    def __init__(self, noise: int = 160) -> None:
        self.observation_space = Box(0, 255, (SIDE, SIDE, 1), np.uint8)
        self.action_space = Discrete(3)
        self._noise = noise

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Let a ball fall from the top."""
        super().reset(seed=seed)
        self._row = 0
        self._column, self._bar = (int(self.np_random.integers(0, SIDE - size + 1)) for size in (BALL, BAR))
        self._drift = int(self.np_random.integers(-1, 2))
        return self._picture(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move the bar and the ball; at the bottom, see whether it is caught."""
        self._bar = int(np.clip(self._bar + 2 * (int(action) - 1), 0, SIDE - BAR))
        self._row += 2
        self._column = int(np.clip(self._column + self._drift, 0, SIDE - BALL))
        over = self._row >= SIDE - BALL
        caught = over and self._bar - BALL < self._column < self._bar + BAR
        return self._picture(), float(caught), over, False, {}

    def _picture(self) -> npt.NDArray[np.uint8]:
        picture = self.np_random.integers(0, self._noise + 1, (SIDE, SIDE, 1), np.uint8)
        picture[self._row : self._row + BALL, self._column : self._column + BALL] = 255
        picture[SIDE - 1, self._bar : self._bar + BAR] = 255
        return picture
