"""The names of what processes measure, and of the curves that viewers and trackers make of it.

A process reports {WAIT_SHARE: 0.1, player_metric("main", ENTROPY): 1.2}; the ledger keeps these names, and
`curve_name` turns each into that of a curve.
"""

from league.ids import PlayerId

# --- of every process ----------------------------------------------------------------------------------------

SECONDS = "seconds"  # since the last report: rates and shares are means over them
WAIT_SHARE = "wait_share"
MALFORMED = "malformed"  # messages that were refused

# --- of collectors -------------------------------------------------------------------------------------------

ENV_STEPS = "env_steps"
ENV_STEPS_PER_SECOND = "env_steps_per_second"
EPISODES = "episodes"
SLOTS_BUSY = "slots_busy"
DROPPED_DECISIONS = "dropped_decisions"

# --- of learners, inference and buffer processes -------------------------------------------------------------

UPDATES_PER_SECOND = "updates_per_second"
WRITE_FAILURES = "write_failures"
ROWS_PER_SECOND = "rows_per_second"
ROWS_PER_BATCH = "rows_per_batch"
MINIBATCHES_PER_SECOND = "minibatches_per_second"
DROPPED = "dropped"
INFERENCE, BUFFER = "inference/", "buffer/"  # what a learner passes on for the process beside it begins with

# --- of the coordinator --------------------------------------------------------------------------------------

BUSY_SHARE = "busy_share"
LONGEST_STEP_MS = "longest_step_ms"
OPEN_TICKETS = "open_tickets"
WAITING_TICKETS = "waiting_tickets"
LOAD_PER_CORE = "load_per_core"

RATES = (ENV_STEPS_PER_SECOND, UPDATES_PER_SECOND, WAIT_SHARE)  # of two reports in a row: the mean over both

# --- of a player that learns, as CleanRL spells them ----------------------------------------------------------

POLICY_LOSS = "losses/policy_loss"
VALUE_LOSS = "losses/value_loss"
ENTROPY = "losses/entropy"
APPROX_KL = "losses/approx_kl"
GRADIENT_STEPS = "losses/gradient_steps"
ROLLBACKS = "losses/rollbacks"  # updates that were undone: a weight or a loss was not finite
REFUSED_WEIGHTS = "losses/refused_weights"
LEARNING_RATE = "charts/learning_rate"
LAG_MEAN, LAG_P95, LAG_MAX = "lag_mean", "lag_p95", "lag_max"

# --- curves --------------------------------------------------------------------------------------------------

SPEED = "charts/SPS"  # env steps per second of all collectors together
WAIT = "wait/"  # what the share of waiting of a process begins with

_PLAYER = "player/"


def player_metric(player: PlayerId, name: str) -> str:
    """Return the name under which a learner reports a metric of one player.

    >>> player_metric(PlayerId("main"), ENTROPY)
    'player/main/losses/entropy'
    """
    return f"{_PLAYER}{player}/{name}"


def curve_name(name: str, source: str) -> str | None:
    """Return the name of the curve of a metric that a process reported; None if it has none.

    >>> curve_name("player/main/losses/entropy", "learner-0"), curve_name("player/main/lag_p95", "learner-0")
    ('losses/entropy/main', 'lag/p95/main')
    >>> curve_name(WAIT_SHARE, "collector-3"), curve_name(OPEN_TICKETS, "coordinator"), curve_name(SECONDS, "learner-0")
    ('wait/collector-3', 'queue/open_tickets', None)
    """
    if name.startswith(_PLAYER):
        return _player_curve(name)
    groups = {OPEN_TICKETS: "queue", WAITING_TICKETS: "queue", LOAD_PER_CORE: "system"}
    if name in groups:
        return f"{groups[name]}/{name}"
    special = {SECONDS: None, ENV_STEPS_PER_SECOND: SPEED, WAIT_SHARE: f"{WAIT}{source}"}
    return special.get(name, f"process/{source}/{name}")


def _player_curve(name: str) -> str:
    """Return the name of a player's curve: first what it is, then whose."""
    player, _, rest = name.removeprefix(_PLAYER).partition("/")
    if rest.startswith("lag_"):
        return f"lag/{rest.removeprefix('lag_')}/{player}"
    return f"{rest if '/' in rest else f'player/{rest}'}/{player}"
