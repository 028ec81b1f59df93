"""What `ludus show` prints: the card of a packed player, for people and for programs.

for line in card_lines(read_player(path)):
    print(line)
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from league.agent_spaces import text_of
from league.policies.layout import PolicyConfig
from league.store.player_file import CardRating, PlayerCard, PlayerFile

WIDEST = 40  # characters of a label


def card_json(found: PlayerFile) -> dict[str, Any]:
    """Return the card and the manifest of a player file for programs."""
    card: dict[str, Any] = msgspec.to_builtins(found.card)
    return {**card, "manifest": msgspec.to_builtins(found.snapshot.manifest), "weights": weights_of(found)}


def weights_of(found: PlayerFile) -> int:
    """Return how many numbers the weights have."""
    return sum(array.size for array in found.snapshot.arrays.values())


def card_lines(found: PlayerFile) -> list[str]:
    """Return the card of a player file for people."""
    rows = [(_plain(name)[:WIDEST], text) for name, text in _rows(found)]
    wide = max(len(name) for name, _ in rows)
    return [f"{name:<{wide}}  {_plain(text)}" for name, text in rows]


def _rows(found: PlayerFile) -> Iterator[tuple[str, str]]:
    card, manifest, origin = found.card, found.snapshot.manifest, found.card.provenance
    yield "player", f"{card.player} of the run {origin.run}"
    yield "plays", f"{env_text(card)}{f' as {card.role}' if card.role else ', any seat'}"
    for agent in _different(card):
        spaces = card.spaces[agent]
        yield f"sees ({agent})", text_of(spaces.observation)
        yield (
            f"does ({agent})",
            text_of(spaces.action) + (", of which a mask shows the legal ones" if card.masks else ""),
        )
    usual = asdict(PolicyConfig())
    special = {key: value for key, value in manifest.policy.items() if key != "name" and usual.get(key) != value}
    yield "network", f"{manifest.policy.get('name')}, {weights_of(found):,} weights, {json.dumps(special)}"
    yield "trained", f"{manifest.decisions:,} decisions, version {manifest.version}, incarnation {manifest.incarnation}"
    yield "rating", rating_text(origin.rating)
    yield "league", f"{origin.env_steps:,} env steps until event {origin.event:,} of the ledger, seed {origin.seed}"
    if origin.line:
        known = [f"{one.snapshot[:12]} ({one.decisions:,})" for one in origin.line[:4] if one.decisions >= 0]
        yield "line", " < ".join(known) or "older snapshots are gone"
    yield "snapshot", card.snapshot
    yield "versions", ", ".join(f"{name} {version}" for name, version in origin.versions.items()) or "not known"
    for package, wanted in card.requires.items():
        yield "needs", f"{package}: pip install {wanted!r}"
    yield "licence", card.licence or "not stated"
    if card.note:
        yield "note", card.note


def env_text(card: PlayerCard) -> str:
    """Return which environment a card is for, with its options."""
    env = card.env
    name = env.get("id") or env.get("name")
    kwargs = ", ".join(f"{key}={value}" for key, value in dict(env.get("kwargs") or {}).items())
    return f"{name}({kwargs})" if kwargs else str(name)


def rating_text(rating: CardRating | None) -> str:
    """Return a rating with its interval and its anchors."""
    if rating is None:
        return "none: no games lead to an anchor"
    digits, unit = (0, "") if rating.by == "outcome" else (2, " by return")
    low, high = (f"{end:.{digits}f}" if end is not None else "?" for end in (rating.low, rating.high))
    anchors = ", ".join(f"{one.player} at {one.rating:g}" for one in rating.anchors)
    return f"{rating.rating:.{digits}f}{unit} ({low} to {high}), {rating.games:.0f} games; anchors: {anchors or 'none'}"


def zoo_lines(found: Mapping[str, PlayerFile]) -> list[str]:
    """Return a line for each player of the zoo, and the command that made it."""
    lines = []
    for name, file in found.items():
        card = file.card
        role = f" as {card.role}" if card.role else ""
        lines += [f"{name}  plays {env_text(card)}{role}; rating {rating_text(card.provenance.rating)}"]
        lines += [f"    {_plain(card.note)}"]
    return lines


def _different(card: PlayerCard) -> list[str]:
    """Return one agent for each pair of spaces that the player may have to do with."""
    first: dict[bytes, str] = {}
    for agent in card.agents:
        first.setdefault(msgspec.json.encode(card.spaces[agent]), agent)
    return list(first.values())


def _plain(text: str) -> str:
    """Return a text of a stranger in one line, without what only a terminal understands."""
    return "".join(c if c.isprintable() else "?" for c in str(text))
