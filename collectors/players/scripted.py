"""From the name of a bot to the bot, with its moves checked: an illegal move is an error that names the bot.

bot = make_bot("own_bot:Perfect", spec, allow=["own_bot"])
actions, log_probs = bot.act(rows.observation, rows.mask, rng)
"""

import inspect
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from league.errors import InputError, message_of
from league.player import Player
from league.plugins import resolve
from league.policies.actions import Actions, legal
from league.policies.actor import Actor
from league.spec import EnvSpec

SHOWN = 10  # legal actions that a message lists
WANTED = "return two arrays, an action for each row and its log-probability (zeros will do)"


class BotError(InputError):
    """A bot that cannot be made, or that breaks the rules; the message names it and says what to fix.

    `chosen` has the actions of an answer in which only some are illegal, and `fine` says which are not.
    """

    def __init__(self, message: str, chosen: Actions | None = None, fine: npt.NDArray[np.bool_] | None = None) -> None:
        super().__init__(message)
        self.chosen, self.fine = chosen, fine


def make_bot(name: str, spec: EnvSpec, allow: Collection[str] = ()) -> Actor:
    """Return the bot of this name for this environment. The bots of Ludus are trusted, and not checked."""
    kind = resolve("ludus.bots", name, allow)
    if getattr(kind, "__module__", "").startswith("collectors."):
        trusted: Actor = kind(spec)
        return trusted
    return Scripted(name, _made(name, kind, spec), spec)


def make_bots(players: Sequence[Player], spec: EnvSpec, allow: Collection[str] = ()) -> list[tuple[Player, Actor]]:
    """Return the scripted players with their bots."""
    bots = []
    for player in players:
        if player.bot is not None:
            try:
                bots.append((player, make_bot(player.bot, spec, allow)))
            except ValueError as error:
                raise BotError(f"league.players.{player.id}: {error}") from error
    return bots


def _made(name: str, kind: Any, spec: EnvSpec) -> Actor:
    if not callable(kind):
        raise BotError(f"the bot {name!r} is no class, but a {type(kind).__name__}; name a class that takes the spec")
    try:
        inspect.signature(kind).bind(spec)
    except TypeError as error:
        raise BotError(f"the bot {name!r} must take the spec of the environment: def __init__(self, spec)") from error
    try:
        bot: Actor = kind(spec)
    except ValueError as error:  # the bot refuses the environment, with its own message
        raise BotError(f"the bot {name!r}: {message_of(error)}") from error
    except Exception as error:
        raise BotError(
            f"the bot {name!r}: __init__ raised {type(error).__name__}: {message_of(error)}. Fix it, or take the "
            "player out"
        ) from error
    if not callable(getattr(bot, "act", None)):
        raise BotError(f"the bot {name!r} has no act; add def act(self, observation, mask, rng), and {WANTED}")
    return bot


class Scripted:
    """A bot of a user. Its moves are checked here, where its name is known."""

    def __init__(self, name: str, bot: Actor, spec: EnvSpec) -> None:
        self._name, self._bot, self._spec = name, bot, spec

    def act(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[Actions, npt.NDArray[np.float32]]:
        """Return the bot's actions; raise BotError unless there is one legal action for each row."""
        try:
            answer: Any = self._bot.act(observation, mask, rng)
        except Exception as error:
            raise BotError(
                f"the bot {self._name!r}: act raised {type(error).__name__}: {message_of(error)}. Fix it"
            ) from error
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise BotError(f"the bot {self._name!r}: act returned a {type(answer).__name__}; {WANTED}")
        actions, log_probs = map(np.asarray, answer)
        shape = (len(mask), *self._spec.action.shape)
        if actions.shape != shape or actions.dtype.kind not in ("iu" if self._spec.single else "iuf"):
            kind = "integers" if self._spec.single else "numbers"
            raise BotError(
                f"the bot {self._name!r}: act returned actions that are {actions.dtype} of shape {actions.shape} for "
                f"{len(mask)} rows; return {kind} of shape {shape}"
            )
        if log_probs.shape != shape[:1]:
            raise BotError(
                f"the bot {self._name!r}: act returned log-probabilities of shape {log_probs.shape}; {WANTED}"
            )
        fine = legal(self._spec, actions, mask)
        if not fine.all():
            chosen = actions.astype(self._spec.action.dtype, copy=False)
            raise BotError(self._illegal(actions[~fine][0], mask[~fine][0]), chosen, fine)
        return actions.astype(self._spec.action.dtype, copy=False), log_probs.astype(np.float32, copy=False)

    def _illegal(self, action: Any, mask: npt.NDArray[np.bool_]) -> str:
        if not self._spec.single:
            return (
                f"the bot {self._name!r}: act chose {action.tolist()}; choose options that the mask allows, and "
                "numbers between -1 and 1"
            )
        allowed = np.flatnonzero(mask).tolist()
        some = ", ".join(map(str, allowed[:SHOWN])) + ", ..." * (len(allowed) > SHOWN)
        return f"the bot {self._name!r}: act chose {action}, which is illegal; the mask allows [{some}]"
