"""`launch=local`: a whole league on this machine, as one coordinator, learners and collectors."""

import shutil
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from launch.config.config import Config
from launch.config.env_spec import prepare_league
from launch.config.foreign import with_foreign
from launch.processes.ending import find_end_problem, finished, stop_reason
from launch.processes.supervisor import GivenUp, Supervisor
from launch.spawn.exit_code import INTERRUPTED
from launch.terminal.spinner import QUIET
from launch.terminal.wording import allowing
from launch.topology.endpoints import Endpoints, drain
from launch.topology.parts import key_holders, processes, topology
from launch.viewers.live import LiveTable, final_report
from launch.viewers.reading import standings_with_costs
from launch.viewers.view import Viewer, read_offline
from league.events import CollectorQuarantined, Event, TicketVoided
from league.rulebook import BY_EPISODES
from league.state import OVER, LeagueState
from league.store.run_directory import RunDirectory
from league.wire.keys import make_keys
from league.wire.sockets import PAGE_LIMIT

REFRESH_SECONDS = 0.5  # between two updates of the table
MOST_WARNINGS = 5  # reasons that are shown; for more there are the logs


class Interrupts:
    """Counts Ctrl-C: the first asks the league to drain, the second stops it at once."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> "Interrupts":
        self._before = {s: signal.signal(s, self._note) for s in (signal.SIGINT, signal.SIGTERM)}
        return self

    def _note(self, number: int, frame: object) -> None:
        self.count += 1

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def run(
    config: Config, run: RunDirectory, *, plain: bool, quiet: bool, allow: Sequence[str] = (), as_json: bool = False
) -> int:
    """Run a league until it is over or interrupted; either way it can be resumed."""
    table = LiveTable(run.name, plain=plain, quiet=quiet, as_json=as_json, folder=run.root)
    over = finished(run)
    if over is not None:
        state = over.state
        table.note(over.line)
    else:
        code = run_processes(config, run, table, allow)
        if code is not None:
            return code
        state = read_offline(run).state
    if not quiet:
        final_report(state, run.name, as_json=as_json, allow=with_foreign(config, allow))
        if config.league.rate_by != BY_EPISODES and not as_json:
            standings_with_costs(run)
    problem = find_end_problem(state, config, stop_reason(run))
    if problem is not None:
        (table.warn if problem.failed else table.note)(problem.line)
    return 1 if problem is not None and problem.failed else 0


def run_processes(config: Config, run: RunDirectory, table: LiveTable, allow: Sequence[str]) -> int | None:
    """Start all processes and watch them; return the exit code, or None if the league is over."""
    prepare_league(config, run, allow)
    if config.launch.transport == "tcp":
        make_keys(run.keys, key_holders(topology(config)))
    run.drop_claims()
    warnings = LeagueWarnings()
    with (
        ExitStack() as stack,
        table,
        Interrupts() as interrupts,
        Endpoints(run, "viewer", config.launch.transport, PAGE_LIMIT) as endpoints,
        Supervisor(
            run,
            topology(config),
            allow,
            table.warn,
            config.track.seconds,
            env=config.env.id or config.env.name,
            note=table.note,
        ) as supervisor,
    ):
        stack.callback(shutil.rmtree, run.sockets, ignore_errors=True)
        table.note(f"{sum(processes(supervisor.parts).values())} processes start; their logs are in {run.logs}")
        viewer = Viewer(endpoints.replica(), config.league, warnings, skips=True)
        try:
            over = _follow(supervisor, viewer, table, interrupts, warnings)
        except GivenUp as error:
            table.warn(str(error))
            return 1
        if viewer.state.phase != OVER:
            table.note("everybody finishes and writes down what it has; Ctrl-C again stops at once")
            drain(config, run)
        _wait_for_workers(supervisor, interrupts, config.launch.drain_seconds, table.note)
    if not over:
        table.note(f"interrupted; the league goes on with: ludus resume {run.name}{allowing(allow)}")
        return INTERRUPTED
    return None


class LeagueWarnings:
    """Why tickets are void and collectors quarantined: each reason once, and only the first few."""

    def __init__(self) -> None:
        self._shown: set[str] = set()
        self._new: dict[str, str] = {}  # lines by reason

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """Observe an event."""
        if isinstance(event, TicketVoided) and event.why not in self._shown:
            self._new.setdefault(event.why, f"ticket {event.ticket} is void, nobody wins it: {event.why}")
        if isinstance(event, CollectorQuarantined):
            line = f"{event.name} gets no more tickets: it fails everything, and others do not: {event.why}"
            self._new[event.name] = line

    def show(self, warn: Callable[[str], None]) -> None:
        """Show what is new."""
        for reason, line in self._new.items():
            if len(self._shown) < MOST_WARNINGS:
                self._shown.add(reason)
                warn(line)
        self.discard()

    def discard(self) -> None:
        """Drop what was observed: it was shown when it happened, before this league was resumed."""
        self._new = {}


def _follow(
    supervisor: Supervisor, viewer: Viewer, table: LiveTable, interrupts: Interrupts, warnings: LeagueWarnings
) -> bool:
    """Watch until the league is over (True) or somebody interrupts (False)."""
    watching, looked = True, False
    while not interrupts.count:
        supervisor.poll()
        if watching:
            try:
                if viewer.refresh(REFRESH_SECONDS):
                    if looked:
                        warnings.show(table.warn)
                    elif viewer.complete:
                        warnings.discard()
                    looked = looked or viewer.complete
                    table.show(viewer)
            except Exception as error:  # a viewer may die; the league does not care
                watching = False
                table.warn(f"the table stops ({error}), the league goes on; look with: ludus status latest")
        if viewer.state.phase == OVER or supervisor.finished:
            return True
        time.sleep(REFRESH_SECONDS / 5)
    return False


def _wait_for_workers(
    supervisor: Supervisor, interrupts: Interrupts, seconds: float, notify: Callable[[str], None]
) -> None:
    """Wait until workers have ended: they send finished results and write trained candidates."""
    before, began, wait = interrupts.count, time.monotonic(), QUIET
    supervisor.stopping = True
    while count := supervisor.draining():
        waited = time.monotonic() - began
        if waited > seconds or interrupts.count > before:
            return
        if waited > wait:
            wait *= 2
            who = "a process" if count == 1 else f"{count} processes"
            notify(f"waiting for {who} to end, at most {seconds - waited:.0f} s more (launch.drain_seconds)")
        time.sleep(0.05)
