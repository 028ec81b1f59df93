"""Particle worlds, many at once: step for step what mpe2's simple_spread_v3 and simple_tag_v3 play.

Agents are discs that push themselves about; discs that touch push each other away. All slots are arrays, so a
step costs about a hundredth of what it costs there, which is what makes team games learnable in minutes. Actions
are the five discrete ones: nothing, left, right, down, up.

Legend of shapes: n slots that play, A agents, O obstacles or landmarks, E = A + O entities.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collectors.envs.native.skeleton import Reward, SimultaneousGame
from collectors.envs.rows import FloatArray
from collectors.envs.slots import Index
from league.spec import Array, EnvSpec, Seat

Floats = npt.NDArray[np.float64]

SECONDS = 0.1  # of a step
DAMPING = 0.25  # of a velocity in a step
CONTACT_FORCE, CONTACT_MARGIN = 1e2, 1e-3
MOVES = np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]], np.float64)
CAUGHT = 10.0  # the reward for touching a prey, and the cost of being touched


@dataclass(frozen=True, slots=True)
class Bodies:
    """The constants of a world."""

    size: Floats  # [E]
    push: Floats  # [A] how hard an agent pushes itself
    speed: Floats  # [A] how fast it can be
    solid: int  # the first so many entities cannot be passed through
    spread: Floats  # [E] how far from the middle each begins, at most


class Particles(SimultaneousGame):
    """An `Environment` of particle worlds. What differs between games is `_extra` and `_rewards`."""

    def __init__(self, spec: EnvSpec, bodies: Bodies, slots: int, max_cycles: int) -> None:
        if max_cycles < 1:
            raise ValueError(f"{spec.name}: max_cycles must be at least 1, got {max_cycles}")
        super().__init__(spec, slots, length=max_cycles, truncates=True)
        self._bodies = bodies
        self._place = np.zeros((slots, len(bodies.size), 2))
        self._velocity = np.zeros((slots, self._agent_count, 2))
        # Which agents and solid entities are two, and how near their middles can come without a touch.
        self._two = ~np.eye(self._agent_count, bodies.solid, dtype=np.bool_)
        self._near = bodies.size[: self._agent_count, None] + bodies.size[None, : bodies.solid]

    def _reset(self, slots: Index, seeds: npt.NDArray[np.int64]) -> None:
        """Place everything at random, by the seed of its slot, at rest."""
        for slot, seed in zip(slots.tolist(), np.asarray(seeds).tolist(), strict=True):
            sampled = np.random.default_rng(seed).uniform(size=self._place.shape[1:])
            self._place[slot] = (2 * sampled - 1) * self._bodies.spread[:, None]
        self._velocity[slots] = 0

    def _advance(self, slots: Index, actions: Index) -> Reward:
        """Move everything."""
        self._move(slots, actions)
        return self._rewards(slots)

    def _move(self, slots: Index, chosen: Index) -> None:
        bodies, place, velocity = self._bodies, self._place[slots], self._velocity[slots]
        force = MOVES[chosen] * bodies.push[:, None]
        apart = place[:, : self._agent_count, None] - place[:, None, : bodies.solid]
        distance = np.where(self._two, np.sqrt(np.square(apart).sum(axis=-1)), 1.0)
        depth = np.logaddexp(0, (self._near - distance) / CONTACT_MARGIN) * CONTACT_MARGIN * self._two
        force += ((CONTACT_FORCE * depth / distance)[..., None] * apart).sum(axis=2)
        self._place[slots, : self._agent_count] += velocity * SECONDS
        velocity = velocity * (1 - DAMPING) + force * SECONDS
        speed = np.sqrt(np.square(velocity).sum(axis=-1))
        too_fast = speed > bodies.speed
        velocity *= np.where(too_fast, bodies.speed / np.where(too_fast, speed, 1.0), 1.0)[..., None]
        self._velocity[slots] = velocity

    def _touch(self, slots: Index) -> npt.NDArray[np.bool_]:
        """Return which agents touch each other: [n, A, A]."""
        place = self._place[slots, : self._agent_count]
        apart = np.sqrt(np.square(place[:, :, None] - place[:, None]).sum(axis=-1))
        return np.asarray((apart < self._near[:, : self._agent_count]) & self._two[:, : self._agent_count])

    def _seen_by(self, slots: Index, agent: int) -> list[Floats]:
        """Return the first part of an observation: the agent itself, then obstacles and other agents relative to it."""
        place, own = self._place[slots], self._place[slots, agent, None]
        others = np.delete(place[:, : self._agent_count], agent, axis=1)
        parts = [self._velocity[slots, agent, None], own, place[:, self._agent_count :] - own, others - own]
        return [part.reshape(len(slots), part.shape[1] * 2) for part in parts]

    def _observe(self, slots: Index) -> FloatArray:
        """Return what all agents see, slot by slot; agents with less to see have zeros at the end."""
        seen = np.zeros((len(slots), self._agent_count, self.spec.observation.size), np.float32)
        for agent in range(self._agent_count):
            found = np.concatenate([*self._seen_by(slots, agent), *self._extra(slots, agent)], axis=1)
            seen[:, agent, : found.shape[1]] = found
        return seen.reshape(len(slots) * self._agent_count, self.spec.observation.size)

    @abstractmethod
    def _extra(self, slots: Index, agent: int) -> list[Floats]:
        """Return what this game shows an agent beyond `_seen_by`."""

    @abstractmethod
    def _rewards(self, slots: Index) -> Floats:
        """Return the reward of each agent for the current positions: [n, A]."""

    def render(self, slot: int) -> str:
        """Return where everything is."""
        names = [*self.spec.agents, *(f"landmark {i}" for i in range(len(self._bodies.size) - self._agent_count))]
        return "\n".join(f"{n} at {x:+.2f} {y:+.2f}" for n, (x, y) in zip(names, self._place[slot], strict=True))


class SimpleSpread(Particles):
    """Three agents should cover three landmarks and not touch each other: one team, one reward but for touches.

    >>> env = SimpleSpread(slots=2)
    >>> env.start(np.array([0, 1], np.int32), np.array([1, 2]))
    >>> env.rows().observation.shape
    (6, 18)
    """

    def __init__(
        self, slots: int = 256, agents: int = 3, local_ratio: float = 0.5, max_cycles: int = 25, state: bool = False
    ) -> None:
        if not 0 <= local_ratio <= 1 or agents < 2:
            raise ValueError(f"simple_spread: local_ratio {local_ratio} must be in 0..1, agents {agents} at least 2")
        self._local = local_ratio
        bodies = Bodies(
            size=np.array([0.15] * agents + [0.05] * agents),
            push=np.full(agents, 5.0),
            speed=np.full(agents, np.inf),
            solid=agents,
            spread=np.ones(2 * agents),
        )
        seen = 4 + 2 * agents + 4 * (agents - 1)
        spec = EnvSpec(
            name="simple_spread",
            agents=tuple(f"agent_{i}" for i in range(agents)),
            seats=(Seat(tuple(range(agents)), role="agent", side="all"),),
            observation=Array((seen,), "float32"),
            actions=len(MOVES),
            state=Array((agents * seen,), "float32") if state else None,
        )
        super().__init__(spec, bodies, slots, max_cycles)

    def _extra(self, slots: Index, agent: int) -> list[Floats]:
        return [np.zeros((len(slots), 2 * (self._agent_count - 1)))]  # communication, which is off

    def _rewards(self, slots: Index) -> Floats:
        place = self._place[slots]
        apart = place[:, None, : self._agent_count] - place[:, self._agent_count :, None]
        nearest = np.sqrt(np.square(apart).sum(axis=-1)).min(axis=-1)
        together = -nearest.sum(axis=-1, keepdims=True)
        own = -self._touch(slots).sum(axis=-1)
        paid: Floats = (1 - self._local) * together + self._local * own
        return paid


class SimpleTag(Particles):
    """Three slow predators, a team, should touch a fast prey, which should neither be touched nor run away far.

    >>> SimpleTag(slots=1).spec.roles
    ('adversary', 'agent')
    """

    def __init__(self, slots: int = 256, max_cycles: int = 25, state: bool = False) -> None:
        bodies = Bodies(
            size=np.array([0.075] * 3 + [0.05] + [0.2] * 2),
            push=np.array([3.0] * 3 + [4.0]),
            speed=np.array([1.0] * 3 + [1.3]),
            solid=6,
            spread=np.array([1.0] * 4 + [0.9] * 2),
        )
        spec = EnvSpec(
            name="simple_tag",
            agents=("adversary_0", "adversary_1", "adversary_2", "agent_0"),
            seats=(Seat((0, 1, 2), role="adversary"), Seat((3,), role="agent")),
            observation=Array((16,), "float32"),
            actions=len(MOVES),
            state=Array((64,), "float32") if state else None,
        )
        super().__init__(spec, bodies, slots, max_cycles)

    def _extra(self, slots: Index, agent: int) -> list[Floats]:
        return [] if agent == 3 else [self._velocity[slots, 3]]

    def _rewards(self, slots: Index) -> Floats:
        touches = self._touch(slots)[:, 3, :3].sum(axis=-1)
        outside = np.abs(self._place[slots, 3])
        penalty = np.where(outside < 1, (outside - 0.9) * 10, np.minimum(np.exp(2 * outside - 2), 10))
        prey = -CAUGHT * touches - np.where(outside < 0.9, 0, penalty).sum(axis=-1)
        return np.stack([CAUGHT * touches] * 3 + [prey], axis=1)
