"""Wrappers by name: `env.wrappers=["my_package.wrappers:flatten", ["supersuit:frame_stack_v1", {stack_size: 4}]]`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from collectors.envs.known import wrapper
from league.errors import message_of

Build = Callable[[], Any]


def wrap(build: Build, wrappers: Sequence[Any], kinds: tuple[type, ...], allow: Collection[str] = ()) -> Build:
    """Return the function that builds an environment and wraps it, the first wrapper innermost.

    A wrapper is the name of a function or class that takes an environment and returns one of `kinds`, or a
    pair of that name and its keyword arguments.
    """
    steps = [(name, wrapper(name, kwargs, allow)) for name, kwargs in map(read_wrapper, wrappers)]
    if not steps:
        return build

    def wrapped() -> Any:
        env = build()
        for name, step in steps:
            env = _apply(name, step, env, kinds)
        return env

    return wrapped


def read_wrapper(wrapper: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the name of a wrapper and its arguments."""
    match wrapper:
        case str(name):
            return name, {}
        case [str(name), Mapping() as kwargs]:
            return name, kwargs
    raise ValueError(
        f'env.wrappers: cannot read {wrapper!r}; write "package.module:name", or '
        '["package.module:name", {argument: value}]'
    )


def _apply(name: str, step: Callable[[Any], Any], env: Any, kinds: tuple[type, ...]) -> Any:
    try:
        result = step(env)
    except Exception as error:
        raise ValueError(
            f"env.wrappers: {name!r} raised {type(error).__name__}: {message_of(error)}. It must take an environment "
            "as its first argument; fix it, its arguments, or take it out."
        ) from error
    if not isinstance(result, kinds):
        raise ValueError(
            f"env.wrappers: {name!r} returned a {type(result).__name__}, but a wrapper must return an environment "
            f"({' or '.join(kind.__name__ for kind in kinds)}). Fix it, or take it out."
        )
    return result
