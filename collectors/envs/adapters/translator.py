"""Between an agent in its own environment and rows: observations in, actions out, one agent at a time.

translator = Translator(spec, spaces)
row, mask = translator.read("player_0", observation, mask)
action = translator.action("player_0", parts)

It is what adapters do for whole batches of slots, for a player that acts outside of any league.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces as gym

from collectors.envs.adapters.action_spaces import Space, read_actions
from collectors.envs.adapters.observation_spaces import (
    MASK,
    OBSERVATION,
    BrokenError,
    mask_writer,
    observation_layout,
    without_mask,
)
from collectors.envs.adapters.space_forms import form_of, space_of
from league.agent_spaces import AgentSpaces, distinct, key_of, text_of
from league.errors import InputError
from league.spec import EnvSpec

Row = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]


class ObservationError(InputError):
    """An observation or a mask that does not have the structure of its space; the message shows the difference."""


class Translator:
    """Reads the observations and masks of agents, and makes their actions."""

    def __init__(self, spec: EnvSpec, spaces: Mapping[str, AgentSpaces]) -> None:
        self._spec = spec
        made = {key: space_of(form) for key, form in distinct(spaces).items()}
        whole = {agent: made[key_of(spaces[agent].observation)] for agent in spec.agents}
        seen = {agent: without_mask(space) for agent, space in whole.items()}
        self._masked = {agent for agent, space in whole.items() if seen[agent] is not space}
        self._actions = read_actions(spec.name, {agent: made[key_of(spaces[agent].action)] for agent in spec.agents})
        array, self._writes = observation_layout(spec.name, seen)
        self._seen = seen
        self._masks = {agent: mask_writer(self._actions, agent) for agent in spec.agents}
        kind = self._actions.kind
        found = (array.shape, array.dtype, self._actions.options, kind.choices or (), kind.continuous)
        wanted = (spec.observation.shape, spec.observation.dtype, spec.actions, spec.heads, spec.continuous)
        if found != wanted:
            raise ValueError(f"the spaces of {spec.name} give {found}, but its spec says {wanted}")
        if spec.observation.structure not in ((), array.structure):
            raise ValueError(f"the spaces of {spec.name} have another structure than the observation of its spec")

    def has_mask(self, agent: str) -> bool:
        """Whether a mask lies beside the observations of an agent."""
        return agent in self._masked

    def read(self, agent: str, observation: Any, mask: Any = None, need_mask: bool = False) -> tuple[Row, BoolArray]:
        """Return an observation as a row, and the mask of its legal options.

        A mask that lies beside the observation, as in PettingZoo's classic games, is found there. Without any mask
        everything that the agent has is legal, unless a mask is needed.
        """
        if observation is None:
            raise ObservationError(f"{agent}: there is no observation; after the end of an episode nobody acts")
        seen, given = _unwrapped(observation, mask)
        row, legal = np.zeros(self._spec.observation.shape, self._spec.observation.dtype), self._actions.legal[agent]
        self._writes[agent](fitted(self._seen[agent], seen, f"{agent}: the observation"), row)
        if given is None and need_mask:
            raise ObservationError(
                f"{agent}: there is no mask, but {self._spec.name} has illegal actions: give one of 0 (illegal) and 1 "
                "(legal), as in act(observation, mask), or the whole observation if a mask lies beside it"
            )
        if given is None:
            return row, legal
        _check_mask(agent, given)
        found = legal.copy()
        try:
            self._masks[agent](given, found)
        except BrokenError as error:
            raise ObservationError(f"{agent}: {error}") from error
        if not found.any():
            raise ObservationError(f"{agent}: its mask leaves no legal action; is its episode over?")
        return row, found

    def action(self, agent: str, parts: Any) -> Any:
        """Return an action as the environment wants it."""
        return self._actions.plays[agent](parts.tolist() if self._actions.single else parts)


def _check_mask(agent: str, mask: Any) -> None:
    """Refuse a mask of other numbers than 0 and 1, such as one that is added to logits."""
    values = np.concatenate([np.ravel(part) for part in (mask if isinstance(mask, tuple) else (mask,))])
    if values.dtype.kind in "biuf" and not np.isin(values, (0, 1)).all():
        raise ObservationError(f"{agent}: its mask has other numbers than 0 (illegal) and 1 (legal)")


def _unwrapped(observation: Any, mask: Any) -> tuple[Any, Any]:
    """Return an observation without the mask that may lie beside it, and the mask."""
    if not isinstance(observation, Mapping) or MASK not in observation:
        return observation, mask
    rest = {key: part for key, part in observation.items() if key != MASK}
    return (rest[OBSERVATION] if set(rest) == {OBSERVATION} else rest), observation[MASK] if mask is None else mask


def fitted(space: Space, seen: Any, where: str) -> Any:
    """Return an observation in the exact dtypes of its space; raise ObservationError where its structure differs.

    >>> fitted(gym.Dict({"a": gym.Discrete(3)}), {"b": 1}, "it")
    Traceback (most recent call last):
    collectors.envs.adapters.translator.ObservationError: it has the parts ['b'], expected ['a']
    """
    if isinstance(space, gym.Dict):
        found = sorted(map(str, seen)) if isinstance(seen, Mapping) else None
        if found != sorted(space.spaces):
            raise ObservationError(_parts(where, found, sorted(space.spaces), seen))
        return {key: fitted(part, seen[key], f"{where}[{key!r}]") for key, part in space.spaces.items()}
    if isinstance(space, gym.Tuple):
        if not isinstance(seen, Sequence) or len(seen) != len(space.spaces):
            raise ObservationError(_parts(where, None, [text_of(form_of(space))], seen))
        parts = zip(space.spaces, seen, strict=True)
        return tuple(fitted(part, one, f"{where}[{place}]") for place, (part, one) in enumerate(parts))
    return _fitted_plain(space, seen, where)


def _parts(where: str, found: list[str] | None, wanted: list[str], seen: Any) -> str:
    return f"{where} {f'has the parts {found}' if found is not None else f'is {_text(seen)}'}, expected {wanted}"


def _fitted_plain(space: Space, seen: Any, where: str) -> Any:
    """Return an observation without parts as an array."""
    expected = f"expected {text_of(form_of(space))}"
    try:
        array = np.asarray(seen)
    except ValueError as error:
        raise ObservationError(f"{where} is ragged, {expected}") from error
    if array.dtype.kind not in "biuf" or array.shape != (space.shape or ()):
        raise ObservationError(f"{where} is {_text(seen)}, {expected}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ObservationError(f"{where} holds NaN or infinity")
    assert space.dtype is not None  # all but Dict and Tuple have one
    if not np.can_cast(array.dtype, space.dtype, "same_kind"):
        raise ObservationError(f"{where} is {_text(array)}, {expected}")
    if not isinstance(space, gym.Box):
        if not space.contains(array.astype(space.dtype) if array.ndim else int(array)):
            raise ObservationError(f"{where} is {np.array2string(array, threshold=10)}, {expected}")
        return array
    return array.astype(space.dtype, copy=False)


def _text(seen: Any) -> str:
    if isinstance(seen, Mapping):
        return f"a dict with {sorted(map(str, seen))[:8]}"
    if isinstance(seen, np.ndarray | int | float | np.generic):
        return f"{np.asarray(seen).dtype} {np.shape(seen)}"
    return f"a {type(seen).__name__}"
