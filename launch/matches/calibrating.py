"""`ludus calibrate`: bots of an environment play each other until their ratings are known to a few Elo.

An anchor pins the scale of a league, and all ratings are as wrong as its own. So it is measured: each bot plays the
one before it, in pairs (the same start, seats swapped), and its rating is the sum of the differences from the first.
A score counts draws as half a point, as in the standings.
"""

import json
import math
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from collectors.actors import Actors
from collectors.envs.config import EnvConfig, make_environment
from collectors.envs.rows import Environment
from collectors.episode import play_all
from launch.matches.match import SeatedActors
from launch.matches.stopping import Floats, elo_of, half_width, pair_scores
from launch.terminal.console import Console
from launch.terminal.spinner import Spinner
from league.errors import InputError
from league.ids import PlayerId, TicketNumber, derive_seed
from league.lineup import pair_lineup
from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig
from league.store.files import publish
from league.store.snapshots import SnapshotStore
from league.ticket import Entry, Purpose, Ticket, turns

SLOTS = 512  # episodes that are played at once,
BATCH = 4  # times as many between two looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """How exactly ratings are measured, and with which games."""

    half_width: float = 5.0  # Elo to each side of the 95 % interval of the last bot
    games: int = 2_000_000  # between two bots, at most
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no number of games would reach."""
        if not 0 < self.half_width < math.inf or self.games < 1:
            raise InputError(f"--half-width and --games must be positive, got {self.half_width:g} and {self.games}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The rating of a bot, and the games that it comes from; the first bot has none."""

    bot: str
    elo: float
    half_width: float  # of the 95 % interval
    against: str | None = None
    score: float | None = None
    games: int = 0


def calibrate(
    env: EnvConfig, bots: Sequence[str], precision: Precision, allow: Collection[str] = ()
) -> list[Calibrated]:
    """Return the rating of each bot, the first one at 0."""
    if len(bots) < 2 or len(set(bots)) < len(bots):
        raise InputError(f"name at least two different bots, the weakest first; got {', '.join(bots) or 'none'}")
    found = [Calibrated(bot=bots[0], elo=0.0, half_width=0.0)]
    each = precision.half_width / math.sqrt(len(bots) - 1)  # errors of a chain add up as squares do
    with closing(make_environment(env, SLOTS, allow)) as slots, Spinner("calibrate") as progress:
        _refuse_unfit(slots)
        for weaker, bot in pairwise(bots):
            scores = _link(slots, (bot, weaker), each, precision, allow, progress)
            score, last = float(scores.mean()), found[-1]
            found.append(
                Calibrated(
                    bot=bot,
                    elo=last.elo + elo_of(score),
                    half_width=math.hypot(last.half_width, elo_reach(scores)),
                    against=weaker,
                    score=score,
                    games=len(scores) * turns(slots.spec.roles, slots.spec.sides),
                )
            )
    return found


def _refuse_unfit(env: Environment) -> None:
    spec = env.spec
    if len(set(spec.sides)) == 1:
        raise InputError(f"nobody is beaten in {spec.name}, so its bots have no Elo")
    if turns(spec.roles, spec.sides) == 1:
        raise InputError(f"the seats of {spec.name} have different roles, so a bot has no one rating there")


def _link(
    env: Environment, pair: tuple[str, str], reach: float, precision: Precision, allow: Collection[str], show: Spinner
) -> Floats:
    """Return the scores of pairs of games of the first bot, as many as it takes."""
    spec, size = env.spec, turns(env.spec.roles, env.spec.sides)
    first, second = (Entry(PlayerId(bot), None, bot) for bot in pair)
    entries = tuple(e or second for e in pair_lineup(spec, 0, first, second, lambda entry, role: True))
    ticket = Ticket(number=TicketNumber(0), purpose=Purpose.EVALUATE, entries=entries, episodes=1)
    actors = Actors(spec, PerPlayer(PolicyConfig()), SnapshotStore(Path()), 0, allow)
    players = SeatedActors(ticket, env, actors, derive_seed(precision.seed, *pair))
    own, scores = {i for i, entry in enumerate(entries) if entry == first}, np.zeros(0)
    while len(scores) * size < precision.games:
        begun = len(scores)
        starts = range(begun, begun + min(-(-precision.games // size) - begun, BATCH * SLOTS // size))
        seeds = [derive_seed(precision.seed, *pair, start) for start in starts for _ in range(size)]
        played = play_all(env, ticket, seeds, players.cast(seeds), players.act)
        scores = np.concatenate([scores, pair_scores(played, own, spec.sides, size)])
        found = elo_reach(scores)
        if found <= reach:
            return scores
        show.update(f"{' against '.join(pair)}, {len(scores) * size} games, ±{found:.1f} Elo", (reach / found) ** 2)
    if not 0 < scores.mean() < 1:
        raise InputError(f"{pair[0]} against {pair[1]}: one won all {precision.games} games. Name a bot between them")
    return scores


def elo_reach(scores: Floats) -> float:
    """Return how far the interval of the difference in Elo reaches, from the scores of pairs; infinite for 0 and 1.

    The interval of the score, times the slope of Elo there: 400 / ln 10 / (s (1 - s)).
    """
    score = float(scores.mean())
    return half_width(scores) * 400 / math.log(10) / (score * (1 - score)) if 0 < score < 1 else math.inf


# --- the table -----------------------------------------------------------------------------------------------


def show_calibration(found: Sequence[Calibrated], as_json: bool, out: Path | None) -> None:
    """Print the table, and write it to a file if one is named."""
    plain = json.dumps([asdict(row) for row in found], indent=2)
    if out is not None:
        publish(out, f"{plain}\n".encode())
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(plain if as_json else "\n".join(calibration_lines(found)))


def calibration_lines(found: Sequence[Calibrated]) -> list[str]:
    """Return a line for each bot, and the settings of a league that has them as anchors."""
    wide = max(len(row.bot) for row in found)
    lines = [f"{found[0].bot:<{wide}}  {0:5d}"]
    for row in found[1:]:
        games = f"{row.score:.2%} against {row.against}, {row.games:,} games"
        lines.append(f"{row.bot:<{wide}}  {row.elo:5.0f} ±{row.half_width:.1f}  {games}")
    anchors = (f"league.players.{row.bot.rpartition(':')[2]}.anchor={row.elo:.0f}" for row in found)
    return [*lines, f"in a league: {' '.join(anchors)}"]
