"""Many games between many pairs, in this process, also of players of different runs.

    arena = Arena(config, [run.snapshots], allow)
    contests = arena.play([Pairing(state, first, second), ...], games=400, seed=1)

The games are those of an evaluation, as a duel plays them: weights never change, actions are sampled, and all seatings
of one start have the same seed. Many slots share each forward pass.
"""

from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from collectors.actors import Actors
from collectors.envs.config import make_environment
from collectors.envs.names import BACKENDS
from collectors.episode import play_all
from launch.config.config import Config, policies_of
from launch.matches.dueling import FOREIGN_SLOTS, SLOTS, Contest, count
from launch.matches.match import SeatedActors, seat_pair
from launch.terminal.spinner import Spinner
from league.ids import derive_seed
from league.state import LeagueState
from league.store.snapshots import SnapshotStore
from league.ticket import Entry, turns


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players that meet; `state` knows the roles of those that are members of its league."""

    state: LeagueState
    first: Entry
    second: Entry


class JoinedStores(SnapshotStore):
    """The snapshots of several runs, to be read."""

    def __init__(self, roots: Sequence[Path]) -> None:
        super().__init__(roots[0])
        self._stores = [SnapshotStore(root) for root in roots]

    def path(self, name: str) -> Path:
        """Return where the snapshot of this hash lies: in the first store that has it."""
        found = [store.path(name) for store in self._stores]
        return next((path for path in found if path.exists()), found[0])


@dataclass(frozen=True, slots=True)
class Arena:
    """Where players of one or several runs meet, all in the same environment."""

    config: Config
    stores: Sequence[Path]
    allow: Collection[str] = ()

    def play(self, pairings: Sequence[Pairing], games: int, seed: int, what: str = "games") -> list[Contest]:
        """Let each pair play that many episodes, from all seats in turn; return the counts in the same order."""
        config, found = self.config, list[Contest]()
        slots = min(games, FOREIGN_SLOTS if config.env.name in BACKENDS else SLOTS)
        with closing(make_environment(config.env, slots, self.allow)) as env, Spinner(what) as progress:
            spec, size = env.spec, turns(env.spec.roles, env.spec.sides)
            seeds = [derive_seed(seed, "play", episode // size) for episode in range(games)]
            cache = config.collector.cache_megabytes << 20
            actors = Actors(spec, policies_of(config), JoinedStores(self.stores), cache, self.allow)
            for number, pairing in enumerate(pairings):
                progress.update(f"{number * games:,} of {len(pairings) * games:,}", share=number / len(pairings))
                ticket = seat_pair(pairing.state, spec, pairing.first, pairing.second)
                players = SeatedActors(ticket, env, actors, derive_seed(seed, "act", number))
                outcomes = play_all(env, ticket, seeds, players.cast(seeds), players.act)
                found.append(count(spec, ticket.entries, pairing.first, pairing.second, outcomes))
        return found
