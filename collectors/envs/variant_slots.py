"""An environment in several variants: in each slot the episode's seed says which one is played there.

env = VariantSlots(spin({"small": 3.0, "large": 1.0}), [make(64, size=5), make(64, size=9)])
env.start(slots, seeds)                 # each slot plays the variant of its seed (league.variants)
env.rows()                              # those of all variants, in arrays of one shape

All variants have their agents among those of the largest. Smaller observations are padded with zeros, options that a
variant lacks are masked, and agents that it lacks are absent from its episodes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from collectors.envs.build_pace import BuildPace
from collectors.envs.rows import (
    BoolArray,
    BuildsSlots,
    BuildTold,
    Compiles,
    Ends,
    Environment,
    HasGuesses,
    HasInfos,
    HasPicture,
    HasRenderModes,
    HasSpaces,
    IntArray,
    Rows,
)
from league.agent_spaces import AgentSpaces, plain_spaces
from league.errors import InputError
from league.spec import Array, EnvSpec
from league.variants import Variant, variant_numbers


class VariantError(InputError):
    """Variants that cannot be played in one league; the message says where they differ."""


def merged_spec(variants: Sequence[Variant], specs: Sequence[EnvSpec]) -> EnvSpec:
    """Return the spec that has room for all variants; raise VariantError if one does not fit to the largest.

    The largest has the most agents; of several the first.
    """
    largest = max(range(len(specs)), key=lambda number: (len(specs[number].agents), -number))
    whole, name = specs[largest], variants[largest].name
    for variant, spec in zip(variants, specs, strict=True):
        _check_fit(variant.name, spec, name, whole)
    ranges = [spec.returns for spec in specs if spec.returns is not None]
    known = len(ranges) == len(specs)
    return msgspec.structs.replace(
        whole,
        observation=_merged([spec.observation for spec in specs]),
        state=None if whole.state is None else _merged([spec.state for spec in specs if spec.state is not None]),
        actions=max(spec.actions for spec in specs),
        returns=(min(low for low, _ in ranges), max(high for _, high in ranges)) if known else None,
        variants=tuple(variants),
    )


def _check_fit(name: str, spec: EnvSpec, largest: str, whole: EnvSpec) -> None:
    lacking = [agent for agent in spec.agents if agent not in whole.agents]
    if lacking:
        raise VariantError(
            f"env.variants.{name} has the agent {lacking[0]!r}, which the largest variant, {largest}, lacks; "
            f"{largest} has {list(whole.agents)}. The agents of every variant must be among those of the largest"
        )
    layout, other = _layout(spec), _layout(whole)
    moved = next((agent for agent, place in layout.items() if place != other[agent]), None)
    if moved is not None:
        raise VariantError(
            f"env.variants.{name}: {moved!r} sits in {_seat(layout[moved])}, but in {_seat(other[moved])} in "
            f"{largest}. Give env.seats, env.roles or env.sides, which hold for all variants"
        )
    kinds = [(len(one.observation.shape), one.observation.dtype, one.observation.structure) for one in (spec, whole)]
    if kinds[0] != kinds[1]:
        raise VariantError(
            f"env.variants.{name} has observations of {_form(spec.observation)}, but {largest} of "
            f"{_form(whole.observation)}: only their sizes may differ. Wrap one of them (env.wrappers)"
        )
    if (spec.state is None) != (whole.state is None):
        raise VariantError(f"env.variants.{name} and {largest}: only one of them has a state(); set env.state=false")
    if spec.single != whole.single or (not spec.single and (spec.heads, spec.continuous) != _parts(whole)):
        raise VariantError(
            f"env.variants.{name} has other actions than {largest}: only the number of options of a single choice may "
            "differ"
        )


def _parts(spec: EnvSpec) -> tuple[tuple[int, ...], int]:
    return spec.heads, spec.continuous


def _layout(spec: EnvSpec) -> dict[str, tuple[str, str]]:
    """Return the role and the side of each agent, by name."""
    found = {}
    for number, seat in enumerate(spec.seats):
        side = [
            spec.agents[a] for i, s in enumerate(spec.seats) if spec.sides[i] == spec.sides[number] for a in s.agents
        ]
        for agent in seat.agents:
            found[spec.agents[agent]] = (seat.role, seat.side or side[0])
    return found


def _seat(place: tuple[str, str]) -> str:
    return f"the role {place[0]!r} on the side of {place[1]!r}"


def _form(array: Array) -> str:
    return f"{array.dtype} {array.shape}" + (" with parts" if array.structure else "")


def _merged(arrays: Sequence[Array]) -> Array:
    """Return the array that has room for all of these, which have the same number of axes."""
    shape = tuple(max(sizes) for sizes in zip(*(array.shape for array in arrays), strict=True))
    return msgspec.structs.replace(arrays[0], shape=shape)


class VariantSlots:
    """The slots of all variants as one batch; each variant has every slot, and plays in those whose seeds are its own.

    `envs` has an environment for each of the `variants`, all with the same number of slots.
    """

    def __init__(self, variants: Sequence[Variant], envs: Sequence[Environment]) -> None:
        self.spec = merged_spec(variants, [env.spec for env in envs])
        self.slots = envs[0].slots
        self._envs, self._variants = envs, variants
        self._agent = [np.array([self.spec.agents.index(name) for name in env.spec.agents]) for env in envs]
        self._playing = np.full(self.slots, -1)  # the variant in each slot; -1: free
        self._last = np.zeros(self.slots, np.intp)  # the variant that each slot played last, for what shows it
        self._taken: list[tuple[int, int]] = []  # (variant, rows) of the last `rows`

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots, of the variant of its seed."""
        chosen = variant_numbers(np.asarray(seeds), self._variants)
        for number in np.unique(chosen).tolist():
            mine = chosen == number
            self._envs[number].start(slots[mine], seeds[mine])
        self._playing[slots] = self._last[slots] = chosen

    def rows(self) -> Rows:
        """Return the ACT rows of all variants that are played now, one variant after the other."""
        numbers = self._busy()
        found = [self._widened(number, self._envs[number].rows()) for number in numbers]
        self._taken = [(number, len(rows)) for number, rows in zip(numbers, found, strict=True)]
        arrays = _columns(found, "slot", "agent", "observation", "mask", "reward", "first")
        return Rows(**arrays, state=_joined_states([rows.state for rows in found]))

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take one action for each row that `rows` returned last, in the same order."""
        if [number for number, _ in self._taken] != self._busy():
            self.rows()
        begin, found = 0, []
        for number, count in self._taken:
            ends = self._envs[number].step(actions[begin : begin + count])
            begin += count
            found.append(self._widened_ends(number, ends))
        ends = _joined_ends(found, len(self.spec.agents))
        self._playing[ends.over] = -1
        self._playing[[fault.slot for fault in ends.faults]] = -1
        self._taken = []
        return ends

    def _busy(self) -> list[int]:
        """Return the variants that some slot plays; the first one, if there is none: arrays need a shape."""
        found: list[int] = np.unique(self._playing[self._playing >= 0]).tolist()
        return found or [0]

    def _widened(self, number: int, rows: Rows) -> Rows:
        mask = rows.mask
        if self.spec.single:
            mask = _padded(mask, (self.spec.actions,))
        return replace(
            rows,
            agent=self._agent[number][rows.agent],
            observation=_padded(rows.observation, self.spec.observation.shape),
            mask=mask,
            state=None if rows.state is None or self.spec.state is None else _padded(rows.state, self.spec.state.shape),
        )

    def _widened_ends(self, number: int, ends: Ends) -> Ends:
        """Return END rows in the shapes of all variants; they say who took part, for one variant may lack agents."""
        place, everybody = self._agent[number], len(self.spec.agents)
        present = None
        if len(place) < everybody or ends.present is not None:
            present = np.zeros((len(ends.over), everybody), np.bool_)
            present[:, place] = True if ends.present is None else ends.present
        return replace(
            ends,
            agent=place[ends.agent],
            observation=_padded(ends.observation, self.spec.observation.shape),
            idle=tuple(replace(paid, agent=int(place[paid.agent])) for paid in ends.idle),
            late=tuple(replace(paid, agent=int(place[paid.agent])) for paid in ends.late),
            state=None if ends.state is None or self.spec.state is None else _padded(ends.state, self.spec.state.shape),
            present=present,
        )

    def prepare(self) -> str:
        """Compile the variants that have to be."""
        told = [env.prepare() for env in self._envs if isinstance(env, Compiles)]
        return "; ".join(filter(None, told))

    def build_slots(self, tell: BuildTold) -> float:
        """Build every slot of every variant; return the seconds for one slot of all variants."""
        building = [env for env in self._envs if isinstance(env, BuildsSlots)]
        pace = BuildPace(len(building) * self.slots, tell)
        for env in building:
            env.build_slots(lambda *_: pace.built())
        return len(building) * pace.seconds

    @property
    def guesses(self) -> tuple[str, ...]:
        """What was guessed about the seats and sides of the largest variant."""
        whole = max(self._envs, key=lambda env: len(env.spec.agents))
        return whole.guesses if isinstance(whole, HasGuesses) else ()

    def infos(self, slot: int) -> dict[str, Mapping[str, Any]]:
        """Return the last info of each agent of the episode that ended in a slot."""
        env = self._env(slot)
        return env.infos(slot) if isinstance(env, HasInfos) else {}

    def render(self, slot: int) -> str:
        """Return the position as text, under the name of its variant."""
        return f"{self._variants[self._last[slot]].name}\n{self._env(slot).render(slot)}"

    def picture(self, slot: int) -> npt.NDArray[Any] | None:
        """Return the picture of a position; None if its variant renders none."""
        env = self._env(slot)
        return env.picture(slot) if isinstance(env, HasPicture) else None

    @property
    def render_modes(self) -> tuple[str, ...]:
        """The render modes of the first variant."""
        return self._envs[0].render_modes if isinstance(self._envs[0], HasRenderModes) else ()

    @property
    def spaces(self) -> Mapping[str, AgentSpaces]:
        """The spaces of each agent, if all variants have the same; else those of the rows."""
        kinds = [env.spaces for env in self._envs if isinstance(env, HasSpaces)]
        whole = max(kinds, key=len, default={})
        alike = len(kinds) == len(self._envs) and all(
            whole.get(agent) == kind[agent] for kind in kinds for agent in kind
        )
        return whole if alike else plain_spaces(self.spec)

    def close(self) -> None:
        """Close all variants."""
        for env in self._envs:
            env.close()

    def _env(self, slot: int) -> Environment:
        return self._envs[int(self._last[slot])]


def _padded(rows: npt.NDArray[Any], shape: Sequence[int]) -> npt.NDArray[Any]:
    """Return the rows with zeros behind them, as far as they are smaller than the shape."""
    missing = [(0, size - have) for size, have in zip(shape, rows.shape[1:], strict=True)]
    return np.pad(rows, [(0, 0), *missing]) if any(more for _, more in missing) else rows


def _joined(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(arrays) if len(arrays) > 1 else arrays[0]


def _columns(found: Sequence[Rows] | Sequence[Ends], *names: str) -> dict[str, Any]:
    """Return these arrays of all variants, joined, by name."""
    return {name: _joined([getattr(one, name) for one in found]) for name in names}


def _joined_states(states: Sequence[npt.NDArray[Any] | None]) -> npt.NDArray[Any] | None:
    known = [state for state in states if state is not None]
    return _joined(known) if known else None


def _joined_ends(found: Sequence[Ends], agents: int) -> Ends:
    """Return the END rows of several variants as one; none of them has ranks: those come from a referee."""
    return Ends(
        **_columns(found, "slot", "agent", "reward", "truncated", "observation", "over"),
        faults=tuple(fault for ends in found for fault in ends.faults),
        idle=tuple(paid for ends in found for paid in ends.idle),
        late=tuple(paid for ends in found for paid in ends.late),
        state=_joined_states([ends.state for ends in found]),
        present=_joined_presence(found, agents),
    )


def _joined_presence(found: Sequence[Ends], agents: int) -> BoolArray | None:
    if all(ends.present is None for ends in found):
        return None
    full = [np.ones((len(ends.over), agents), np.bool_) if ends.present is None else ends.present for ends in found]
    return _joined(full)
