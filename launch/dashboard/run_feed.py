"""One run as the dashboard has it: what follows from its newest state, computed once for all who look.

    feed = RunFeed(run)
    feed.look()
    feed.status, feed.rows.since(0)             # of the newest state
    feed.matrix("evaluate", "rating")           # bytes and the version that they are of

Fits of the ratings are the only costly part: they wait for new evaluation games, and at least ten times as long as
they take.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from launch.config.config import stored
from launch.dashboard.follower import Follower
from launch.dashboard.history import History
from launch.dashboard.score_matrix import Order, cell_json, ordered, pack, score_cells
from launch.dashboard.standing_rows import StandingRows, first_rows, standing_rows
from launch.viewers.alarms import find_alarms
from launch.viewers.explaining import explain_json
from launch.viewers.live import signs_of
from launch.viewers.return_columns import is_cooperative
from launch.viewers.tables import appraisal_of, footnotes, status_json
from launch.viewers.view import View, ViewError, find_player
from league.appraisal import Appraisal
from league.ids import PlayerId
from league.payoff import Payoff
from league.state import LeagueState
from league.store.run_directory import RunDirectory
from league.ticket import Purpose

REFIT_SECONDS = 2.0  # between two fits of the ratings, at least,
REFIT_FACTOR = 10.0  # and so many times as long as the last one took
REPLAYS = 16  # episodes that are kept
TABLES = ("evaluate", "train")
FITTING = "Ratings are being fitted; until they are there, the players are in the order of their online Elo."


class NotReady(ViewError):  # noqa: N818  (the condition is the name)
    """A run that is not read yet, or cannot be; the message says which."""


class Replays:
    """The episodes that were played again last; each is played by one process at a time."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str, play: Callable[[], bytes]) -> bytes:
        """Return what is known of an episode, or play it."""
        with self._lock:
            if name not in self._known:
                self._known[name] = play()
                while len(self._known) > REPLAYS:
                    self._known.popitem(last=False)
            return self._known[name]


