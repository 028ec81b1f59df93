"""What `ludus probe` shows while it trains: how far it is, and the score against its target in the newest games."""

import time
from typing import Any, Self

from launch.probes.probe_config import PROBE, TARGET
from launch.terminal.spinner import Spinner
from launch.viewers.live import LINE_SECONDS, LiveTable, emit_line
from launch.viewers.view import View
from league.ids import PlayerId
from league.state import LeagueState


def progress_json(player: str, state: LeagueState, elapsed: float) -> dict[str, Any]:
    """Return how far a probe is, and its recent score in training; None before its first game."""
    probe, target = PlayerId(PROBE), PlayerId(TARGET)
    known = probe in state.population and state.training.games(probe, target) > 0
    budget = state.config.budget
    return {
        "probe": player,
        "env_steps": state.env_steps,
        "of": budget.env_steps,
        "seconds": elapsed,
        "of_seconds": None if budget.minutes is None else budget.minutes * 60,
        "score": float(state.training.scores(probe, [target])[0]) if known else None,
    }


def progress_words(plain: dict[str, Any]) -> str:
    """Describe how far a probe is.

    >>> progress_words({"probe": "main", "env_steps": 5000, "of": 9000, "seconds": 2, "of_seconds": None, "score": 0.5})
    '5,000 of 9,000 env steps, scores 50% against main of late'
    """
    of = f" of {plain['of']:,}" if plain["of"] else ""
    seconds = f" in {plain['seconds']:.0f} of {plain['of_seconds']:.0f} s" if plain["of_seconds"] else ""
    score = "" if plain["score"] is None else f", scores {plain['score']:.0%} against {plain['probe']} of late"
    return f"{plain['env_steps']:,}{of} env steps{seconds}{score}"


def share_done(plain: dict[str, Any]) -> float:
    """Return the share of the budget that is spent, by the limit that will be reached first."""
    steps = plain["env_steps"] / plain["of"] if plain["of"] else 0.0
    return min(1.0, max(steps, plain["seconds"] / plain["of_seconds"] if plain["of_seconds"] else 0.0))


class ProbeTable(LiveTable):
    """One line that changes, or lines of JSON. The league of a probe has no standings to show."""

    def __init__(self, player: str, *, quiet: bool = False, as_json: bool = False) -> None:
        super().__init__(player, plain=True, quiet=quiet, as_json=as_json)
        self._player, self._printed = player, float("-inf")
        self._spinner = Spinner(f"probe of {player}")

    def __enter__(self) -> Self:
        if not self._quiet:
            self._spinner.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if not self._quiet:
            self._spinner.__exit__(*error)

    def note(self, text: str) -> None:
        """Print nothing: what a league notes is of no interest here."""

    def show(self, view: View) -> None:
        """Show how far the probe is."""
        self.update(view.state, view.elapsed)

    def update(self, state: LeagueState, elapsed: float) -> None:
        """Show how far the probe is, by its state."""
        if self._quiet or not (self._spinner.due or self._json):
            return
        plain, now = progress_json(self._player, state, elapsed), time.monotonic()
        if self._json and now - self._printed >= LINE_SECONDS:
            self._printed = now
            emit_line(plain)
        self._spinner.update(progress_words(plain), share_done(plain))
