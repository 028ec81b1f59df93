"""One environment in the words of a command, such as `ludus check-env`, whose settings are overrides as in `ludus run`.

    compose_environment("classic/go_v5", ["board_size=9", "env.max_steps=200"])

`env.KEY=VALUE` is a setting, and KEY=VALUE an argument of the environment's constructor. `run` composes the settings.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from collectors.envs.config import EnvConfig
from collectors.envs.names import BACKENDS, EnvName, read_name
from launch.config.compose import compose, read_value
from launch.config.config import ConfigError


def compose_environment(text: str, words: Sequence[str] = (), allow: Collection[str] = ()) -> EnvConfig:
    """Return the config of the environment that a text means (see `read_name`); raise ConfigError in one line.

    >>> compose_environment("openspiel/go(board_size=9)").id
    'go(board_size=9)'
    >>> compose_environment("classic/go_v5", ["board_size=9", "env.max_steps=200"]).kwargs
    {'board_size': 9}
    """
    settings = [word for word in words if word.lstrip("+~").startswith("env.")]
    arguments = dict(_argument(word) for word in words if word not in settings)
    name, id = _named(text, settings, allow)
    env = compose([f"env.name={name}", *([f"env.id={id}"] if id else []), *settings], allow).env
    return replace(env, kwargs=env.kwargs | arguments)


def _named(text: str, settings: Sequence[str], allow: Collection[str]) -> EnvName:
    """Return the name and id of an environment; settings may name only what the text leaves open."""
    given = dict(_pair(word.lstrip("+"), "env.max_steps=200") for word in settings if not word.startswith("~"))
    # What another Python plays is not imported here.
    elsewhere = text not in BACKENDS and read_value(given.get("env.python", ""))
    found = EnvName("pettingzoo", text) if elsewhere else read_name(text, allow)
    for key, known in (("env.name", found.name), ("env.id", found.id or found.name not in BACKENDS)):
        if known and key in given:
            raise ConfigError(f"{key}={given[key]}: {text!r} already names the environment. Leave {key} out")
    return found


def _pair(text: str, example: str = "board_size=9") -> tuple[str, str]:
    key, found, value = text.partition("=")
    if not key or not found:
        raise ConfigError(f"cannot read {text!r}: write KEY=VALUE, e.g. {example}")
    return key, value


def _argument(text: str) -> tuple[str, Any]:
    """Return name and value of an argument; what is neither JSON nor a list, a dict or in quotes is text.

    >>> _argument("sides=[a,a]"), _argument("board_size=9"), _argument("name=go(board_size=9)")
    (('sides', ['a', 'a']), ('board_size', 9), ('name', 'go(board_size=9)'))
    """
    key, value = _pair(text)
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, read_value(value) if value[:1] in "[{'\"" else value
