"""The environment's spec: taken once from the environment itself, and kept in the run directory for every process.

spec = prepare_league(config, run, allow)       # where a league is launched
spec = read_spec(run)                           # in its processes
"""

from collections.abc import Collection

import msgspec

from collectors.envs.config import make_environment
from launch.config.config import Config
from launch.spawn.left_over import children, end_left_over
from league.recipe_check import rehearse_rules
from league.spec import EnvSpec
from league.store.files import publish
from league.store.plain_json import read_json
from league.store.run_directory import RunDirectory, RunError


def prepare_league(config: Config, run: RunDirectory, allow: Collection[str]) -> EnvSpec:
    """Describe the environment and check the rules of the league in it: every launch does so before it starts anything.

    A stored config may have changed since its run began, and so may the packages that this call allows.
    """
    spec = describe_environment(config, run, allow)
    check_rules(config, spec, allow)
    return spec


def check_rules(config: Config, spec: EnvSpec, allow: Collection[str]) -> None:
    """Raise InputError if a matchmaker or a freeze rule is not allowed, or does not work in this environment."""
    rehearse_rules(config.league, [] if spec.cooperative else spec.roles, allow)


def describe_environment(config: Config, run: RunDirectory, allow: Collection[str]) -> EnvSpec:
    """Make the environment once to get its spec before any process starts; store it in the run."""
    before = children()
    env = make_environment(config.env, 1, allow)
    try:
        publish(run.env, msgspec.json.encode(env.spec))
        return env.spec
    finally:
        env.close()
        end_left_over(before)


def read_spec(run: RunDirectory) -> EnvSpec:
    """Return the spec that `describe_environment` stored."""
    try:
        return read_json(run.env, EnvSpec)
    except (msgspec.DecodeError, FileNotFoundError) as error:
        raise RunError(f"cannot read {run.env}: {error}. Delete it, and resume the run: it is written again") from error
