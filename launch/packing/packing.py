"""`ludus pack`: a player of a run becomes one file, with which it can play anywhere.

path = pack(run, "main", Path("main.safetensors"), licence="CC-BY-4.0")
"""

import platform
import re
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import msgspec

from collectors.envs.config import make_environment
from collectors.envs.rows import Environment, HasSpaces
from launch.config.config import stored
from launch.matches.match import find_entry
from launch.packing.mask_trial import has_masks
from launch.viewers.tables import all_standings
from launch.viewers.view import View, open_view
from league.agent_spaces import AgentSpaces, plain_spaces
from league.errors import InputError
from league.ids import Hash
from league.state import LeagueState
from league.store.player_file import (
    CardAnchor,
    CardRating,
    ParentSnapshot,
    PlayerCard,
    PlayerFileError,
    Provenance,
    is_player,
    read_player,
    write_player,
)
from league.store.run_directory import RunDirectory
from league.store.snapshots import Manifest, Snapshot, SnapshotMissing, SnapshotStore
from league.ticket import Entry

LINE = 16  # ancestors that a card lists
PACKAGES = ("ludus-league", "numpy", "torch", "gymnasium", "pettingzoo")  # whose versions a card lists


class PackError(InputError):
    """A player that cannot leave its run; the message says why."""


def pack(
    run: RunDirectory,
    name: str,
    out: Path | None = None,
    *,
    licence: str | None = None,
    note: str | None = None,
    allow: Collection[str] = (),
) -> Path:
    """Write a player of a run into a file, and return its path; a learning player goes as its newest candidate.

    If the file has this player already, its licence and note stay unless new ones are given.
    """
    view = open_view(run)
    entry = find_entry(view.state, name)
    if entry.snapshot is None:
        what = f"the bot {entry.bot!r}" if entry.bot else "a mixture"
        raise PackError(f"{name!r} is {what}: only a player with weights can be packed")
    store = SnapshotStore(run.snapshots)
    snapshot, env = store.get(entry.snapshot), stored(run).env
    with closing(make_environment(env, 1, allow)) as made:
        spec, spaces = made.spec, spaces_of(made)
        masks = has_masks(made, spaces)
    if snapshot.manifest.signature != spec.signature:
        raise PackError(f"the weights of {name!r} do not fit {spec.name} as it is installed here: was it updated?")
    path = out or Path(f"{_safe(run.name)}-{_safe(name)}.safetensors")
    before = _packed_before(path, run.name, str(entry.player))
    card = PlayerCard(
        player=str(entry.player),
        role=view.state.population[entry.player].role,
        snapshot=entry.snapshot,
        env=msgspec.to_builtins(replace(env, python="")),  # where a Python lies is nobody else's business
        spec=spec,
        spaces=spaces,
        masks=masks,
        provenance=_provenance(run, view, entry, line_of(store, snapshot)),
        requires=_requires(snapshot.manifest),
        licence=(before.licence if before else "") if licence is None else licence,
        note=(before.note if before else "") if note is None else note,
    )
    write_player(path, snapshot, card)
    return path


def _packed_before(path: Path, run: str, player: str) -> PlayerCard | None:
    """Return the card of the file that will be replaced, if it is of the same player."""
    if not is_player(path):
        return None
    try:
        card = read_player(path).card
    except PlayerFileError:
        return None  # it is damaged, and replaced as a whole
    return card if (card.provenance.run, card.player) == (run, player) else None


def spaces_of(env: Environment) -> dict[str, AgentSpaces]:
    """Return the spaces of the agents of an environment."""
    return dict(env.spaces) if isinstance(env, HasSpaces) else plain_spaces(env.spec)


def _provenance(run: RunDirectory, view: View, entry: Entry, line: tuple[ParentSnapshot, ...]) -> Provenance:
    state = view.state
    return Provenance(
        run=run.name,
        event=view.seq,
        config=str(state.config_hash or ""),
        seed=state.seed,
        env_steps=state.env_steps,
        line=line,
        rating=_rating(state, entry),
        versions=dict(_versions()),
    )


def line_of(store: SnapshotStore, snapshot: Snapshot) -> tuple[ParentSnapshot, ...]:
    """Return the snapshots that weights descend from, the newest first, as far as the run still has them."""
    line: list[ParentSnapshot] = []
    parent = snapshot.manifest.parent
    while parent is not None and len(line) < LINE:
        try:
            manifest = store.get(parent).manifest
        except SnapshotMissing:
            return (*line, ParentSnapshot(player=snapshot.manifest.player, snapshot=parent, decisions=-1))
        line.append(_parent(manifest, Hash(parent)))
        parent = manifest.parent
    return tuple(line)


def _parent(manifest: Manifest, snapshot: Hash) -> ParentSnapshot:
    return ParentSnapshot(
        player=manifest.player, snapshot=snapshot, decisions=manifest.decisions, incarnation=manifest.incarnation
    )


def _rating(state: LeagueState, entry: Entry) -> CardRating | None:
    row = next((row for row in all_standings(state) if row.player == entry.player), None)
    if row is None or row.rating is None:
        return None
    anchors = tuple(
        CardAnchor(player=str(p.id), rating=p.anchor, bot=p.bot, snapshot=p.snapshot)
        for p in state.population.anchors()
        if p.anchor is not None
    )
    return CardRating(rating=row.rating, low=row.low, high=row.high, games=row.games, by=row.by, anchors=anchors)


def _versions() -> Iterator[tuple[str, str]]:
    yield "python", platform.python_version()
    for package in PACKAGES:
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            continue


def _requires(manifest: Manifest) -> dict[str, str]:
    """Return the package of a network that is none of Ludus, with what pip installs for it."""
    module, colon, _ = str(manifest.policy.get("name")).partition(":")
    if not colon:
        return {}
    package = module.partition(".")[0]
    return {package: next(iter(metadata.packages_distributions().get(package, [])), package)}


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.+=,@-]+", "-", name).lstrip(".-") or "player"
