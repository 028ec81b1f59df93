"""PettingZoo environments as batches of slots, for every AEC and Parallel environment.

env = make(slots=128, id="classic/connect_four_v3")
env = make(slots=16, id="mpe2/simple_tag_v3", seats=[["adversary_0", "adversary_1", "adversary_2"], ["agent_0"]])
env = make(slots=16, id="my_package.my_module:parallel_env", kwargs={"size": 8})
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pettingzoo
from gymnasium.spaces import Box
from pettingzoo import aec_registry, parallel_registry
from pettingzoo.env_registry.exceptions import PettingZooRegistryError

from collectors.envs.adapters.action_spaces import read_actions
from collectors.envs.adapters.adapter import Adapter, Blueprint
from collectors.envs.adapters.aec import AecGame
from collectors.envs.adapters.converting import Conversion, convert
from collectors.envs.adapters.observation_spaces import box_array, mask_writer, observation_layout, reader, without_mask
from collectors.envs.adapters.parallel import ParallelGame
from collectors.envs.adapters.seats import agent_roles, explain, guess_layout, make_seats
from collectors.envs.adapters.space_forms import agent_spaces, checked
from collectors.envs.known import NoEnvironmentError, maker, plain, registered
from collectors.envs.output import EnvOutput
from league.plugins import PluginError
from league.spec import Array, EnvSpec, Seat

Build = Callable[[], Any]

LEAKY = ("knights_archers_zombies",)
"""Environments whose episodes depend on earlier ones, whatever the seed: they are rebuilt for each episode."""

KINDS = (pettingzoo.AECEnv, pettingzoo.ParallelEnv)


def make(slots: int, id: str = "", kwargs: Mapping[str, Any] | None = None, **options: Any) -> Adapter:
    """Return a batch of slots of the environment that `id` names; see the module's docstring."""
    return adapt(builder(id, kwargs), slots, name=id, **options)


