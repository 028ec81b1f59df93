"""The kinds of players that Ludus ships, as conf/league/alphastar.yaml has them."""

from pathlib import Path

import msgspec
import yaml

from league.kinds import KindConfig

RECIPES = Path(__file__).parents[2] / "conf" / "league"


def shipped_kinds(recipe="alphastar"):
    rows = yaml.safe_load((RECIPES / f"{recipe}.yaml").read_text())["kinds"]
    return {name: msgspec.convert(row, KindConfig) for name, row in rows.items()}
