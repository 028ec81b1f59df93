"""The environment of one slot, AEC or Parallel, of any PettingZoo since 1.20."""

from __future__ import annotations

from typing import Any

from .errors import BrokenError
from .rows import Place
from .spaces import Plain

CHECKERS = ("AssertOutOfBoundsWrapper", "OrderEnforcingWrapper", "TerminateIllegalWrapper")


def is_done(env: Any, agent: Any) -> bool:
    """Return whether an agent is done; before PettingZoo 1.22 there was one flag."""
    if hasattr(env, "terminations"):
        return bool(env.terminations[agent] or env.truncations[agent])
    return bool(env.dones[agent])


def flags_of(env: Any) -> tuple[Any, Any]:
    """Return who terminated and who was truncated."""
    return (env.terminations, env.truncations) if hasattr(env, "terminations") else (env.dones, {})


def strip(env: Any) -> Any:
    """Remove the outer wrappers of PettingZoo that only check what was checked for all slots at once."""
    while type(env).__name__ in CHECKERS and type(env).__module__.startswith("pettingzoo."):
        env = env.env
    return env


class Turns:
    """An AEC environment in one slot: agents act one at a time."""

    def __init__(self, env: Any, place: Place) -> None:
        self.env, self.inner, self.place, self.mover = env, strip(env), place, 0

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.place.clear()
        self.inner.reset(seed=seed)
        self.place.check(self.env)
        self.place.enlist(self.inner.agents)

    def act(self, numbers: list[int], actions: list[Any]) -> None:
        """Take the action of the one agent that was ready."""
        self.inner.step(self.place.table.makers[self.mover](actions[0]))
        self.place.pay(self.inner.rewards)

    def look(self) -> None:
        """Find the next agent that must act, after those that are done."""
        env, place = self.inner, self.place
        while env.agents:
            agent = env.agent_selection
            if not is_done(env, agent):
                self.mover = place.show(agent, env.observe(agent), env.infos[agent])
                return place.look_at_all(env)
            if all(is_done(env, one) for one in env.agents):
                break
            self.end(agent)
            env.step(None)
            if agent in env.agents:
                raise BrokenError(f"agent {agent!r} is done but step(None) did not remove it from env.agents")
            place.pay({one: reward for one, reward in env.rewards.items() if one != agent})
        for agent in place.unended():
            self.end(agent)
        place.join(env.agents)
        place.finish()
        return place.look_at_all(env)

    def cut(self) -> None:
        """End the episode here: agents that live are truncated."""
        for agent in self.place.unended():
            self.end(agent, True)
        self.place.finish()

    def end(self, agent: Any, here: bool = False) -> None:
        """End an agent. One with both flags reached a true end."""
        env = self.inner
        terminated, truncated = (bool(flags.get(agent, False)) for flags in flags_of(env))
        cut = (here or truncated) and not terminated
        self.place.end(agent, cut, env.observe(agent) if cut else None, env.infos.get(agent, {}))


class Rounds:
    """A cycle of an AEC environment as one parallel step, with one `observe` for each agent."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.agents: list[Any] = []

    def reset(self, seed: int) -> Any:
        """Begin an episode."""
        self.env.reset(seed=seed)
        self.agents = list(self.env.agents)
        return {agent: self.env.observe(agent) for agent in self.agents}, self.env.infos

    def step(self, actions: Plain) -> Any:
        """Step every agent once, in the order in which the environment selects them."""
        env, rewards = self.env, dict.fromkeys(self.agents, 0.0)
        for agent in self.agents:
            if agent != env.agent_selection:
                raise BrokenError(
                    f"agent {agent!r} should act next, but the environment selects {env.agent_selection!r}, "
                    "though its metadata says is_parallelizable"
                )
            env.step(actions[agent])
            for one, reward in env.rewards.items():
                rewards[one] = rewards.get(one, 0.0) + reward
        terminations, truncations = (dict(flags) for flags in flags_of(env))
        infos, seen = dict(env.infos), {agent: env.observe(agent) for agent in env.agents}
        while env.agents and is_done(env, env.agent_selection):
            env.step(None)
        self.agents = list(env.agents)
        return seen, rewards, terminations, truncations, infos

    def state(self) -> Any:
        """Return the state of the whole environment."""
        return self.env.state()


class Together:
    """A Parallel environment in one slot: all agents that live act at once."""

    def __init__(self, env: Any, place: Place) -> None:
        whole = type(env).__name__ == "aec_to_parallel_wrapper" and type(env).__module__.startswith("pettingzoo.")
        self.env, self.place, self.infos = env, place, {}  # type: Any, Place, Plain
        self.inner = Rounds(strip(env.aec_env)) if whole else env

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.place.clear()
        seen, infos = both(self.inner.reset(seed=seed))
        self.place.check(self.env)
        self.place.enlist(self.inner.agents)
        self.write(list(self.inner.agents), seen, infos)

    def act(self, numbers: list[int], actions: list[Any]) -> None:
        """Take the actions of all agents that were ready."""
        place, table = self.place, self.place.table
        chosen = {table.agents[n]: table.makers[n](action) for n, action in zip(numbers, actions)}
        seen, rewards, terminations, truncations, infos = five(self.inner.step(chosen))
        place.pay(rewards)
        live = [one for one in self.inner.agents if not (terminations.get(one) or truncations.get(one))]
        for agent in place.unended():
            if agent not in live:
                cut = bool(truncations.get(agent)) and not terminations.get(agent)
                place.end(agent, cut, seen.get(agent), infos.get(agent, {}))
        self.write(live, seen, infos)

    def look(self) -> None:
        """Write the state of the whole; all else is written when the environment returns it."""
        self.place.look_at_all(self.inner)

    def cut(self) -> None:
        """End the episode here. All agents that live must act now: the observations that are written are final."""
        for agent in self.place.unended():
            self.place.cut(agent, self.infos.get(agent, {}))
        self.place.finish()

    def write(self, live: list[Any], seen: Plain, infos: Plain) -> None:
        """Write the rows of agents that live; without any the episode is over."""
        self.infos = infos
        if not live:
            return self.place.finish()
        for agent in live:
            if agent not in seen:
                raise BrokenError(f"agent {agent!r} is in env.agents but was given no observation")
            self.place.show(agent, seen[agent], infos.get(agent, {}))
        return None


def both(result: Any) -> tuple[Any, Any]:
    """Return observations and infos of a reset; before PettingZoo 1.23 there were no infos."""
    return result if isinstance(result, tuple) else (result, {})


def five(result: Any) -> Any:
    """Return what a step gives; before PettingZoo 1.22 there was one flag for the end."""
    if len(result) == 5:
        return result
    seen, rewards, dones, infos = result
    return seen, rewards, dones, {}, infos


def is_parallel(env: Any) -> bool:
    """Return whether an environment has the Parallel API."""
    return any(kind.__name__ == "ParallelEnv" for kind in type(env).__mro__)
