"""What tests run in spawned processes: a child imports it by name, and other packages install a `tests`, too."""

from launch.config.compose import compose
from launch.start import begin
from league.store.ledger import Ledger
from league.store.run_directory import RunError

PATIENCE = 120.0


def overrides(runs, name):
    return ["experiment=tic_tac_toe", f"runs={runs}", f"name={name}", "policy.hidden=[8]"]


def contend(runs, races, barrier, results):
    """Start `races` leagues, each at the same moment as another process; tell who had which, and what was there."""
    config = compose(overrides(runs, "race"))
    for race in range(races):
        config.name = f"race-{race // 2}"  # each name twice: a new run, and one that exists
        barrier.wait(PATIENCE)
        try:
            with begin(config, allow=(), accept=False, notify=lambda line: None) as run:
                results.put((race, True, run.config.exists()))
                barrier.wait(PATIENCE)  # until the other one has tried, too
        except RunError as error:
            results.put((race, False, "is under way already" in str(error) or f"{error}"[:300]))
            barrier.wait(PATIENCE)
        barrier.wait(PATIENCE)


def hold(path, ready, release):
    """Keep a ledger open until it may be closed."""
    with Ledger.open(path):
        ready.set()
        release.wait(60)
