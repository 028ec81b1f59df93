"""The Python API: what the command line does, from a script or a notebook. `import ludus` re-exports it.

    league = ludus.run(["env=tic_tac_toe", "launch=inline", "league.budget.env_steps=300_000"])
    league.standings()[0].player
    league.play("main", "random", episodes=100).score

Everything heavy is imported when it is needed, so `import ludus` costs next to nothing. What the user can mend
is raised as a ValueError that says how.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from league.player import Player
    from league.standings import PayoffTable, Standing
    from league.state import LeagueState
    from league.store.run_directory import RunDirectory

INTERRUPTED = 130


def run(
    overrides: Sequence[str] = (), *, quiet: bool = True, allow: Sequence[str] = (), accept_changes: bool = False
) -> "League":
    """Do what `ludus run OVERRIDE...` does: start a league, or go on with it if its run exists; return it.

    `launch=inline` plays in this process, `launch=local` (the default) starts processes. Both return when the
    league is over. `allow` names packages whose code the config may name.

    league = ludus.run(["env=connect_four", "name=second", "league.budget.minutes=3"], quiet=False)
    """
    from launch.compose import compose
    from launch.start import begin

    if isinstance(overrides, str):
        raise ValueError(f"overrides must be a list of texts: write [{overrides!r}]")
    found = begin(compose(overrides, allow), allow=allow, accept=accept_changes, say=lambda line: None)
    return League(found, allow).resume(quiet=quiet)


def open(run: str) -> "League":
    """Return a league by the name of its run, its path, or `latest`; it may be stopped or alive."""
    from league.store.run_directory import RunDirectory

    return League(RunDirectory.find(run))


@dataclass(frozen=True, slots=True)
class Score:
    """What came of some games between two players, told for the first of them.

    >>> Score(wins=8, draws=1, losses=1).score
    0.85
    """

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """How many games were played."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The share of points: a win is one, a draw half a point."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the score."""
        from league.interval import wilson

        low, high = wilson(self.wins + self.draws / 2, self.games)
        return float(low), float(high)


class League:
    """A league and its run directory. Every method looks at the run as it is when it is called.

    league = ludus.open("latest")
    for row in league.standings():
        print(row.place, row.player, row.rating)
    """

    def __init__(self, run: "RunDirectory", allow: Sequence[str] = ()) -> None:
        self._run, self._allow = run, tuple(allow)

    def __repr__(self) -> str:
        return f"League({str(self.path)!r})"

    @property
    def name(self) -> str:
        """The name of the run."""
        return self._run.name

    @property
    def path(self) -> Path:
        """The directory of the run."""
        return self._run.root

    @property
    def state(self) -> "LeagueState":
        """All that is known of the league now, folded from its events."""
        from launch.view import open_view

        return open_view(self._run).state

    def players(self) -> "list[Player]":
        """Return all players, in the order in which they came."""
        return list(self.state.population)

    def standings(self) -> "list[Standing]":
        """Return the ratings with their intervals, the strongest player first; in co-operation the mean returns."""
        from launch.tables import all_standings

        return all_standings(self.state)

    def payoff(self, purpose: str = "evaluate") -> "PayoffTable":
        """Return who scores what against whom, in matches of purpose `evaluate` or `train`."""
        from league.standings import payoff_table

        if purpose not in ("evaluate", "train"):
            raise ValueError(f"purpose must be 'evaluate' or 'train', got {purpose!r}")
        state = self.state
        table = state.evaluation if purpose == "evaluate" else state.training
        return payoff_table([player.id for player in state.population], table)

    def play(self, a: str, b: str, episodes: int = 100, seed: int = 0) -> Score:
        """Let `a` play `b` here and now, and return the score of `a`. The league does not hear of it.

        Both are players of the league or names of bots; a learning player plays with its newest candidate.
        Actions are sampled, and interchangeable seats are swapped in every other episode. If there are more
        than two seats, `b` has all the others, and each of them is a game.
        """
        if episodes < 1:
            raise ValueError(f"episodes must be at least 1, got {episodes}")
        wins = draws = losses = 0
        for mine, others in _ranks(self._run, (a, b), episodes, seed, self._allow):
            wins += sum(rank > mine for rank in others)
            draws += others.count(mine)
            losses += sum(rank < mine for rank in others)
        return Score(wins, draws, losses)

    def verify(self) -> bool:
        """Print what `ludus verify` prints; return whether all is well. The league must not be alive."""
        from launch.verify import verify

        return verify(self._run) == 0

    def resume(self, *, quiet: bool = True) -> Self:
        """Go on with the league until it is over; at once if it is."""
        from launch.start import launch

        code = launch(self._run, plain=False, quiet=quiet, allow=list(self._allow))
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            raise RuntimeError(f"the league {self.name} failed; its logs are in {self._run.logs}")
        return self


def _ranks(
    run: "RunDirectory", names: tuple[str, str], episodes: int, seed: int, allow: Sequence[str]
) -> Iterator[tuple[int, list[int]]]:
    """Play episodes one after the other; yield the rank of the first player, and those in the other seats."""
    import msgspec

    from collectors.envs.config import make_environment
    from collectors.replay import outcome_of, play
    from launch.playing import casting, find_entry, seat
    from launch.start import stored
    from launch.view import open_view
    from league.ids import derive_seed

    config, state = stored(run), open_view(run).state
    first, second = (find_entry(state, name) for name in names)
    with closing(make_environment(config.env, 1, allow)) as env:
        ticket = msgspec.structs.replace(seat(state, env.spec, first, second), episodes=episodes)
        place = ticket.entries.index(first)
        choose = casting(config, run, env.spec, ticket, seed, allow)
        for episode in range(episodes):
            outcome = outcome_of(play(env, ticket, episode, derive_seed(seed, "play", episode), choose))
            yield outcome.ranks[place], [*outcome.ranks[:place], *outcome.ranks[place + 1 :]]
