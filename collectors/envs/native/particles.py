"""Particle worlds, many at once: step for step what mpe2's simple_spread_v3 and simple_tag_v3 play.

Agents are discs that push themselves about; discs that touch push each other away. All slots are arrays, so a
step costs about a hundredth of what it costs there, which is what makes team games learnable in minutes. Actions
are the five discrete ones: nothing, left, right, down, up.

Legend of shapes: n slots that play, A agents, O obstacles or landmarks, E = A + O entities.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, FloatArray, IntArray, Rows
from collectors.envs.slots import Index, check_actions, check_start
from league.spec import Array, EnvSpec, Seat

Floats = npt.NDArray[np.float64]

SECONDS = 0.1  # of a step
DAMPING = 0.25  # of a velocity in a step
CONTACT_FORCE, CONTACT_MARGIN = 1e2, 1e-3
MOVES = np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]], np.float64)
CAUGHT = 10.0  # what it pays to touch a prey, and costs to be touched


@dataclass(frozen=True, slots=True)
class Bodies:
    """What never changes in a world."""

    size: Floats  # [E]
    push: Floats  # [A] how hard an agent pushes itself
    speed: Floats  # [A] how fast it can be
    solid: int  # the first so many entities cannot be passed through
    spread: Floats  # [E] how far from the middle each begins, at most


class Particles:
    """An `Environment` of particle worlds. What differs between games is `_see` and `_pay`."""

    def __init__(self, spec: EnvSpec, bodies: Bodies, slots: int, max_cycles: int) -> None:
        if max_cycles < 1:
            raise ValueError(f"{spec.name}: max_cycles must be at least 1, got {max_cycles}")
        self.spec, self.slots = spec, slots
        self._bodies, self._last = bodies, max_cycles
        self._agents = len(spec.agents)
        self._place = np.zeros((slots, len(bodies.size), 2))
        self._velocity = np.zeros((slots, self._agents, 2))
        self._reward = np.zeros((slots, self._agents))
        self._step = np.zeros(slots, np.intp)
        self._busy = np.zeros(slots, np.bool_)
        # Which agents and solid entities are two, and how near their middles can come without a touch.
        self._two = ~np.eye(self._agents, bodies.solid, dtype=np.bool_)
        self._near = bodies.size[: self._agents, None] + bodies.size[None, : bodies.solid]

    @property
    def active(self) -> bool:
        """Whether any slot plays an episode."""
        return bool(self._busy.any())

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots: everything lies where its seed says, at rest."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        for slot, seed in zip(index.tolist(), np.asarray(seeds).tolist(), strict=True):
            drawn = np.random.default_rng(seed).uniform(size=self._place.shape[1:])
            self._place[slot] = (2 * drawn - 1) * self._bodies.spread[:, None]
        self._velocity[index] = 0
        self._reward[index] = 0
        self._step[index] = 0
        self._busy[index] = True

    def rows(self) -> Rows:
        """Return all agents of every slot that plays."""
        slots = np.flatnonzero(self._busy)
        count = len(slots) * self._agents
        seen = self._see(slots)
        return Rows(
            slot=slots.repeat(self._agents),
            agent=np.tile(np.arange(self._agents, dtype=np.intp), len(slots)),
            observation=seen,
            mask=np.ones((count, len(MOVES)), np.bool_),
            reward=self._reward[slots].reshape(-1).astype(np.float32),
            first=(self._step[slots] == 0).repeat(self._agents),
            state=self._whole(seen),
        )

    def step(self, actions: IntArray) -> Ends:
        """Move everything in every slot that plays."""
        slots = np.flatnonzero(self._busy)
        legal = np.ones((len(slots) * self._agents, len(MOVES)), np.bool_)
        chosen = check_actions(self.spec.name, actions, slots.repeat(self._agents), legal)
        self._move(slots, chosen.reshape(len(slots), self._agents))
        self._reward[slots] = self._pay(slots)
        self._step[slots] += 1
        over = slots[self._step[slots] >= self._last]
        self._busy[over] = False
        seen = self._see(over)
        return Ends(
            slot=over.repeat(self._agents),
            agent=np.tile(np.arange(self._agents, dtype=np.intp), len(over)),
            reward=self._reward[over].reshape(-1).astype(np.float32),
            truncated=np.ones(len(over) * self._agents, np.bool_),
            observation=seen,
            over=over,
            state=self._whole(seen),
        )

    def _move(self, slots: Index, chosen: Index) -> None:
        bodies, place, velocity = self._bodies, self._place[slots], self._velocity[slots]
        force = MOVES[chosen] * bodies.push[:, None]
        apart = place[:, : self._agents, None] - place[:, None, : bodies.solid]
        distance = np.where(self._two, np.sqrt(np.square(apart).sum(axis=-1)), 1.0)
        depth = np.logaddexp(0, (self._near - distance) / CONTACT_MARGIN) * CONTACT_MARGIN * self._two
        force += ((CONTACT_FORCE * depth / distance)[..., None] * apart).sum(axis=2)
        self._place[slots, : self._agents] += velocity * SECONDS
        velocity = velocity * (1 - DAMPING) + force * SECONDS
        speed = np.sqrt(np.square(velocity).sum(axis=-1))
        too_fast = speed > bodies.speed
        velocity *= np.where(too_fast, bodies.speed / np.where(too_fast, speed, 1.0), 1.0)[..., None]
        self._velocity[slots] = velocity

    def _touch(self, slots: Index) -> npt.NDArray[np.bool_]:
        """Return which agents touch each other: [n, A, A]."""
        place = self._place[slots, : self._agents]
        apart = np.sqrt(np.square(place[:, :, None] - place[:, None]).sum(axis=-1))
        return np.asarray((apart < self._near[:, : self._agents]) & self._two[:, : self._agents])

    def _seen_by(self, slots: Index, agent: int) -> list[Floats]:
        """Return what every agent sees first: itself, obstacles and then other agents from where it is."""
        place, own = self._place[slots], self._place[slots, agent, None]
        others = np.delete(place[:, : self._agents], agent, axis=1)
        parts = [self._velocity[slots, agent, None], own, place[:, self._agents :] - own, others - own]
        return [part.reshape(len(slots), part.shape[1] * 2) for part in parts]

    def _see(self, slots: Index) -> FloatArray:
        """Return what all agents see, slot by slot; those who see less have zeros in the end."""
        seen = np.zeros((len(slots), self._agents, self.spec.observation.size), np.float32)
        for agent in range(self._agents):
            found = np.concatenate([*self._seen_by(slots, agent), *self._more(slots, agent)], axis=1)
            seen[:, agent, : found.shape[1]] = found
        return seen.reshape(len(slots) * self._agents, self.spec.observation.size)

    def _more(self, slots: Index, agent: int) -> list[Floats]:
        """Return what an agent sees beside."""
        raise NotImplementedError

    def _pay(self, slots: Index) -> Floats:
        """Return what each agent earns where things are now: [n, A]."""
        raise NotImplementedError

    def _whole(self, seen: FloatArray) -> FloatArray | None:
        """Return what all agents of a slot see together, for each of its rows."""
        if self.spec.state is None:
            return None
        return seen.reshape(-1, self.spec.state.size).repeat(self._agents, axis=0)

    def render(self, slot: int) -> str:
        """Return where everything is."""
        names = [*self.spec.agents, *(f"landmark {i}" for i in range(len(self._bodies.size) - self._agents))]
        return "\n".join(f"{n} at {x:+.2f} {y:+.2f}" for n, (x, y) in zip(names, self._place[slot], strict=True))

    def close(self) -> None:
        """Nothing is held."""


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

    def _more(self, slots: Index, agent: int) -> list[Floats]:
        return [np.zeros((len(slots), 2 * (self._agents - 1)))]  # what others say: nothing

    def _pay(self, slots: Index) -> Floats:
        place = self._place[slots]
        apart = place[:, None, : self._agents] - place[:, self._agents :, None]
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

    def _more(self, slots: Index, agent: int) -> list[Floats]:
        return [] if agent == 3 else [self._velocity[slots, 3]]

    def _pay(self, slots: Index) -> Floats:
        touches = self._touch(slots)[:, 3, :3].sum(axis=-1)
        outside = np.abs(self._place[slots, 3])
        penalty = np.where(outside < 1, (outside - 0.9) * 10, np.minimum(np.exp(2 * outside - 2), 10))
        prey = -CAUGHT * touches - np.where(outside < 0.9, 0, penalty).sum(axis=-1)
        return np.stack([CAUGHT * touches] * 3 + [prey], axis=1)
