"""The slot writer: how the environment of one slot writes into the row buffer, whatever its API."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from collectors.envs.adapters.action_spaces import Play
from collectors.envs.adapters.observation_spaces import BrokenError, Read
from collectors.envs.adapters.row_buffer import RowBuffer
from collectors.envs.rows import Idle, Late


class Game(Protocol):
    """One environment in one slot.

    game.begin(seed)
    game.look()                         # agents that must act now are ready in the buffer
    game.act([action, ...])             # one for each agent that was ready, in the order of agents
    game.look()

    All slots act before any looks: each half keeps the processor's caches warm.
    """

    env: Any
    writer: "SlotWriter"

    def begin(self, seed: int) -> None:
        """Begin an episode."""

    def act(self, actions: Sequence[Any]) -> None:
        """Take the actions of all agents that were ready."""

    def look(self) -> None:
        """Write rewards, ends, and the observations of agents that must act now into the buffer."""

    def cut(self) -> None:
        """End the episode here: every agent that acted and still lives is truncated."""

    def render(self) -> str:
        """Return the position as text; empty if the environment has none."""


class SlotWriter:
    """Writes the rows of one slot into the buffer."""

    def __init__(self, buffer: RowBuffer, slot: int, readers: Mapping[str, Read], plays: Mapping[str, Play]) -> None:
        agents = buffer.spec.agents
        self.buffer = buffer
        self.slot = slot
        self.agents = agents
        self.has_state = buffer.state is not None
        self.plays = [plays[agent] for agent in agents]  # from an action of a row to one of the environment
        self.number = {agent: number for number, agent in enumerate(agents)}
        # Of each agent: its number, how to read what it sees, and where that is written.
        self._places = {
            agent: (number, readers[agent], buffer.observation[slot, number], buffer.mask[slot, number])
            for agent, number in self.number.items()
        }
        self._ready = buffer.ready[slot]
        self._reward = buffer.reward[slot]
        self._acted = buffer.acted[slot]
        self._ended = [False] * len(agents)
        self._listed = [True] * len(agents)  # took part, though perhaps without a decision
        self.infos: dict[str, Mapping[str, Any]] = {}  # the last one of each agent that ended

    def check(self, env: Any) -> None:
        """Refuse an environment whose agents are not those that the league seated."""
        agents = tuple(getattr(env, "possible_agents", ()))
        if agents != self.agents:
            raise BrokenError(
                f"possible_agents is {list(agents)} after reset, but the league seated {list(self.agents)}. Seats are "
                "the same in all episodes: list all agents that can ever play, and leave out of env.agents who does not"
            )

    def clear(self) -> None:
        """Prepare for a new episode, in which all agents take part unless `enlist` is called."""
        self.buffer.clear(self.slot)
        self._ended = [False] * len(self.agents)
        self._listed = [True] * len(self.agents)
        self.infos = {}

    def enlist(self, agents: Iterable[str]) -> None:
        """Set who takes part from the beginning; whoever acts or ends later takes part as well."""
        listed = set(agents)
        self._listed = [agent in listed for agent in self.agents]

    def join(self, agents: Iterable[str]) -> None:
        """Let more agents take part, whether or not they have a decision."""
        for agent in agents:
            self._listed[self._place(agent)] = True

    def reward(self, rewards: Mapping[str, Any]) -> None:
        """Add to the rewards of agents since their last decisions."""
        try:
            if None in rewards.values():
                raise _not_a_number(rewards)
            if not any(rewards.values()):  # most rewards of most games are zero; NaN is not
                return
            for agent, reward in rewards.items():
                if reward:
                    number = self._place(agent)
                    if self._ended[number] and self._acted[number]:
                        self._pay_late(number, float(reward))
                    else:
                        self._reward[number] += reward
        except (TypeError, ValueError) as error:
            raise _not_a_number(rewards) from error

    def _pay_late(self, number: int, reward: float) -> None:
        """Pay an agent that has had its END row."""
        if not math.isfinite(reward):
            raise BrokenError(f"agent {self.agents[number]!r}: its reward is NaN or infinite, after its end")
        self.buffer.pending.late.append(Late(self.slot, number, reward))

    def ready(self, agent: str, seen: Any, info: Mapping[str, Any]) -> int:
        """Write the observation of an agent that must act now; return its number."""
        place = self._places.get(agent)
        if place is None:
            raise self._unknown(agent)
        number, read, row, mask = place
        if self._ended[number]:
            raise BrokenError(f"agent {agent!r} came back after its end; PettingZoo wants a new agent with a new name")
        try:
            read(seen, info, row, mask)
        except BrokenError as error:
            raise BrokenError(f"agent {agent!r}: {error}") from error
        self._ready[number] = True
        return number

    def end(self, agent: str, truncated: bool, seen: Any, info: Mapping[str, Any]) -> None:
        """Give an agent its END row, if it ever acted. Its observation is read only if it was truncated."""
        number = self._place(agent)
        if self._acted[number] and not self._ended[number]:
            if truncated:
                self.ready(agent, seen, info)
                self._ready[number] = False
            self.buffer.pending.ends.append((self.slot, number, truncated))
        self._ended[number] = self._listed[number] = True
        self.infos[agent] = info

    def end_ready(self, agent: str, info: Mapping[str, Any]) -> None:
        """Truncate an agent that must act now: the observation that is written already is its final one."""
        number = self._place(agent)
        self._ended[number] = True
        self.buffer.pending.ends.append((self.slot, number, True))
        self.infos[agent] = info

    def unended(self) -> list[str]:
        """Return the agents that acted and have no END row yet."""
        states = zip(self.agents, self._acted.tolist(), self._ended, strict=True)
        return [agent for agent, acted, ended in states if acted and not ended]

    def over(self) -> None:
        """Free the slot: its episode is complete."""
        acted = self._acted.tolist()
        if not any(acted):
            raise BrokenError("the episode ended before any agent could act")
        self.buffer.pending.over.append(self.slot)
        if not all(acted):
            earned = enumerate(zip(self._reward.tolist(), acted, strict=True))
            idle = [Idle(self.slot, number, reward) for number, (reward, had) in earned if reward and not had]
            self.buffer.pending.idle.extend(idle)
            present = [listed or had for listed, had in zip(self._listed, acted, strict=True)]
            if not all(present):
                self.buffer.pending.present[self.slot] = present

    def write_state(self, env: Any) -> None:
        """Write the state of the whole slot, if the spec has one."""
        if self.buffer.state is not None and self.buffer.spec.state is not None:
            state = np.asarray(env.state())
            if state.shape != self.buffer.spec.state.shape:
                raise BrokenError(
                    f"state() has shape {state.shape}, but state_space says {self.buffer.spec.state.shape}; "
                    "fix the environment, or set env.state=false"
                )
            with np.errstate(over="ignore"):  # a number that is too large is a fault, and needs no warning
                self.buffer.state[self.slot] = state

    def _place(self, agent: str) -> int:
        number = self.number.get(agent)
        if number is None:
            raise self._unknown(agent)
        return number

    def _unknown(self, agent: str) -> BrokenError:
        return BrokenError(
            f"agent {agent!r} is not among possible_agents {list(self.agents)}, so it has no seat; list it there"
        )


def _not_a_number(rewards: Mapping[str, Any]) -> BrokenError:
    """Return an error that names the agent whose reward is no number."""
    odd = [
        agent for agent, reward in rewards.items() if np.ndim(reward) or not isinstance(reward, int | float | np.number)
    ]
    agent = odd[0] if odd else next(iter(rewards))
    reward, remedy = rewards[agent], "give a number, e.g. float(reward)"
    if np.ndim(reward) == 1 and np.size(reward) > 1:
        example = ",".join(["1"] * np.size(reward))
        remedy = f"give a number, or a weight for each part of the vector: env.reward_weights=[{example}]"
    return BrokenError(f"agent {agent!r}: its reward is {reward!r}; {remedy}")
