"""`launch=local`: a whole league on this machine, as one coordinator, learners and collectors."""

import shutil
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from launch.build import describe_environment
from launch.config import Config
from launch.doors import Doors
from launch.live import LiveTable, final_report
from launch.supervisor import GivenUp, Supervisor
from launch.topology import topology
from launch.view import PAGE_LIMIT, Viewer, read_offline
from league.events import Event, TicketVoided
from league.state import OVER, LeagueState
from league.store.ledger import Ledger, LedgerLocked
from league.store.run_directory import RunDirectory, RunError
from league.wire.keys import make_keys
from league.wire.messages import Command, Done, Role

REFRESH = 0.5  # seconds between two looks at the league
LET_GO = 5.0  # seconds for the processes of a league whose `ludus run` was killed to see that, and to end
MOST_TROUBLES = 5  # reasons that are said before the logs have to do


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
    _refuse_another(run)
    describe_environment(config, run, allow)
    make_keys(run.keys)
    run.drop_claims()
    troubles = Troubles()
    with (
        ExitStack() as stack,
        LiveTable(run.name, plain=plain, quiet=quiet, as_json=as_json) as table,
        Interrupts() as interrupts,
        Doors(run, Role.VIEWER, config.launch.transport, PAGE_LIMIT) as doors,
        Supervisor(
            run, topology(config), allow, table.say, config.track.seconds, env=config.env.id or config.env.name
        ) as supervisor,
    ):
        stack.callback(shutil.rmtree, run.sockets, ignore_errors=True)
        if not quiet:
            table.say(f"{len(supervisor.parts)} processes start; their logs are in {run.logs}")
        viewer = Viewer(doors.coordinator(), config.league, troubles)
        try:
            over = _follow(supervisor, viewer, table, interrupts, troubles)
        except GivenUp as error:
            table.say(str(error))
            return 1
        if viewer.state.phase != OVER:
            if not quiet:
                table.say("everybody finishes and writes down what it has; Ctrl-C again stops at once")
            drain(config, run)
        _farewell(supervisor, interrupts, config.launch.drain_seconds)
    if not over:
        table.say(f"interrupted; the league goes on with: ludus resume {run.name}")
        return 130
    if not quiet:
        final_report(read_offline(run).state, run.name, as_json=as_json)
    return 0


def _refuse_another(run: RunDirectory) -> None:
    """Raise if this league is under way already: the processes of both would take each other's places."""
    try:
        if run.ledger.exists():
            Ledger.open(run.ledger, LET_GO).close()
    except LedgerLocked as error:
        raise RunError(
            f"the league {run.name} is under way already. Look at it: ludus attach {run.name}. Stop it: ludus stop "
            f"{run.name}. Start another one: give another name="
        ) from error


class Troubles:
    """Why tickets are void: each reason once, and not for ever."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._new: dict[str, str] = {}  # lines by reason

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """Observe an event."""
        if isinstance(event, TicketVoided) and event.why not in self._said:
            self._new.setdefault(event.why, f"ticket {event.ticket} is void, nobody wins it: {event.why}")

    def tell(self, say: Callable[[str], None]) -> None:
        """Say what is new."""
        for reason, line in self._new.items():
            if len(self._said) < MOST_TROUBLES:
                self._said.add(reason)
                say(line)
        self.forget()

    def forget(self) -> None:
        """Say nothing of what was observed: it was told when it happened, before this league was resumed."""
        self._new = {}


def _follow(
    supervisor: Supervisor, viewer: Viewer, table: LiveTable, interrupts: Interrupts, troubles: Troubles
) -> bool:
    """Watch until the league is over (True) or somebody interrupts (False)."""
    watching, looked = True, False
    while not interrupts.count:
        supervisor.poll()
        if watching:
            try:
                if viewer.refresh(REFRESH):
                    if viewer.complete and not looked and viewer.state.phase == OVER and viewer.term > 1:
                        table.say("it was over already: raise league.budget to go on with it, or give another name=")
                    if looked:
                        troubles.tell(table.say)
                    elif viewer.complete:
                        troubles.forget()
                    looked = looked or viewer.complete
                    table.show(viewer)
            except Exception as error:  # a viewer may die; the league does not care
                watching = False
                table.say(f"the table stops ({error}), the league goes on; look with: ludus status latest")
        if viewer.state.phase == OVER or supervisor.finished:
            return True
        time.sleep(REFRESH / 5)
    return False


def drain(config: Config, run: RunDirectory, patience: float = 5.0) -> bool:
    """Ask the coordinator to let everybody stop; True if it heard."""
    with Doors(run, Role.OPERATOR, config.launch.transport) as doors:
        link = doors.coordinator()
        link.send(Command(request=1, action="drain"))
        return any(isinstance(message, Done) for message, _ in link.receive(patience))


def _farewell(supervisor: Supervisor, interrupts: Interrupts, seconds: float) -> None:
    """Let workers say their last words: results that are finished, candidates that were trained."""
    before = interrupts.count
    supervisor.stopping = True
    deadline = time.monotonic() + seconds
    while supervisor.alive("collector") or supervisor.alive("learner"):
        if time.monotonic() > deadline or interrupts.count > before:
            return
        time.sleep(0.05)