def adapt(
    build: Build,
    slots: int,
    name: str = "",
    *,
    state: bool = False,
    fresh: bool | None = None,
    max_steps: int = 0,
    output: EnvOutput | None = None,
    **seating: Any,
) -> Adapter:
    """Return a batch of slots of what `build` returns, an AEC or a Parallel environment.

    `state` adds its `state()` to the rows; `fresh` rebuilds it for each episode (None: where that is known to be
    needed); `max_steps` truncates its episodes; `output` catches what it prints; `seats`, `roles` and `sides` are those
    of `make_seats`.
    """
    output = output or EnvOutput()
    with output:
        first = convert(build, Conversion())()
    name = name or str(first)
    if not isinstance(first, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
        raise NoEnvironmentError(
            f"{name}: expected a PettingZoo environment (AEC or Parallel), got a {type(first).__name__}"
        )
    blueprint = blueprint_of(first, name, partial(make_seats, **seating), state)
    if seating.get("seats") or seating.get("sides"):
        blueprint = replace(blueprint, guesses=())
    leaky = str(getattr(first, "metadata", {}).get("name")).startswith(LEAKY)
    blueprint = replace(blueprint, fresh=leaky if fresh is None else fresh, max_steps=max_steps, output=output)
    return Adapter(blueprint, convert(build, Conversion()), slots, first)


def builder(id: str, kwargs: Mapping[str, Any] | None = None, allow: Sequence[str] = ()) -> Build:
    """Return the function that builds the environment of this id. Parallel is preferred to AEC if it has both."""
    options = dict(kwargs or {})
    if not id:
        raise ValueError("env.id is missing. Give the id of a PettingZoo environment, e.g. classic/connect_four_v3.")
    if ":" in id:
        return maker(id, options, KINDS, allow)
    if id.startswith("mpe2/"):
        return _mpe2(id, options, allow)
    plain("pettingzoo", "env.kwargs", options, allow)
    if id.startswith("atari/"):
        options = {"auto_rom_install_path": roms()} | options
    try:
        return partial(_registered("parallel", id, allow), **options)
    except PettingZooRegistryError:
        pass  # most turn-based games have no parallel form
    try:
        return partial(_registered("aec", id, allow), **options)
    except PettingZooRegistryError as error:
        known = sorted({re.sub(r"-(v\d+)$", r"_\1", name) for name in (*aec_registry, *parallel_registry)})
        close = difflib.get_close_matches(id, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known ones are {', '.join(known)}"
        raise PluginError(f"unknown PettingZoo environment {id!r}; {hint}") from error


def roms() -> str:
    """Return where ale-py keeps the ROMs that it comes with: PettingZoo's emulator has none of its own."""
    import ale_py
    import multi_agent_ale_py  # noqa: F401  (if it is missing, the message says what to install)

    return str(Path(ale_py.__file__).parent / "roms")


def _registered(kind: Any, id: str, allow: Sequence[str]) -> Callable[..., Any]:
    registered(id, pettingzoo.spec(kind, id).entry_point, allow)
    return partial(pettingzoo.make, kind, id)


def _mpe2(id: str, options: Mapping[str, Any], allow: Sequence[str]) -> Build:
    try:
        return maker(f"{id.replace('/', '.', 1)}:parallel_env", options, KINDS, allow)
    except PluginError as error:
        raise PluginError(f"cannot load {id!r}: {error}. Is it installed (pip install 'ludus-league[mpe]')?") from error


def blueprint_of(env: Any, name: str, seat: Callable[..., tuple[Seat, ...]], state: bool) -> Blueprint:
    """Read the spaces of an environment; `seat` returns the seats of its agents."""
    agents = list(getattr(env, "possible_agents", ()))
    if not agents:
        raise ValueError(
            f"{name}: possible_agents is missing or empty. The league must know all agents in advance: set it in "
            "__init__ to the names of all that can ever play."
        )
    _check_names(name, agents)
    spaces = {agent: env.observation_space(agent) for agent in agents}
    actions = read_actions(name, {agent: env.action_space(agent) for agent in agents})
    array, writes = observation_layout(name, {agent: without_mask(space) for agent, space in spaces.items()})
    turn_based = not getattr(env, "metadata", {}).get("is_parallelizable", isinstance(env, pettingzoo.ParallelEnv))
    kinds = agent_roles({agent: (spaces[agent], actions.spaces[agent]) for agent in agents}, turn_based)
    forms = {agent: checked(name, agent, agent_spaces(spaces[agent], actions.spaces[agent])) for agent in agents}
    known = str(getattr(env, "metadata", {}).get("name") or name)
    layout = guess_layout(known, agents, turn_based)
    spec = EnvSpec(
        name=name,
        agents=tuple(agents),
        seats=seat(name, kinds, layout),
        observation=array,
        actions=actions.options,
        choices=() if actions.single else actions.kind.choices,
        continuous=actions.kind.continuous,
        state=_state(env, name) if state else None,
    )
    return Blueprint(
        spec=spec,
        game=ParallelGame if isinstance(env, pettingzoo.ParallelEnv) else AecGame,
        readers={
            agent: reader(
                spaces[agent], writes[agent], mask_writer(actions, agent), actions.legal[agent], actions.single
            )
            for agent in agents
        },
        plays=actions.plays,
        guesses=explain(layout, spec),
        spaces=forms,
    )


def _check_names(name: str, agents: Sequence[Any]) -> None:
    """Refuse agents whose names are not unique."""
    for agent in agents:
        if agents.count(agent) > 1:
            raise ValueError(
                f"{name}: possible_agents names {agent!r} {agents.count(agent)} times. Give each agent a name of its "
                "own, e.g. player_0 and player_1."
            )


def _state(env: Any, name: str) -> Array:
    """Return the array of `state()`: the whole game, for critics only."""
    try:
        space = env.state_space
    except (AttributeError, NotImplementedError):
        space = None
    if not isinstance(space, Box):
        raise ValueError(f"{name}: env.state=true, but the environment has no state_space that is a Box. Leave it out.")
    return box_array(space)
