"""Scripted players: they need no weights, and serve as anchors and as first opponents."""

from typing import Any

import numpy as np
import numpy.typing as npt

from league.policies.actions import Actions
from league.spec import EnvSpec

HEIGHT, WIDTH, LINE = 6, 7, 4


def choose(
    allowed: npt.NDArray[np.bool_], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Sample one allowed action for each row, uniformly; return it with its log-probability.

    A random number may be exactly 0, so actions that are not allowed get -1, which is less than any.
    """
    samples = np.where(allowed, rng.random(allowed.shape), -1.0)
    log_probs = -np.log(allowed.sum(axis=1))
    return samples.argmax(axis=1).astype(np.int32), log_probs.astype(np.float32)


class RandomBot:
    """Plays any legal action, all with the same probability; continuous numbers uniformly between -1 and 1."""

    def __init__(self, spec: EnvSpec) -> None:
        self.spec = spec

    def act(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[Actions, npt.NDArray[np.float32]]:
        """Return a random legal action for each row, and its log-probability."""
        if self.spec.single:
            return choose(mask, rng)
        actions = rng.uniform(-1, 1, (len(mask), self.spec.parts)).astype(np.float32)
        log_probs = np.full(len(mask), -self.spec.continuous * np.log(2), np.float32)
        end = 0
        for choice, options in enumerate(self.spec.heads):
            begin, end = end, end + options
            actions[:, choice], chance = choose(mask[:, begin:end], rng)
            log_probs += chance
        return actions, log_probs


def _lines() -> npt.NDArray[np.float32]:
    """Return the 69 lines of four cells of connect four, each as 42 zeros and ones."""
    lines = []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row in range(HEIGHT):
            for column in range(WIDTH):
                cells = [(row + down * step, column + right * step) for step in range(LINE)]
                if all(r < HEIGHT and 0 <= c < WIDTH for r, c in cells):
                    line = np.zeros((HEIGHT, WIDTH), dtype=np.float32)
                    line[tuple(zip(*cells, strict=True))] = 1
                    lines.append(line.reshape(-1))
    return np.stack(lines)


class OnePlyBot:
    """Plays connect four looking one move ahead: it wins if it can, blocks if it must, else plays at random.

    All rows at once: counts of pieces on each line are one matrix product, and the cells that would complete a
    line another.
    """

    def __init__(self, spec: EnvSpec) -> None:
        if spec.observation.shape != (HEIGHT, WIDTH, 2) or spec.actions != WIDTH or not spec.single:
            raise ValueError(
                f"the bot 'one_ply' plays connect four only; {spec.name!r} has observations of shape "
                f"{spec.observation.shape} and {spec.actions} actions. Use 'random' there, or write a bot of your own."
            )
        self.spec = spec
        self._lines = _lines()

    def act(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return an action for each row; log-probabilities are zero, as nothing trains on them."""
        planes = observation.reshape(len(observation), HEIGHT * WIDTH, 2).astype(np.float32)
        own, other = planes[..., 0], planes[..., 1]
        landing = self._landing((own + other).reshape(-1, HEIGHT, WIDTH))
        wins = self._completing(own, other, landing) & mask
        blocks = self._completing(other, own, landing) & mask
        preferred = np.where(blocks.any(axis=1, keepdims=True), blocks, mask)
        preferred = np.where(wins.any(axis=1, keepdims=True), wins, preferred)
        actions, _ = choose(preferred, rng)
        return actions, np.zeros(len(actions), dtype=np.float32)

    def _landing(self, filled: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
        """Return the cells that the next piece of each column falls to: free, with nothing free below."""
        below = np.ones_like(filled)
        below[:, :-1] = filled[:, 1:]
        return np.asarray((filled == 0) & (below == 1))

    def _completing(
        self, own: npt.NDArray[np.float32], other: npt.NDArray[np.float32], landing: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Return the columns in which the owner of `own` completes four in a row."""
        threes = (own @ self._lines.T == LINE - 1) & (other @ self._lines.T == 0)
        cells = (threes.astype(np.float32) @ self._lines > 0).reshape(-1, HEIGHT, WIDTH)
        return np.asarray((cells & landing).any(axis=1))
