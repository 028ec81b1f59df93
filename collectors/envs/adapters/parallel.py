"""Parallel environments: all agents that live act in the same tick."""

from collections.abc import Mapping, Sequence
from typing import Any

from pettingzoo.utils.conversions import aec_to_parallel_wrapper

from collectors.envs.adapters.aec import own_text, strip
from collectors.envs.adapters.observation_spaces import BrokenError
from collectors.envs.adapters.slot_writer import SlotWriter

Dicts = tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]


class ParallelRounds:
    """A cycle of an AEC environment as one parallel step, with one `observe` for each agent.

    PettingZoo's own wrapper observes every agent twice in each step, and checks each action twice.
    """

    def __init__(self, env: Any) -> None:
        self._env = env
        self.agents: list[str] = []

    def reset(self, seed: int) -> tuple[dict[str, Any], Mapping[str, Any]]:
        """Begin an episode."""
        self._env.reset(seed=seed)
        self.agents = list(self._env.agents)
        return {agent: self._env.observe(agent) for agent in self.agents}, self._env.infos

    def step(self, actions: Mapping[str, Any]) -> Dicts:
        """Step every agent once, in the order in which the environment selects them."""
        env = self._env
        rewards = dict.fromkeys(self.agents, 0.0)
        for agent in self.agents:
            if agent != env.agent_selection:
                raise BrokenError(
                    f"agent {agent!r} should act next, but the environment selects {env.agent_selection!r}, "
                    "though its metadata says is_parallelizable"
                )
            env.step(actions[agent])
            for one, reward in env.rewards.items():
                rewards[one] = rewards.get(one, 0.0) + reward
        flags = (dict(env.terminations), dict(env.truncations), dict(env.infos))
        observations = {agent: env.observe(agent) for agent in env.agents}
        while env.agents and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            env.step(None)
        self.agents = list(env.agents)
        return observations, rewards, *flags

    def state(self) -> Any:
        """Return the state of the whole environment."""
        return self._env.state()


class ParallelGame:
    """A Parallel environment in one slot."""

    def __init__(self, env: Any, writer: SlotWriter) -> None:
        self.env = env
        self._inner = ParallelRounds(strip(env.aec_env)) if type(env) is aec_to_parallel_wrapper else env
        self.writer = writer
        self._acting: list[str] = []
        self._infos: Mapping[str, Any] = {}

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.writer.clear()
        seen, infos = self._inner.reset(seed=seed)
        self.writer.check(self.env)
        self.writer.enlist(self._inner.agents)
        self._write(list(self._inner.agents), seen, infos)

    def act(self, actions: Sequence[Any]) -> None:
        """Take the actions of all agents that were ready, in the order of agents."""
        writer = self.writer
        chosen = {
            agent: writer.plays[writer.number[agent]](action)
            for agent, action in zip(self._acting, actions, strict=True)
        }
        seen, rewards, terminations, truncations, infos = self._inner.step(chosen)
        writer.reward(rewards)
        live = []
        for agent in self._inner.agents:
            if not (terminations.get(agent) or truncations.get(agent)):
                live.append(agent)
        for agent in writer.unended():
            if agent not in live:
                # An agent with both flags reached a true end: there is no future to estimate.
                truncated = bool(truncations.get(agent)) and not terminations.get(agent)
                writer.end(agent, truncated, seen.get(agent), infos.get(agent, {}))
        self._write(live, seen, infos)

    def look(self) -> None:
        """Write the state of the whole; `act` wrote all else, as another slot's step might overwrite it."""
        self.writer.write_state(self._inner)

    def cut(self) -> None:
        """End the episode here: agents that live are truncated. All of them must act now, so they have observations."""
        for agent in self.writer.unended():
            self.writer.end_ready(agent, self._infos.get(agent, {}))
        self.writer.over()

    def render(self) -> str:
        """Return the environment's own text, if it renders any."""
        return own_text(self.env)

    def _write(self, live: list[str], seen: Mapping[str, Any], infos: Mapping[str, Any]) -> None:
        writer, self._infos = self.writer, infos
        if not live:
            return writer.over()
        for agent in live:
            if agent not in seen:
                raise BrokenError(f"agent {agent!r} is in env.agents but was given no observation")
            writer.ready(agent, seen[agent], infos.get(agent, {}))
        self._acting = sorted(live, key=writer.number.__getitem__)
        return None
