"""Why a command failed in a way that nobody foresaw: an altered ledger explains it, and only then it is not a bug."""

from launch.viewers.view import read_rules
from league.errors import LudusError
from league.store.fold import fold_checked
from league.store.ledger import open_copy
from league.store.run_directory import RunDirectory


def alteration(run: RunDirectory) -> str:
    """Return what is wrong with the events of a run's ledger, in one line; "" if they fit one another."""
    try:
        with open_copy(run.ledger) as ledger:
            if damage := ledger.damage():
                return f"the ledger {run.ledger} is damaged: {damage[0]}. `ludus verify` checks all of it"
            fold_checked(read_rules(run), ledger)
    except LudusError as error:
        return str(error)
    return ""
