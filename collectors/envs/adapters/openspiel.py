"""OpenSpiel games by name, turn-based or simultaneous, with moves of chance sampled from the episode's seed.

env = make(slots=64, id="go(board_size=9)")
env = make(slots=64, id="leduc_poker", kwargs={"players": 3})

In a game with hidden information an agent sees its information state (all that it knows), in an open game the
observation (the position); `env.kwargs.observation` chooses `information_state` or `observation` instead. Planes are in
the order rows, columns, planes, like PettingZoo's boards. `env.state=true` gives critics the whole game: what every
agent sees, so all hands, and who is to move.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel
from gymnasium.spaces import Discrete

from collectors.envs.adapters.action_spaces import read_actions
from collectors.envs.adapters.adapter import Adapter, Blueprint
from collectors.envs.adapters.observation_spaces import Row
from collectors.envs.adapters.seats import SeatLayout, agent_roles, guess_layout, make_seats
from collectors.envs.adapters.slot_writer import SlotWriter
from collectors.envs.known import plain
from league.limits import LARGEST_RETURN
from league.plugins import PluginError
from league.spec import Array, EnvSpec

KINDS = ("information_state", "observation")


@dataclass(frozen=True, slots=True)
class LoadedGame:
    """A game, and which of its tensors agents see."""

    game: Any
    kind: str

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the players."""
        return tuple(f"player_{number}" for number in range(self.game.num_players()))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor, as OpenSpiel has it."""
        return tuple(getattr(self.game, f"{self.kind}_tensor_shape")())

    @property
    def state_size(self) -> int:
        """How many numbers the state of the whole game has."""
        return len(self.agents) * (math.prod(self.shape) + 1)

    def whole(self, state: Any) -> npt.NDArray[np.float32]:
        """Return what every agent sees, one after the other, and a one-hot vector of who is to move (zeros: all)."""
        tensor, mover, players = getattr(state, f"{self.kind}_tensor"), state.current_player(), state.num_players()
        numbers: list[float] = []
        for player in range(players):
            numbers += tensor(player)
        numbers += [player == mover for player in range(players)]
        return np.array(numbers, np.float32)

    @property
    def board(self) -> tuple[int, ...]:
        """The shape of an observation: planes come last."""
        shape = self.shape
        return (*shape[1:], shape[0]) if len(shape) == 3 else shape

    def close(self) -> None:
        """Nothing is held."""


def make(slots: int, id: str = "", kwargs: Mapping[str, Any] | None = None, **options: Any) -> Adapter:
    """Return a batch of slots of the game that `id` names; see the module's docstring."""
    return adapt(builder(id, kwargs), slots, name=id, **options)


def builder(id: str, kwargs: Mapping[str, Any] | None = None, allow: Sequence[str] = ()) -> Callable[[], LoadedGame]:
    """Return the function that loads the game; `env.kwargs` are its parameters, as those in brackets are."""
    given = dict(kwargs or {})
    kind = given.pop("observation", "")
    parameters = _parameters(id)
    parameters.update(given)
    plain("pyspiel", "env.kwargs", parameters, allow, texts=False)

    def build() -> LoadedGame:
        game = pyspiel.load_game(parameters["name"], {key: value for key, value in parameters.items() if key != "name"})
        return LoadedGame(game, _kind(id, game, kind))

    return build


def _parameters(id: str) -> dict[str, Any]:
    short = id.partition("(")[0]
    if short not in pyspiel.registered_names():
        raise PluginError(
            f"unknown OpenSpiel game {short!r}; python -c 'import pyspiel; print(pyspiel.registered_names())' "
            "lists all, and parameters are written as in go(board_size=9)"
        )
    try:
        return dict(pyspiel.game_parameters_from_string(id))
    except pyspiel.SpielError as error:
        raise PluginError(f"cannot read the OpenSpiel game {id!r}: {error}; write it as in go(board_size=9)") from error


def _kind(id: str, game: Any, wanted: str) -> str:
    """Return which tensor agents see; refuse games that cannot be played in slots."""
    about = game.get_type()
    if about.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise ValueError(f"{id}: a mean-field game has no fixed number of agents. Choose another game.")
    if about.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(
            f"{id}: its chance comes from a generator of its own, not from the episode's seed. Choose another game."
        )
    hidden = about.information != pyspiel.GameType.Information.PERFECT_INFORMATION
    has = {
        "information_state": about.provides_information_state_tensor,
        "observation": about.provides_observation_tensor,
    }
    if wanted and wanted not in KINDS:
        raise ValueError(f"{id}: env.kwargs.observation is {wanted!r}; choose one of {', '.join(KINDS)}")
    for kind in (wanted,) if wanted else KINDS if hidden else KINDS[::-1]:
        if has[kind]:
            return kind
    raise ValueError(f"{id}: it has no {wanted or 'information state or observation'} tensor, so no network can see it")


