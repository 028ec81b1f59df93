"""The environment's spec: taken once from the environment itself, and kept in the run directory for every process."""

from collections.abc import Collection

import msgspec

from collectors.envs.config import make_environment
from launch.config.config import Config
from league.spec import EnvSpec
from league.store.files import publish
from league.store.run_directory import RunDirectory


def describe_environment(config: Config, run: RunDirectory, allow: Collection[str]) -> EnvSpec:
    """Make the environment once to get its spec before any process starts; store it in the run."""
    env = make_environment(config.env, 1, allow)
    try:
        publish(run.env, msgspec.json.encode(env.spec))
        return env.spec
    finally:
        env.close()


def read_spec(run: RunDirectory) -> EnvSpec:
    """Return the spec that `describe_environment` stored."""
    return msgspec.json.decode(run.env.read_bytes(), type=EnvSpec)
