"""The Python API: what the command line does, from a script or a notebook. `import ludus` re-exports it.

    league = ludus.run(["env=tic_tac_toe", "launch=inline", "league.budget.env_steps=300_000"])
    league.standings()[0].player
    league.play("main", "random", episodes=100).score

Everything heavy is imported when it is needed, so `import ludus` costs next to nothing. What the user can fix is
raised as a `LudusError`, for a bad argument also a ValueError, whose message says how.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from launch.matches.score import Score
from launch.spawn.exit_code import INTERRUPTED

if TYPE_CHECKING:
    from collectors.players.loaded_player import LoadedPlayer
    from launch.matches.exploiting import Exploited
    from launch.viewers.probe_reports import ProbeReport
    from league.player import Player
    from league.standings import PayoffTable, Standing
    from league.state import LeagueState
    from league.store.game_file import Games
    from league.store.run_directory import RunDirectory


def run(
    overrides: Sequence[str] = (),
    *,
    quiet: bool = True,
    allow: Sequence[str] = (),
    accept_changes: bool = False,
    config_dir: str | Path | None = None,
) -> "League":
    """Do what `ludus run OVERRIDE...` does: start a league, or go on with it if its run exists; return it.

    `launch=inline` plays in this process, `launch=local` (the default) starts processes. Both return when the
    league is over. `allow` names packages whose code the config may name, `config_dir` a folder with config groups.
    `quiet` prints nothing but errors.

    league = ludus.run(["env=connect_four", "name=second", "league.budget.minutes=3"], quiet=False)
    """
    from launch.config.approvals import remember, with_given, with_programs
    from launch.config.compose import compose
    from launch.start import begin
    from launch.terminal.spinner import hushed
    from league.errors import InputError

    if isinstance(overrides, str):
        raise InputError(f"overrides must be a list of texts: write [{overrides!r}]")
    config = compose(overrides, allow, None if config_dir is None else Path(config_dir))
    allow = with_given(config.env, with_programs(allow))
    with hushed(quiet), begin(config, allow=allow, accept=accept_changes, notify=lambda line: None) as found:
        remember(config.env)
        return League(found, allow)._launch(quiet, given=True)


def open(run: str, *, allow: Sequence[str] = ()) -> "League":
    """Return a league by the name of its run, its path, or `latest`; it may be stopped or alive.

    `allow` names packages whose code its config, or you, may name: needed to play in an environment of your own.
    """
    from launch.config.approvals import with_programs
    from league.store.run_directory import RunDirectory

    return League(RunDirectory.find(run), with_programs(allow))


def load(
    file: str | Path, *, greedy: bool = False, seed: int | None = None, allow: Sequence[str] = ()
) -> "LoadedPlayer":
    """Return a packed player that acts anywhere: no league, no run directory, and for networks of Ludus no torch.

    `greedy` takes the most probable action instead of sampling, `seed` repeats the same samples. `allow` names the
    package of a network that is none of Ludus: its code runs.

    player = ludus.load("main.safetensors")         # or "zoo:connect_four/strong"
    action = player.act(observation, mask)
    """
    from collectors.players.loaded_player import load_player
    from launch.config.player_files import player_path

    return load_player(player_path(str(file)), greedy=greedy, seed=seed, allow=allow)


def read_games(folder: str | Path) -> "Iterator[Games]":
    """Yield the files of a data set that `ludus export RUN --to games` wrote, each as arrays.

    for games in ludus.read_games("runs/first/export/games"):
        print(len(games), games.observation.shape, games.card.players)
    """
    from league.store.game_file import read_games

    return read_games(Path(folder))


class Standings(list["Standing"]):
    """The rows of the standings: a list that can be turned into a data frame."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a flat dict for each row: scores against anchors are under v_ANCHOR, None where nothing is known."""
        return [_flat(row) for row in self]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a row for each player. Pandas is not a part of Ludus: install it first."""
        from importlib import import_module

        from league.errors import InputError

        try:
            frame = import_module("pandas").DataFrame
        except ImportError as error:
            raise InputError("to_pandas needs pandas: pip install pandas. Without it: to_dicts()") from error
        return frame(self.to_dicts())


def _flat(row: "Standing") -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(row)
    anchors = {f"v_{anchor}": score for anchor, score in plain.pop("anchors").items()}
    own, cross = plain.pop("own"), plain.pop("cross")
    returns = {"own": own, "cross": cross} if own or cross else {}  # in co-operation, instead of a rating
    means = {name: found and found["mean"] for name, found in returns.items()}
    return plain | anchors | means


class League:
    """A league and its run directory. Every method reads the run as it is at the time of the call.

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
        """The current state of the league, folded from its events."""
        from launch.viewers.view import open_view

        return open_view(self._run).state

    def players(self) -> "list[Player]":
        """Return all players, in the order in which they joined."""
        return list(self.state.population)

    def standings(self, variant: str | None = None) -> "Standings":
        """Return the ratings with their intervals, the strongest player first; in co-operation the mean returns.

        league.standings()[0].player
        league.standings().to_pandas()

        `variant` counts only the games in one variant of the environment (`env.variants`).
        """
        from launch.viewers.tables import all_standings
        from launch.viewers.variant_view import state_of

        return Standings(all_standings(state_of(self._run, variant)))

    def payoff(self, purpose: str = "evaluate", variant: str | None = None) -> "PayoffTable":
        """Return who scores what against whom, in matches of purpose `evaluate` or `train`; see `standings`."""
        from launch.viewers.variant_view import state_of
        from league.errors import InputError
        from league.standings import payoff_table

        if purpose not in ("evaluate", "train"):
            raise InputError(f"purpose must be 'evaluate' or 'train', got {purpose!r}")
        state = state_of(self._run, variant)
        table = state.evaluation if purpose == "evaluate" else state.training
        return payoff_table([player.id for player in state.population], table)

    def play(self, a: str, b: str, episodes: int = 100, seed: int = 0) -> Score:
        """Let `a` play `b` here and now, and return the score of `a`. The games are not counted in the league.

        Both are players of the league or names of bots; a learning player plays with its newest candidate.
        Actions are sampled, and interchangeable seats are swapped in every other episode. If there are more
        than two sides, `b` has all the others, and each of them is a game: chance level is always 0.5. This is
        what `ludus duel` counts; the same seed plays the same games.
        """
        from launch.matches.dueling import contest
        from launch.terminal.wording import allowing
        from league.errors import InputError

        if episodes < 1:
            raise InputError(f"episodes must be at least 1, got {episodes}")
        found = contest(self._run, a, b, episodes, seed, self._allow)
        if found.score is None:
            raise InputError(
                f"nobody is beaten in {found.env}, so there is no score. For the returns: "
                f"ludus duel {self.name} {a} {b}{allowing(self._allow)}"
            )
        return found.score

    def exploit(self, player: str | None = None, rounds: int | None = None) -> "Exploited":
        """Return how exploitable a player is, exactly: what `ludus exploit` prints. By default the first main.

        `player` may be `pool`, all frozen players with equal weights, or `nash`, their Nash mixture with the newest
        candidates. Only small zero-sum games of two players have an exact figure.

        league.exploit("main").figures.nash_conv
        """
        from launch.matches.exploiting import exploit

        return exploit(self._run, player, rounds, self._allow)

    def probe(
        self,
        player: str = "main",
        steps: int | None = 200_000,
        *,
        seconds: float | None = None,
        start: str | None = None,
        games: int = 400,
        seed: int = 1,
        quiet: bool = True,
    ) -> "ProbeReport":
        """Train a best response against a frozen player, and return what it scores: what `ludus probe` does.

        `start` is "self" (the player's own weights, the default), "scratch" or a snapshot file. The probe is a run of
        its own inside this one, and the same call again goes on with it.

        report = league.probe("main", steps=100_000)
        report.score.low, report.exploitable
        """
        from launch.probes.probe_config import ProbeOrder
        from launch.probes.probing import probe
        from launch.terminal.clean import cleaned
        from launch.terminal.spinner import hushed

        order = ProbeOrder(steps=steps, seconds=seconds, start=start, games=games, seed=seed)
        with cleaned(), hushed(quiet):
            return probe(self._run, player, order, allow=self._allow, quiet=quiet)

    def verify(self) -> bool:
        """Print what `ludus verify` prints; return whether all is well. The league must not be alive."""
        from launch.verify.verify import verify

        return verify(self._run) == 0

    def resume(self, *, quiet: bool = True, trust: bool = False) -> Self:
        """Go on with the league until it is over; at once if it is.

        `trust` allows a run that brings shell for Slurm jobs, a program (`env.python`) or links, that you did not put
        there yourself.
        """
        from launch.config.approvals import remember, with_given
        from launch.config.config import stored
        from launch.start import held

        if not trust:
            self._run.refuse_links()
        else:
            remember(env := stored(self._run).env)
            self._allow = tuple(with_given(env, self._allow))
        with held(self._run, slurm=stored(self._run).launch.name == "slurm"):
            return self._launch(quiet, given=trust)

    def _launch(self, quiet: bool, given: bool) -> Self:
        """Run the league, whose lock is held."""
        from launch.probes.after_league import conclude
        from launch.start import launch
        from launch.terminal.clean import cleaned

        with cleaned():
            code = launch(self._run, plain=False, quiet=quiet, allow=list(self._allow), given=given)
            code = conclude(self._run, code, quiet=quiet, as_json=False, allow=self._allow)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            raise RuntimeError(f"the league {self.name} failed; its logs are in {self._run.logs}")
        return self