class RunFeed:
    """Follows a run and keeps its status, standings and payoff as they are served."""

    def __init__(self, run: RunDirectory, allow: tuple[str, ...] = ()) -> None:
        self.run, self.allow = run, allow
        self.started = time.time_ns()  # tells the versions of this server from those of the one before
        self.status: dict[str, Any] = {}
        self.version = 0  # rises with each new status
        self.rows, self.notes = StandingRows(), list[str]()
        self.league: dict[str, Any] = {}  # what does not change while a run is followed
        self.replays = Replays()
        self.closed = False
        self.past: Callable[[], History | None] = lambda: None  # what is known of the past, if somebody looks at it
        self._follower = Follower(run, self._take)
        self._appraisal: Appraisal | None = None
        self._fitted: tuple[object, ...] = ()
        self._fit_at = float("-inf")
        self._matrices: dict[tuple[str, str], tuple[str, bytes]] = {}
        self._encoded = "", b""  # the standings that were asked for last

    def look(self) -> None:
        """Note that somebody looks at this run."""
        self._follower.look()

    def close(self) -> None:
        """Stop to follow."""
        self.closed = True
        self._follower.close()

    @property
    def problem(self) -> str:
        """Why there is nothing new; empty if all is well."""
        return self._follower.problem

    @property
    def reading(self) -> tuple[int, int]:
        """How many events are read, and of how many."""
        return self._follower.reading

    @property
    def live(self) -> bool:
        """Whether a replica answers."""
        return bool(self.status.get("live")) and not self.problem

    def settled(self) -> bool:
        """Whether the newest state was read once and rated, or cannot be read: then the past may be read, too."""
        self.look()
        return bool(self._fitted or self.problem)

    def standings(self, since: int) -> tuple[str, bytes]:
        """Return the rows that have changed since a version and the notes under them as JSON, and their tag."""
        self.view()
        tag = f'"{self.rows.version}-{since}-{self.started}"'
        if self._encoded[0] != tag:
            plain = {"version": self.rows.version, "rows": self.rows.since(since), "notes": self.notes}
            self._encoded = tag, msgspec.json.encode(plain)
        return self._encoded

    # --- in the follower's thread ----------------------------------------------------------------------------

    def _take(self, view: View) -> None:
        """Compute what follows from a new state; ratings, which may take seconds, after everything else."""
        if not self.league:
            self.rows.update(first_rows(view.state))
            self.notes = [FITTING]
            self.league = _league_json(self.run, view)
        self._publish(view)
        if self._refit(view.state):
            self._publish(view)

    def _publish(self, view: View) -> None:
        status = status_json(view) | {"seq": view.seq, "standings": self.rows.version}
        status["alarms"] = self._alarms(view)
        status["workers"] = [
            {
                "name": worker.name,
                "role": worker.role.value,
                "age": worker.age,
                "metrics": worker.metrics,
                "host": worker.host,
                "restarts": worker.restarts,
                "held": worker.held,
            }
            for worker in view.workers
        ]
        if status != self.status:
            self.status, self.version = status, self.version + 1

    def _alarms(self, view: View) -> list[dict[str, str]]:
        past = self.past()
        trails = {} if past is None else past.trails([player.id for player in view.state.mains()])
        signs = signs_of(view, trails, self.run.root)
        found: list[dict[str, str]] = msgspec.to_builtins(find_alarms(view.state, signs))
        return found

    def _refit(self, state: LeagueState) -> bool:
        """Fit the ratings if there is anything new to fit, and it is time; whether they were fitted.

        The state does not change meanwhile: only the follower's thread, which is this one, changes it.
        """
        candidates = {player: one.snapshot for player, one in state.candidates.items()}
        key = (state.episodes[Purpose.EVALUATE], len(state.population), state.phase, *candidates.items())
        if key == self._fitted or time.monotonic() < self._fit_at:
            return False
        began = time.monotonic()
        appraisal = appraisal_of(state)
        rows, notes = standing_rows(state, appraisal), footnotes(state, appraisal)
        with self._follower.lock:
            self._appraisal, self.notes = appraisal, notes
            self.rows.update(rows)
            self._fitted, self._matrices = key, {}
        spent = time.monotonic() - began
        self._fit_at = time.monotonic() + max(REFIT_SECONDS, REFIT_FACTOR * spent)
        return True

    # --- on demand -------------------------------------------------------------------------------------------

    def view(self) -> View:
        """Return the newest view; its state may be read while `lock` is held."""
        if self._follower.view is None or not self.status:
            read, all_events = self.reading
            far = f"event {read:,} of {all_events:,}" if all_events else "it begins"
            raise NotReady(self.problem or f"{self.run.name} is being read: {far}")
        return self._follower.view

    def matrix(self, table: str, order: Order) -> tuple[str, bytes]:
        """Return the payoff as bytes, and their tag."""
        known = self._matrices.get((table, order))
        if known is not None and table == "evaluate":
            return known
        view = self.view()
        with self._follower.lock:
            body = self._packed(view.state, table, order)
        found = f'"{hashlib.sha256(body).hexdigest()[:24]}"', body
        self._matrices[table, order] = found
        return found

    def _packed(self, state: LeagueState, table: str, order: Order) -> bytes:
        rows = self.rows.since(0)
        players = [PlayerId(row["player"]) for row in rows]
        kinds = {PlayerId(row["player"]): str(row["kind"]) for row in rows}
        payoff, appraisal = self._table(state, table)
        if appraisal is not None and appraisal.members != len(state.population):
            appraisal = None  # of an older state
        cells = score_cells(state, payoff, players, appraisal)
        places = ordered(players, kinds, cells, order)
        more = {
            "kinds": [kinds[players[i]] for i in places],
            "of": table,
            "together": is_cooperative(state),
            "by": "return" if payoff.by_return else "outcome",
        }
        return pack([players[i] for i in places], cells[places][:, places], more)

    def _table(self, state: LeagueState, table: str) -> tuple[Payoff, Appraisal | None]:
        return (state.evaluation, self._appraisal) if table == "evaluate" else (state.training, None)

    def cell(self, table: str, a: str, b: str) -> dict[str, Any]:
        """Return all that is known about a pair."""
        view = self.view()
        with self._follower.lock:
            first, second = find_player(view.state, a).id, find_player(view.state, b).id
            payoff, appraisal = self._table(view.state, table)
            known = appraisal if appraisal is not None and {first, second} <= set(appraisal.players) else None
            found: dict[str, Any] = cell_json(payoff, view.state, first, second, known)
        return {"player": first, "opponent": second, "of": table, **found}

    def explained(self, player: str) -> dict[str, Any]:
        """Return how a player's opponents are chosen, as `ludus explain --json` has it."""
        view = self.view()
        with self._follower.lock:
            return explain_json(view, find_player(view.state, player), self.allow)

    def reading_state(self, use: Callable[[LeagueState], dict[str, Any]]) -> dict[str, Any]:
        """Return what somebody computes from the newest state, which does not change meanwhile."""
        return self.reading_view(lambda view: use(view.state))

    def reading_view(self, use: Callable[[View], dict[str, Any]]) -> dict[str, Any]:
        """Return what somebody computes from the newest view, which does not change meanwhile."""
        view = self.view()
        with self._follower.lock:
            return use(view)


def _league_json(run: RunDirectory, view: View) -> dict[str, Any]:
    """Return what a league is about.

    name, game, agents, roles; algorithm and network of those who learn; players and their kinds; budget (minutes, env
    steps); by: what counts as better; together: whether all are on one side; seed.
    """
    config, state = stored(run), view.state
    env, budget = state.env, state.config.budget
    return {
        "name": run.name,
        "game": None if env is None else env.name,
        "agents": [] if env is None else list(env.agents),
        "roles": [] if env is None else sorted(set(env.roles)),
        "algorithm": config.algo["name"],
        "network": config.policy.name,
        "learning": [{"player": player.id, "kind": player.kind} for player in state.population.learning()],
        "mains": [player.id for player in state.mains()],
        "anchors": {player.id: player.anchor for player in state.population.anchors()},
        "budget": {"minutes": budget.minutes, "env_steps": budget.env_steps},
        "by": "return" if state.evaluation.by_return else "outcome",
        "together": is_cooperative(state),
        "seed": state.seed,
    }
