"""The names of the metrics that processes report, and of the curves that viewers and trackers show.

A process reports {WAIT_SHARE: 0.1, player_metric("main", ENTROPY): 1.2}; the ledger stores these names, and
`curve_name` maps each to the name of its curve.
"""

from league.ids import PlayerId

# --- of every process ----------------------------------------------------------------------------------------

SECONDS = "seconds"  # since the last report; rates and shares are means over this time
WAIT_SHARE = "wait_share"
MALFORMED = "malformed"  # messages that were refused

# --- of collectors -------------------------------------------------------------------------------------------

ENV_STEPS = "env_steps"
ENV_STEPS_PER_SECOND = "env_steps_per_second"
EPISODES = "episodes"
SLOTS_BUSY = "slots_busy"
LONGEST_EPISODE = "longest_episode"  # env steps of the longest one under way
DROPPED_DECISIONS = "dropped_decisions"

# --- of learners, inference and buffer processes -------------------------------------------------------------

UPDATES_PER_SECOND = "updates_per_second"
WRITE_FAILURES = "write_failures"
ROWS_PER_SECOND = "rows_per_second"
ROWS_PER_BATCH = "rows_per_batch"
MINIBATCHES_PER_SECOND = "minibatches_per_second"
DROPPED = "dropped"
INFERENCE, BUFFER = "inference/", "buffer/"  # prefixes of metrics that a learner passes on for the process beside it

# --- of the coordinator --------------------------------------------------------------------------------------

BUSY_SHARE = "busy_share"
LONGEST_STEP_MS = "longest_step_ms"
OPEN_TICKETS = "open_tickets"
WAITING_TICKETS = "waiting_tickets"
LOAD_PER_CORE = "load_per_core"

RATES = (ENV_STEPS_PER_SECOND, UPDATES_PER_SECOND, WAIT_SHARE)  # averaged over reports, not replaced

# --- of learning players, with the names that CleanRL uses ----------------------------------------------------

POLICY_LOSS = "losses/policy_loss"
VALUE_LOSS = "losses/value_loss"
ENTROPY = "losses/entropy"
APPROX_KL = "losses/approx_kl"
MAGNET_KL = "losses/magnet_kl"
GRADIENT_STEPS = "losses/gradient_steps"
ROLLBACKS = "losses/rollbacks"  # updates that were undone: a weight or a loss was not finite
REFUSED_WEIGHTS = "losses/refused_weights"
LEARNING_RATE = "charts/learning_rate"
NASH_CONV = "league/nash_conv"  # of its newest candidate: what best responses in both seats gain over it
CPU_SECONDS = "cpu_seconds"  # of its learner, in updates of this player since it was founded
LAG_MEAN, LAG_P95, LAG_MAX = "lag_mean", "lag_p95", "lag_max"

# --- curves --------------------------------------------------------------------------------------------------

SPEED = "charts/SPS"  # env steps per second of all collectors together
PROBE_SCORE = "league/probe_score"  # the best score of a probe against the last candidate of a main
WAIT = "wait/"  # prefix of the curves of WAIT_SHARE

ELO, MARGIN = "elo/", "margin/"  # what the rating of a player begins with: in points of Elo, or in units of return
RETURN_CURVE, OVER_MEDIAN = "return/", "over_median/"  # mean return, and value over replacement, where they are kept
VARIANT = "variant/"  # what the curves of one variant begin with: variant/NAME/elo/PLAYER
NASH_ENTROPY = "league/nash_entropy"  # nats: the logarithm of how many players the Nash mixture spreads over
CYCLE_STRENGTH = "league/cycle_strength"  # share of the cyclic part, 0 to 1
MISFIT = "league/misfit"  # chi-square of the ratings for each degree of freedom

_PLAYER = "player/"


def player_metric(player: PlayerId, name: str) -> str:
    """Return the name under which a learner reports a metric of one player.

    >>> player_metric(PlayerId("main"), ENTROPY)
    'player/main/losses/entropy'
    """
    return f"{_PLAYER}{player}/{name}"


def player_of(metric: str, name: str) -> PlayerId | None:
    """Return whose metric of this name it is; None if it is another one.

    >>> player_of("player/main/league/nash_conv", NASH_CONV), player_of("player/main/lag_p95", NASH_CONV)
    ('main', None)
    """
    whose = metric.removeprefix(_PLAYER).removesuffix(f"/{name}")
    return PlayerId(whose) if metric == player_metric(PlayerId(whose), name) else None


def curve_name(name: str, source: str) -> str | None:
    """Return the name of the curve for a metric that the process `source` reported; None if it has no curve.

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
    """Return the name of a player's curve: the metric, then the player."""
    player, _, rest = name.removeprefix(_PLAYER).partition("/")
    if rest.startswith("lag_"):
        return f"lag/{rest.removeprefix('lag_')}/{player}"
    return f"{rest if '/' in rest else f'player/{rest}'}/{player}"
