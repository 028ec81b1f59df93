"""The rows of one slot, in memory that both sides share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .actions import action_maker, mask_writer
from .errors import BrokenError
from .observations import MASK, OBSERVATION, row_writer, without_mask
from .spaces import Plain, kind_of


class Table:
    """The arrays of all slots, and how each agent's observations, masks and actions are converted."""

    def __init__(self, env: Any, order: Plain, memory: Any) -> None:
        for name, (offset, shape, dtype) in order["arrays"].items():
            setattr(self, name, np.ndarray(shape, dtype, memory, offset))
        self.agents = list(env.possible_agents)
        self.number = {agent: number for number, agent in enumerate(self.agents)}
        heads, single, self.has_state = order["heads"], order["single"], "state" in order["arrays"]
        shape, dtype = tuple(order["arrays"]["observation"][1][2:]), order["arrays"]["observation"][2]
        self.makers = [action_maker(env.action_space(agent), heads, single) for agent in self.agents]
        self.masks = [mask_writer(env.action_space(agent), heads, single) for agent in self.agents]
        spaces = [env.observation_space(agent) for agent in self.agents]
        self.writers = [row_writer(without_mask(space), shape, dtype) for space in spaces]
        self.masked = [kind_of(space) == "dict" and MASK in space.spaces for space in spaces]
        self.bare = [has and set(space.spaces) == {OBSERVATION, MASK} for has, space in zip(self.masked, spaces)]

    observation: Any
    mask: Any
    reward: Any
    ready: Any
    acted: Any
    ended: Any  # 1: terminated, 2: truncated
    over: Any
    late: Any  # rewards of agents that have ended
    listed: Any  # who takes part, though perhaps without a decision
    moving: Any
    action: Any
    state: Any


class Place:
    """Writes the rows of one slot."""

    def __init__(self, table: Table, slot: int) -> None:
        self.table, self.slot = table, slot
        self.rows, self.masks = list(table.observation[slot]), list(table.mask[slot])
        self.rewards, self.ready, self.acted = table.reward[slot], table.ready[slot], table.acted[slot]
        self.ended = [False] * len(table.agents)
        self.infos: Plain = {}

    def clear(self) -> None:
        """Prepare for an episode."""
        table, slot = self.table, self.slot
        for array in (table.observation, table.mask, table.reward, table.ready, table.acted, table.ended, table.over):
            array[slot] = 0
        table.late[slot] = 0
        self.ended = [False] * len(table.agents)
        self.infos = {}

    def check(self, env: Any) -> None:
        """Refuse an environment whose agents are not those that have seats."""
        agents = list(getattr(env, "possible_agents", ()))
        if agents != self.table.agents:
            raise BrokenError(
                f"possible_agents is {agents} after reset, but the league seated {self.table.agents}. Seats are the "
                "same in all episodes: list "
                "all agents that can ever play, and leave out of env.agents who does not"
            )

    def find(self, agent: Any) -> int:
        """Return the number of an agent."""
        number = self.table.number.get(agent)
        if number is None:
            raise BrokenError(
                f"agent {agent!r} is not among possible_agents {self.table.agents}, so it has no seat; list it there"
            )
        return number

    def pay(self, rewards: Any) -> None:
        """Add to the rewards of agents since their last decisions."""
        try:
            if None in rewards.values():
                raise TypeError
            if not any(rewards.values()):
                return
            for agent, reward in rewards.items():
                if reward:
                    number = self.find(agent)
                    if self.ended[number] and self.acted[number]:
                        self.pay_late(number, float(reward))
                    else:
                        self.rewards[number] += reward
        except (TypeError, ValueError):
            raise not_a_number(rewards)

    def pay_late(self, number: int, reward: float) -> None:
        """Pay an agent that has ended."""
        if not np.isfinite(reward):
            raise BrokenError(f"agent {self.table.agents[number]!r}: its reward is NaN or infinite, after its end")
        self.table.late[self.slot, number] += reward

    def enlist(self, agents: Any) -> None:
        """Set who takes part from the beginning; whoever acts or ends later takes part as well."""
        self.table.listed[self.slot] = [agent in agents for agent in self.table.agents]

    def join(self, agents: Any) -> None:
        """Let more agents take part, whether or not they have a decision."""
        for agent in agents:
            self.table.listed[self.slot, self.find(agent)] = True

    def show(self, agent: Any, seen: Any, info: Any) -> int:
        """Write the observation of an agent that must act now; return its number."""
        number = self.find(agent)
        table = self.table
        if self.ended[number]:
            raise BrokenError(f"agent {agent!r} came back after its end; PettingZoo wants a new agent with a new name")
        try:
            value = seen[OBSERVATION] if table.bare[number] else seen
            table.writers[number](value, self.rows[number])
            legal, write_mask = table.masks[number]
            if table.masked[number]:
                write_mask(seen[MASK], self.masks[number])
            elif MASK in info:
                write_mask(info[MASK], self.masks[number])
            else:
                self.masks[number][...] = legal
        except BrokenError as error:
            raise BrokenError(f"agent {agent!r}: {error}")
        self.ready[number] = True
        return number

    def end(self, agent: Any, truncated: bool, seen: Any, info: Any) -> None:
        """End an agent; its observation is read only if it was truncated and has acted."""
        number = self.find(agent)
        if self.acted[number] and not self.ended[number]:
            if truncated:
                self.show(agent, seen, info)
                self.ready[number] = False
            self.table.ended[self.slot, number] = 2 if truncated else 1
        self.ended[number] = self.table.listed[self.slot, number] = True
        self.infos[agent] = info

    def cut(self, agent: Any, info: Any) -> None:
        """Truncate an agent that must act now: the observation that is written already is its final one."""
        number = self.find(agent)
        self.ended[number] = True
        self.table.ended[self.slot, number] = 2
        self.infos[agent] = info

    def unended(self) -> list[Any]:
        """Return the agents that acted and have not ended."""
        states = zip(self.table.agents, self.acted.tolist(), self.ended)
        return [agent for agent, acted, ended in states if acted and not ended]

    def has_infos(self) -> bool:
        """Return whether any agent ended with an info that is not empty."""
        return any(not isinstance(info, dict) or info for info in self.infos.values())

    def finish(self) -> None:
        """Free the slot."""
        if not self.acted.any():
            raise BrokenError("the episode ended before any agent could act")
        self.table.over[self.slot] = True

    def look_at_all(self, env: Any) -> None:
        """Write the state of the whole slot, if critics see one."""
        if self.table.has_state:
            state, row = np.asarray(env.state()), self.table.state[self.slot]
            if state.shape != row.shape:
                raise BrokenError(f"state() has shape {state.shape}, but state_space says {row.shape}")
            row[...] = state


def not_a_number(rewards: Any) -> BrokenError:
    """Return an error that names the agent whose reward is no number."""
    odd = [agent for agent, paid in rewards.items() if np.ndim(paid) or not isinstance(paid, (int, float, np.number))]
    agent = (odd or list(rewards))[0]
    reward, remedy = rewards[agent], "give a number, e.g. float(reward)"
    if np.ndim(reward) == 1 and np.size(reward) > 1:
        example = ",".join(["1"] * np.size(reward))
        remedy = f"give a number, or a weight for each part of the vector: env.reward_weights=[{example}]"
    return BrokenError(f"agent {agent!r}: its reward is {reward!r}; {remedy}")
