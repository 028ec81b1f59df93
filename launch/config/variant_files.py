"""Variants of an environment from a file (`env.variants_from`): the config holds them from then on.

    config.env = with_variants_of_file(config.env)      # {"small": {"weight": 3, "kwargs": {"size": 5}}, ...}

The run keeps the variants, not the name of the file, so that it can be resumed and replayed without it.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from collectors.envs.config import EnvConfig, VariantConfig
from launch.config.config import ConfigError
from league.store.plain_json import decode_json
from league.store.regular_file import IrregularFile, read_regular

LARGEST = 1 << 24  # bytes
FORM = 'a JSON file such as {"small": {"weight": 3, "kwargs": {"size": 5}}}'


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    weight: float = 1.0
    kwargs: dict[str, Any] = {}


def with_variants_of_file(env: EnvConfig) -> EnvConfig:
    """Return the config with the variants of its file, beside those that it has; raise ConfigError if that is none."""
    if env.variants_from is None:
        return env
    path = Path(env.variants_from).expanduser()
    try:
        data = read_regular(path, LARGEST)
        rows = decode_json(data, dict[str, _Row])
        json.loads(data, object_pairs_hook=_refuse_repeated)
        if not rows:
            raise ValueError("it has no variants")
        found = {name: VariantConfig(weight=row.weight, kwargs=row.kwargs) for name, row in rows.items()}
        return replace(env, variants=found | env.variants, variants_from=None)
    except (OSError, msgspec.MsgspecError, ValueError, IrregularFile) as error:
        raise ConfigError(f"env.variants_from={path}: {_reason(error)}. It must be {FORM}") from error


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that an object has twice: JSON would keep the last one, silently."""
    names = [name for name, _ in pairs]
    repeated = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if repeated is not None:
        raise ValueError(f"it has {repeated!r} twice")
    return dict(pairs)


def _reason(error: Exception) -> str:
    """Return what is wrong, without the advice for files that Ludus wrote."""
    if isinstance(error, IrregularFile):
        return str(error).partition(": remove it")[0]
    return str(error.strerror) if isinstance(error, OSError) and error.strerror else str(error)
