"""How far the final evaluation of a league is: games done of games wanted, and about how long it still takes."""

from typing import Any

from coordinator.scheduler import Scheduler
from league.state import FINAL, LeagueState
from league.ticket import Purpose


def final_json(state: LeagueState, speed: float | None) -> dict[str, Any]:
    """Return final_done, final_wanted (games) and final_seconds_left; all null unless it is under way.

    `speed` is that of all collectors, in env steps per second; without it there is no estimate of the time.
    """
    if state.phase != FINAL or state.env is None:
        return dict.fromkeys(("final_done", "final_wanted", "final_seconds_left"))
    done, wanted = Scheduler(state).final_games()
    games = state.episodes[Purpose.EVALUATE] * max(1, len(set(state.env.sides)) - 1)
    left = None
    if speed and games:
        left = (wanted - done) * state.steps[Purpose.EVALUATE] / games / speed
        left = min(left, state.config.final_seconds() or left)
    return {"final_done": done, "final_wanted": wanted, "final_seconds_left": left}


def final_words(state: LeagueState) -> str:
    """Return how far the final evaluation is, in words; empty before and after it."""
    plain = final_json(state, None)
    done, wanted = plain["final_done"], plain["final_wanted"]
    return "" if wanted is None else f"final evaluation, {done:,} of {wanted:,} games"
