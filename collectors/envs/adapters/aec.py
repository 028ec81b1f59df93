"""AEC environments: agents act one at a time."""

from collections.abc import Sequence
from typing import Any

from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from collectors.envs.adapters.observation_spaces import BrokenError
from collectors.envs.adapters.slot_writer import SlotWriter

CHECKERS = (AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper)


def strip(env: Any) -> Any:
    """Remove the outer wrappers that only check what a batch of slots has checked already.

    Order, bounds and legality are checked for all slots at once; PettingZoo's wrappers check them again, at two to four
    times the cost of the game. Any other wrapper may change the game: it stays, with all inside it.
    """
    while type(env) in CHECKERS:
        env = env.env
    return env


def own_text(env: Any) -> str:
    """Return the text that an environment renders, if any."""
    if getattr(env, "render_mode", None) != "ansi":
        return ""
    shown = env.unwrapped.render()  # a wrapper may not know that the environment inside was reset
    return "" if shown is None else str(shown)


class AecGame:
    """An AEC environment in one slot: one `observe` for each move, no `last`, no needless dead steps."""

    def __init__(self, env: Any, writer: SlotWriter) -> None:
        self.env = env
        self._inner = strip(env)
        self.writer = writer
        self._plays, self._has_state = writer.plays, writer.has_state
        self._mover = 0

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.writer.clear()
        self._inner.reset(seed=seed)
        self.writer.check(self._inner)
        self.writer.enlist(self._inner.agents)

    def act(self, actions: Sequence[Any]) -> None:
        """Take the action of the one agent that was ready."""
        self._inner.step(self._plays[self._mover](actions[0]))
        self.writer.reward(self._inner.rewards)  # not in `look`: after a reset they may be those of the last episode

    def look(self) -> None:
        """Find the next agent that must act, after those that are done."""
        env = self._inner
        if not env.agents:
            return self._finish()
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            return self._end_selected()
        self._mover = self.writer.ready(agent, env.observe(agent), env.infos[agent])
        if self._has_state:
            self.writer.write_state(env)
        return None

    def cut(self) -> None:
        """End the episode here: agents that live are truncated."""
        for agent in self.writer.unended():
            self._end(agent, cut=True)
        self.writer.over()

    def render(self) -> str:
        """Return the environment's own text, if it renders any."""
        return own_text(self.env)

    def _end_selected(self) -> None:
        """Give the selected agent, which is done, its end; if all are done, the episode is over at once."""
        env = self._inner
        if all(env.terminations[agent] or env.truncations[agent] for agent in env.agents):
            return self._finish()
        agent = env.agent_selection
        self._end(agent)
        env.step(None)
        if agent in env.agents:
            raise BrokenError(f"agent {agent!r} is done but step(None) did not remove it from env.agents")
        self.writer.reward({one: reward for one, reward in env.rewards.items() if one != agent})
        return self.look()

    def _finish(self) -> None:
        for agent in self.writer.unended():
            self._end(agent)
        self.writer.join(self._inner.agents)
        self.writer.over()
        if self._has_state:
            self.writer.write_state(self._inner)

    def _end(self, agent: str, cut: bool = False) -> None:
        env = self._inner
        # An agent with both flags reached a true end: there is no future to estimate.
        truncated = (cut or bool(env.truncations.get(agent, False))) and not env.terminations.get(agent, False)
        seen = env.observe(agent) if truncated else None
        self.writer.end(agent, truncated, seen, env.infos.get(agent, {}))
