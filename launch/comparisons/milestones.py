"""The snapshots of a run's main at which runs can be compared: its frozen pasts and its newest candidate.

found = read_milestones(run)
nearest(found, ENV_STEPS, 600_000).label          # 'main.4'
"""

from collections.abc import Sequence

import msgspec

from launch.viewers.view import open_view
from league.errors import InputError
from league.events import CandidateWritten, Event
from league.ids import Hash, PlayerId
from league.state import LeagueState
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore

ENV_STEPS, DECISIONS = "env_steps", "decisions"


class CompareError(InputError):
    """Runs that cannot be compared; the message says why."""


class Milestone(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot of a main under the name of the player that has it, and how much was played and trained until then."""

    label: str
    snapshot: Hash
    env_steps: int  # of the whole league
    decisions: int  # of the main, that it was trained on


class _Candidates:
    """Notes how much the league had played when each candidate of a player was written."""

    def __init__(self) -> None:
        self.found: list[tuple[CandidateWritten, int]] = []

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """Observe an event."""
        if isinstance(event, CandidateWritten):
            self.found.append((event, state.env_steps))


def read_milestones(run: RunDirectory) -> tuple[LeagueState, list[Milestone]]:
    """Return the state of a run, and the snapshots of its main that have a name and are still there, oldest first."""
    observe = _Candidates()
    state = open_view(run, observe).state
    main = main_of(run, state)
    store, newest = SnapshotStore(run.snapshots), state.candidate(main)
    names = {player.snapshot: str(player.id) for player in state.population.frozen_of(main)}
    names |= {} if newest is None else {newest.snapshot: str(main)}
    found = [
        Milestone(label=names[one.snapshot], snapshot=one.snapshot, env_steps=steps, decisions=one.decisions)
        for one, steps in observe.found
        if one.player == main and one.snapshot in names and one.snapshot in store
    ]
    if not found:
        raise CompareError(f"the main of {run.name} has no weights yet: let its league go on for a while")
    return state, found


def main_of(run: RunDirectory, state: LeagueState) -> PlayerId:
    """Return the main of a run that stands for it: the first one, which must be able to take any seat."""
    mains = state.mains()
    if not mains:
        raise CompareError(f"{run.name} has no main: a comparison is between the mains of runs")
    if mains[0].role is not None:
        raise CompareError(
            f"the main {mains[0].id} of {run.name} is bound to the role {mains[0].role}: a comparison needs mains "
            "that can take any seat. For one pair: ludus duel"
        )
    return mains[0].id


def common(all_found: Sequence[Sequence[Milestone]], axis: str) -> int:
    """Return the budget that every run has reached: the smallest of their last milestones."""
    return min(int(getattr(found[-1], axis)) for found in all_found)


def nearest(found: Sequence[Milestone], axis: str, budget: int) -> Milestone:
    """Return the milestone whose env steps or decisions are nearest to a budget; of two, the later one.

    >>> marks = [Milestone(label=str(n), snapshot=Hash("h"), env_steps=n, decisions=n) for n in (10, 20, 30)]
    >>> nearest(marks, ENV_STEPS, 24).label, nearest(marks, ENV_STEPS, 25).label
    ('20', '30')
    """
    return min(reversed(found), key=lambda one: abs(getattr(one, axis) - budget))
