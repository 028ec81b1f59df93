"""A simulator that steps all its worlds at once, as an environment of the league: `SumoRows` is the whole adapter.

    ludus check-env batched_simulator:SumoRows --allow batched_simulator

`Sumo` stands for a simulator of somebody else (on a GPU, in C++, in JAX): it has its own idea of worlds, of resets and
of what a step returns, and knows nothing of leagues.
"""

import numpy as np

from collectors.envs.rows import Ends, Rows
from collectors.envs.slots import check_parts, check_start
from league.spec import Array, EnvSpec, Seat

RING, LIMIT = 1.0, 60


class Sumo:
    """Two wrestlers on a line push each other with a force between -0.02 and 0.02; who leaves the ring has lost.

    All worlds step together, whether anybody plays in them or not. Nothing in here is made for Ludus.
    """

    def __init__(self, worlds: int, limit: int = LIMIT) -> None:
        self.limit = limit
        self.position = np.zeros((worlds, 2))
        self.speed = np.zeros((worlds, 2))
        self.steps = np.zeros(worlds, np.int64)

    def reset(self, worlds: np.ndarray, seeds: np.ndarray) -> None:
        """Put the wrestlers of these worlds on their places, somewhere in the ring."""
        for world, seed in zip(worlds, seeds, strict=True):
            shift = np.random.default_rng(seed).uniform(-0.85, 0.85)
            self.position[world] = (shift - 0.1, shift + 0.1)
        self.speed[worlds] = 0
        self.steps[worlds] = 0

    def step(self, force: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return what each sees [W, 2, 4] and gets [W, 2], and which worlds ended or ran out of time [W]."""
        self.speed = 0.8 * self.speed + np.clip(force, -0.02, 0.02)
        touching = np.abs(self.position[:, 1] - self.position[:, 0]) < 0.25
        self.speed[touching] = self.speed[touching].mean(axis=1, keepdims=True)
        self.position += self.speed
        self.steps += 1
        out = np.abs(self.position) > RING
        ended = out.any(axis=1)
        return self.views(), out[:, ::-1].astype(float) - out, ended, ~ended & (self.steps >= self.limit)

    def views(self) -> np.ndarray:
        """Return own position and speed, then those of the other: mirrored, so that both see the same game."""
        own = np.stack([self.position, self.speed], axis=-1) * np.array([1, -1])[None, :, None]
        return np.concatenate([own, own[:, ::-1]], axis=-1)


class SumoRows:
    """The simulator as an `Environment`: a slot is a world, and rows are cut out of its arrays."""

    def __init__(self, slots: int = 256, max_steps: int = LIMIT) -> None:
        self.spec = EnvSpec(
            name="sumo",
            agents=("left", "right"),
            seats=(Seat(agents=(0,)), Seat(agents=(1,))),  # what they see is mirrored: they are interchangeable
            observation=Array(shape=(4,), dtype="float32"),
            actions=0,
            continuous=1,
        )
        self.slots = slots
        self._sim = Sumo(slots, max_steps)
        self._busy = np.zeros(slots, np.bool_)

    def start(self, slots, seeds):
        """Begin episodes. Only these worlds are reset; the others go on."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        self._sim.reset(index, np.asarray(seeds))
        self._busy[index] = True

    def rows(self):
        """Return both wrestlers of every world that plays. Nobody is paid before the end, so rewards are zero."""
        slots = np.flatnonzero(self._busy)
        return Rows(
            slot=np.repeat(slots, 2).astype(np.int32),
            agent=np.tile(np.array([0, 1], np.int32), len(slots)),
            observation=self._sim.views()[slots].reshape(-1, 4).astype(np.float32),
            mask=np.zeros((2 * len(slots), 0), np.bool_),  # continuous actions have no mask
            reward=np.zeros(2 * len(slots), np.float32),
            first=np.repeat(self._sim.steps[slots] == 0, 2),
        )

    def step(self, actions):
        """Step all worlds; those in which nobody plays do nothing. An action comes as a number between -1 and 1."""
        slots = np.flatnonzero(self._busy)
        agents = np.repeat(slots, 2)
        pushes = check_parts(self.spec, actions, agents, np.zeros((len(agents), 0), np.bool_))
        force = np.zeros((self.slots, 2))
        force[slots] = 0.02 * pushes.reshape(-1, 2) * np.array([1, -1])  # forward is towards the other
        seen, paid, ended, late = self._sim.step(force)
        over = slots[ended[slots] | late[slots]]
        self._busy[over] = False
        return Ends(
            slot=np.repeat(over, 2).astype(np.int32),
            agent=np.tile(np.array([0, 1], np.int32), len(over)),
            reward=paid[over].reshape(-1).astype(np.float32),
            truncated=np.repeat(
                late[over], 2
            ),  # out of time: what might have come counts; out of the ring: nothing does
            observation=seen[over].reshape(-1, 4).astype(np.float32),
            over=over.astype(np.int32),
        )

    def render(self, slot):
        """Return a position as text."""
        line = ["."] * 41
        for sign, place in zip("<>", self._sim.position[slot], strict=True):
            line[int(np.clip(20 + 20 * place, 0, 40))] = sign
        return "".join(line)

    def close(self):
        """Nothing is held; close the simulator here if it holds something."""
