"""What counts as better where `league.payoff=auto`: the trial before a run shows whether there is more than a winner.

margins = try_out(env, enough=settled).margins
by, why = choose_payoff(margins, env.spec)            # "return", "its games end with leads of 1 and 2"
"""

from collections.abc import Sequence

from league.payoff import OUTCOME, RETURN
from league.spec import EnvSpec

EPISODES = 32  # of random play that show no more than win, draw and loss are enough


def settled(margins: Sequence[float]) -> bool:
    """Whether the margins of some episodes are enough to choose: leads that differ, or many that do not."""
    return len(margins) >= EPISODES or len(_leads(margins)) > 1


def choose_payoff(margins: Sequence[float], spec: EnvSpec) -> tuple[str, str]:
    """Return what counts as better, and why, given by how much one side led at the end of some episodes.

    >>> from league.spec import Array, Seat
    >>> duel = EnvSpec("toy", ("a", "b"), (Seat((0,)), Seat((1,))), Array((3,), "float32"), actions=2)
    >>> choose_payoff([1.0, 0.0, -1.0], duel)[0], choose_payoff([1.0, -2.0], duel)[0]
    ('outcome', 'return')
    """
    if len(set(spec.sides)) != 2:
        return OUTCOME, f"it has {'one side' if spec.cooperative else 'more than two sides'}"
    if not margins:
        return OUTCOME, "no episode ended in the trial"
    leads = _leads(margins)
    if len(leads) > 1:
        return RETURN, f"its games end with leads of {leads[0]:g} and {leads[1]:g}, not just with a winner"
    return OUTCOME, f"{len(margins)} episodes of random play ended with a win, a draw or a loss"


def _leads(margins: Sequence[float]) -> list[float]:
    """Return the sizes of leads, each once, but for rounding; a draw is none."""
    return sorted({float(f"{abs(margin):.4g}") for margin in margins if abs(margin) > 1e-6})