def adapt(
    build: Callable[[], LoadedGame],
    slots: int,
    name: str,
    *,
    state: bool = False,
    fresh: bool | None = None,
    max_steps: int = 0,
    **seating: Any,
) -> Adapter:
    """Return a batch of slots of the game that `build` loads; every episode is a fresh state of it anyway."""
    first = build()
    agents, short = list(first.agents), first.game.get_type().short_name
    actions = read_actions(name, {agent: Discrete(first.game.num_distinct_actions()) for agent in agents})
    shared = first.game.get_type().utility == pyspiel.GameType.Utility.IDENTICAL
    layout = SeatLayout(cooperative=True) if shared else guess_layout(short, agents, turn_based=True)
    kinds = agent_roles(dict.fromkeys(agents), turn_based=True)
    seats = make_seats(name, kinds, layout, **seating)
    spec = EnvSpec(
        name=name,
        agents=tuple(agents),
        seats=seats,
        observation=Array(first.board, "float32"),
        actions=actions.options,
        state=Array((first.state_size,), "float32") if state else None,
        returns=_returns(first.game, max(len(seat.agents) for seat in seats)),
    )
    readers = {agent: reader(first, player) for player, agent in enumerate(agents)}
    return Adapter(Blueprint(spec, SpielGame, readers, actions.plays, max_steps=max_steps), build, slots, first)


def _returns(game: Any, agents: int) -> tuple[float, float] | None:
    """Return the least and the most that a seat of so many agents can return; None where the game has no bounds."""
    low, high = agents * float(game.min_utility()), agents * float(game.max_utility())
    return (low, high) if max(abs(low), abs(high)) <= LARGEST_RETURN and low < high else None


def reader(spiel: LoadedGame, player: int) -> Callable[[Any, Mapping[str, Any], Row, Row], None]:
    """Return the function that writes what a player sees in a state, and what it may do there."""
    shape, tensor = spiel.shape, f"{spiel.kind}_tensor"

    def read(state: Any, info: Mapping[str, Any], row: Row, mask: Row) -> None:
        seen = np.array(getattr(state, tensor)(player), np.float32).reshape(shape)
        row[...] = np.moveaxis(seen, 0, -1) if len(shape) == 3 else seen
        mask[...] = False
        mask[state.legal_actions(player)] = True

    return read


class SpielGame:
    """A game in one slot."""

    def __init__(self, env: LoadedGame, writer: SlotWriter) -> None:
        self.env = env
        self.writer = writer
        self._state: Any = None
        self._rng = np.random.default_rng(0)
        self._players = range(env.game.num_players())
        self._paid = [0.0 for _ in self._players]
        self._movers: list[int] = []

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.writer.clear()
        self._rng = np.random.default_rng(seed)
        self._state = self.env.game.new_initial_state()
        self._paid = [0.0 for _ in self._players]

    def act(self, actions: Sequence[Any]) -> None:
        """Take the actions of all players that were ready."""
        if self._state.is_simultaneous_node():
            joint = [0 for _ in self._players]  # of players that have nothing to choose, too
            for player, action in zip(self._movers, actions, strict=True):
                joint[player] = action
            self._state.apply_actions(joint)
        else:
            self._state.apply_action(actions[0])

    def cut(self) -> None:
        """End the episode here: players that acted are truncated."""
        for agent in self.writer.unended():
            self.writer.end(agent, True, self._state, {})
        self.writer.over()

    def render(self) -> str:
        """Return OpenSpiel's own text."""
        return str(self._state)

    def look(self) -> None:
        """Sample the moves of chance, pay rewards, and find who must act next."""
        state, writer = self._state, self.writer
        while state.is_chance_node():
            state.apply_action(sample_chance(state, self._rng))
        returns = state.returns()
        if returns != self._paid:
            rewards = [now - before for now, before in zip(returns, self._paid, strict=True)]
            writer.reward(dict(zip(writer.agents, rewards, strict=True)))
            self._paid = returns
        if state.is_terminal():
            for agent in writer.unended():
                writer.end(agent, False, None, {})
            return writer.over()
        together = state.is_simultaneous_node()
        movers = self._players if together else (state.current_player(),)
        self._movers = [player for player in movers if state.legal_actions(player)]
        for player in self._movers:
            writer.ready(writer.agents[player], state, {})
        if writer.buffer.state is not None:
            writer.buffer.state[writer.slot] = self.env.whole(state)
        return None


def sample_chance(state: Any, rng: np.random.Generator) -> int:
    """Return a move of chance."""
    outcomes = state.chance_outcomes()
    point, passed = rng.random() * sum(chance for _, chance in outcomes), 0.0
    for outcome, chance in outcomes:
        passed += chance
        if point < passed:
            return int(outcome)
    return int(outcomes[-1][0])


def returns(build: Callable[[], LoadedGame], seed: int, ticks: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Play these actions with OpenSpiel alone; return the return of each player."""
    spiel, rng = build(), np.random.default_rng(seed)
    state = spiel.game.new_initial_state()
    for tick in [*ticks, {}]:
        while state.is_chance_node():
            state.apply_action(sample_chance(state, rng))
        if tick and state.is_simultaneous_node():
            state.apply_actions([tick.get(agent, 0) for agent in spiel.agents])
        elif tick:
            (action,) = tick.values()
            state.apply_action(action)
    return dict(zip(spiel.agents, state.returns(), strict=True))
