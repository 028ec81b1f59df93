"""The settings of an environment, and the way from them to a batch of slots.

env = make_environment(EnvConfig(name="connect_four"), slots=256)
env = make_environment(EnvConfig(name="pettingzoo", id="mpe2/simple_tag_v3", kwargs={"max_cycles": 50}), slots=16)
"""

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.envs.rows import Environment
from collectors.outcomes import Referee
from league.plugins import PluginError, names, resolve


class EnvError(ValueError):
    """An environment that cannot be made as the config says."""


@dataclass(kw_only=True, slots=True)
class EnvConfig:
    """Which game is played, and who sits where."""

    name: str = "connect_four"  # a name of the group ludus.environments, or package.module:Class
    id: str = ""  # only for name=pettingzoo: the registry's id, or package.module:function
    kwargs: dict[str, Any] = field(default_factory=dict)  # for the environment's constructor
    seats: list[list[str]] | None = None  # the agents of each seat, or patterns like wolf_*; null: a good guess
    roles: list[str] | None = None  # the role of each seat; null: told from the agents' names and spaces
    sides: list[str] | None = None  # the side of each seat: equal names win together; null: a good guess
    outcome: str | None = None  # package.module:function that says who did best; null: the winner, or who returned most
    draw_margin: float = 0.0  # a side has to be ahead by more than this, or it is a draw

    def __post_init__(self) -> None:
        """Refuse settings that only a PettingZoo environment has."""
        if self.name == "pettingzoo" and not self.id:
            raise ValueError("env.id is missing: name the PettingZoo environment, e.g. env.id=classic/connect_four_v3")
        if not 0 <= self.draw_margin < float("inf"):
            raise ValueError(f"env.draw_margin must be a number from 0 on, got {self.draw_margin}")
        given = [name for name in ("id", "seats", "roles", "sides") if getattr(self, name)]
        if self.name != "pettingzoo" and given:
            raise ValueError(f"env.{given[0]} is only for env.name=pettingzoo; the seats of {self.name!r} are fixed")

    def options(self) -> dict[str, Any]:
        """Return what the environment's maker takes beside the number of slots."""
        if self.name != "pettingzoo":
            return dict(self.kwargs)
        return {
            "id": self.id,
            "kwargs": dict(self.kwargs),
            "seats": self.seats,
            "roles": self.roles,
            "sides": self.sides,
        }


def make_environment(config: EnvConfig, slots: int, allow: Collection[str] = ()) -> Environment:
    """Return a batch of slots; raise PluginError or EnvError, in one line, if the config does not lead to one."""
    what = config.id or config.name
    try:
        env: Environment = _maker(config, allow)(slots=slots, **config.options())
    except PluginError:
        raise
    except Exception as error:  # whatever a foreign constructor raises is the fault of the config or of the package
        detail = " ".join(str(error).split())
        raise EnvError(f"cannot make the environment {what!r} with env.kwargs={config.kwargs}: {detail}") from error
    return _with_referee(env, config, allow)


def _with_referee(env: Environment, config: EnvConfig, allow: Collection[str]) -> Environment:
    """Return the environment with a referee, if anybody but the returns has a say in who did best."""
    judge = None if config.outcome is None else resolve("ludus.outcomes", config.outcome, allow)
    if judge is not None and not callable(judge):
        env.close()
        raise EnvError(f"env.outcome={config.outcome} is no function, but a {type(judge).__name__}")
    if judge is None and not config.draw_margin and not hasattr(env, "infos"):
        return env
    return Referee(env, judge, config.draw_margin, config.outcome or "")


def _maker(config: EnvConfig, allow: Collection[str]) -> Any:
    """Return the class or function; PettingZoo is imported only for those who use it."""
    if config.name == "pettingzoo":
        from collectors.envs.plan import plan

        return lambda slots, **options: plan("pettingzoo", options, tuple(allow)).build(slots)
    maker = resolve("ludus.environments", config.name, allow)
    if not _takes_slots(maker):
        raise EnvError(f"it takes no 'slots'. A PettingZoo environment? Then: env=pettingzoo env.id={config.name}")
    return maker


def _takes_slots(maker: Any) -> bool:
    return "slots" in inspect.signature(maker).parameters


def parse_environment(text: str, kwargs: Mapping[str, Any], allow: Collection[str] = ()) -> EnvConfig:
    """Return the config of what a user calls an environment: a name, a PettingZoo id, or package.module:attribute.

    >>> parse_environment("classic/go_v5", {"board_size": 9}).id
    'classic/go_v5'
    """
    options = dict(kwargs)
    if text == "pettingzoo":
        return EnvConfig(name=text, id=str(options.pop("id", "")), kwargs=options)
    if text in names("ludus.environments") or (
        "/" not in text and _takes_slots(resolve("ludus.environments", text, allow))
    ):
        return EnvConfig(name=text, kwargs=options)
    return EnvConfig(name="pettingzoo", id=text, kwargs=options)
