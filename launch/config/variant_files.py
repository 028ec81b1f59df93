"""Variants of an environment from a file (`env.variants_from`): the config holds them from then on.

    config.env = with_variants_of_file(config.env)      # {"small": {"weight": 3, "kwargs": {"size": 5}}, ...}

The run keeps the variants, not the name of the file, so that it can be resumed and replayed without it.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from collectors.envs.config import EnvConfig, VariantConfig
from launch.config.config import ConfigError

LARGEST = 1 << 24  # bytes


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    weight: float = 1.0
    kwargs: dict[str, Any] = {}


def with_variants_of_file(env: EnvConfig) -> EnvConfig:
    """Return the config with the variants of its file, beside those that it has; raise ConfigError if that is none."""
    if env.variants_from is None:
        return env
    path = Path(env.variants_from)
    form = 'a JSON file such as {"small": {"weight": 3, "kwargs": {"size": 5}}}'
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise ConfigError(f"env.variants_from: {path} is no file of at most {LARGEST >> 20} MB; it must be {form}")
        rows = msgspec.json.decode(path.read_bytes(), type=dict[str, _Row])
        found = {name: VariantConfig(weight=row.weight, kwargs=row.kwargs) for name, row in rows.items()}
        return replace(env, variants=found | env.variants, variants_from=None)
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"env.variants_from={path}: {error}. It must be {form}") from error
